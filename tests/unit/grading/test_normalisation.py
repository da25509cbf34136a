import sys

import pytest
from hypothesis import given, strategies as st

from monitor.grading.normalisation import normalise

FRAGMENTS = st.sampled_from(
    (
        *(
            "*",
            "**",
            "_",
            "`",
            "{",
            "}",
            "$",
            "\\",
            "text",
            "\\text",
            "\\(",
            "%",
            "a",
            "THE",
            " ",
            "\n",
        ),
        *(
            "-",
            "- ",
            ".",
            "\u0301",
            "\u200b",
            "\u2212",
            "\u00df",
            "\u0130",
            "\ufdfa",
            "\u00bd",
            "'",
        ),
    )
)
TEXTS = st.text() | st.lists(FRAGMENTS).map("".join)


@given(TEXTS, st.booleans(), st.booleans())
def test_is_idempotent(text: str, ignore_articles: bool, keep_case: bool) -> None:  # noqa: FBT001
    options = {"ignore_articles": ignore_articles, "keep_case": keep_case}
    once = normalise(text, **options)
    assert normalise(once, **options) == once


@given(TEXTS)
def test_case_and_outer_space_do_not_count(text: str) -> None:
    assert normalise(f" {text.upper().lower()}\n") == normalise(text.upper())


def test_every_character_is_stable() -> None:
    for first in range(0, sys.maxunicode, 0x1000):
        text = " ".join(map(chr, range(first, first + 0x1000)))
        once = normalise(text)
        assert normalise(once) == once


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("a\u200bb\u00ad", "ab"),
        ("\ufb01ne", "fine"),
        ("\u201cit\u2019s\u201d", "it's"),
        ("\u22125", "-5"),
        ("1\u00bd", "1 1/2"),
        ("**bold** `code` __init__", "bold code init"),
        ("snake_case * 2", "snake_case * 2"),
        ("\\mathrm{kg}\\,m", "kg m"),
        ("\\(x\\)", "x"),
        ("50\\%", "50%"),
        ("STRASSE", "strasse"),
        ("Stra\u00dfe", "strasse"),
        ("a \t\n b", "a b"),
        ("- (x).", "x"),
        ("C++!", "c++"),
        ("3.50", "3.50"),
        ("$5", "5"),
    ],
)
def test_rules(text: str, normal: str) -> None:
    assert normalise(text) == normal


def test_articles_go_only_when_asked() -> None:
    assert normalise("The a-b of an A") == "the a-b of an a"
    assert normalise("The a-b of an A", ignore_articles=True) == "a-b of"
    assert normalise("It's 'a'", ignore_articles=True) == "it's"
    assert normalise("A", ignore_articles=True) == "a"


def test_capitals_stay_when_asked() -> None:
    assert normalise("**The US**.", keep_case=True) == "The US"
