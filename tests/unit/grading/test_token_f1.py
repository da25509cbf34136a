from typing import Any

import pytest
from hypothesis import given, strategies as st

from tests.unit.grading.examples import Reading, found_wrong, graded, item, reading

TOWER = item("the Eiffel Tower")
READ_AS: list[Reading] = [
    ("Eiffel Tower", "eiffel tower", 1.0),
    ("The Eiffel Tower.", "eiffel tower", 1.0),
    ("**Eiffel Tower**", "eiffel tower", 1.0),
    ("eiffel tower!", "eiffel tower", 1.0),
    ("\u201cEiffel Tower\u201d", "eiffel tower", 1.0),
    ("Tower Eiffel", "tower eiffel", 1.0),
    ("Eiffel-Tower", "eiffel tower", 1.0),
    ("Eiffel\u00a0Tower", "eiffel tower", 1.0),
    ("ANSWER: the Eiffel Tower", "eiffel tower", 1.0),
    ("It is tall. The answer is the Eiffel Tower.", "eiffel tower", 1.0),
    ("**Answer:**\n\nEiffel Tower", "eiffel tower", 1.0),
    ("\\boxed{\\text{Eiffel Tower}}", "eiffel tower", 1.0),
    ("<think>The Louvre?</think>Eiffel Tower", "eiffel tower", 1.0),
    ("Eiffel", "eiffel", 2 / 3),
    ("the tower", "tower", 2 / 3),
    ("Eiffel Tower in Paris", "eiffel tower in paris", 2 / 3),
    ("It is the Eiffel Tower.", "it is eiffel tower", 2 / 3),
    ("Eiffel Tower (Paris)", "eiffel tower paris", 4 / 5),
    ("Eiffel Eiffel", "eiffel eiffel", 1 / 2),
    ("Eiffel Tower Tower Tower", "eiffel tower tower tower", 2 / 3),
    ("The Louvre", "louvre", 0.0),
    ("Answer: Louvre. Not the Eiffel Tower.", "louvre not eiffel tower", 2 / 3),
    ("I cannot help with that.", "i cannot help with that", 0.0),
    ("the", "the", 0.0),
    ("", None, None),
    ("...", None, None),
    ("**", None, None),
    ("<think>Eiffel Tower", None, None),
]
TO_TARGETS = [
    ("3.5", "35", 0.0),
    ("3.50", "3.5", 0.0),
    ("3,000", "3000", 1.0),
    ("-5", "5", 0.0),
    ("\u22125", "-5", 1.0),
    ("C", "C#", 0.0),
    ("don't", "don\u2019t", 1.0),
    ("A", "a", 1.0),
    ("\u5317\u4eac\u5e02", "\u5317\u4eac", 4 / 5),
    ("yes", "no", 0.0),
    ("stra\u00dfe", "STRASSE", 1.0),
    ("word " * 10_000 + "last", "last", 2 / 10_002),
]


@pytest.mark.parametrize("row", READ_AS, ids=str)
def test_read(row: Reading) -> None:
    assert reading("token_f1", row[0], TOWER) == pytest.approx(row)


@pytest.mark.parametrize(("answer", "target", "score"), TO_TARGETS)
def test_score(answer: str, target: str, score: float) -> None:
    assert graded("token_f1", answer, item(target)).score == pytest.approx(score)


def test_the_closest_target_counts() -> None:
    assert graded("token_f1", "red", item("green", "red", "blue red")).score == 1.0


WORDS = st.lists(st.sampled_from(["a", "the", "red", "-3.5", "C++", "x_y", "\u5317", "it's"]))


@given(WORDS, WORDS)
def test_is_symmetric_and_knows_no_order(first: list[str], second: list[str]) -> None:
    one, other, turned = (" ".join(["x", *words]) for words in (first, second, second[::-1]))
    score = graded("token_f1", one, item(other)).score
    assert graded("token_f1", other, item(one)).score == score
    assert graded("token_f1", one, item(turned)).score == score


@given(st.text().filter(lambda target: found_wrong("token_f1", item(target)) == []))
def test_a_target_scores_1(target: str) -> None:
    assert graded("token_f1", target, item(target), answer="whole").score in {1.0, None}


@pytest.mark.parametrize(
    ("answer", "target", "options", "score"),
    [
        ("the band", "band", {"keep_articles": True}, 2 / 3),
        ("The Who", "who", {}, 1.0),
        ("Paris", "Paris", {"answer": "stated"}, None),
        (">> Paris", "Paris", {"marker": ">>"}, 1.0),
    ],
)
def test_options(answer: str, target: str, options: dict[str, Any], score: float | None) -> None:
    assert graded("token_f1", answer, item(target), **options).score == pytest.approx(score)


def test_problems() -> None:
    assert found_wrong("token_f1", item("?!"), answer="all") == [
        "grader.answer: should be one of anywhere, stated, whole, not 'all'",
        "target: '?!' cannot be an answer",
    ]
