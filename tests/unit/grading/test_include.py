from typing import Any

import pytest
from hypothesis import given, strategies as st

from tests.unit.grading.examples import found_wrong, graded, item

FOUND = [
    ("It is Paris.", "Paris"),
    ("paris", "Paris"),
    ("**Paris**, of course!", "Paris"),
    ("(Paris)", "Paris"),
    ("Paris's towers", "Paris"),
    ("The cities are Lyon, Paris and Rome.", "Paris"),
    ("New\u00a0York", "new york"),
    ("new\n  york", "New York"),
    ("It\u2019s here", "it's"),
    ("\uff30aris", "Paris"),
    ("`git rebase -i` does it", "git rebase"),
    ("```sql\nDELETE FROM t;\n```", "delete from t"),
    ("It costs 5.", "5"),
    ("5, then", "5"),
    ("3-5 days", "5"),
    ("x = -5", "-5"),
    ("x = \u22125", "-5"),
    ("3.5%", "3.5%"),
    ("In C++, surely", "C++"),
    ("C++11", "C++"),
    ("\u5317\u4eacABC", "\u5317\u4eac"),
    ("C, of course", "C"),
    ("C/C++", "C"),
    ("\u7b54\u6848\u662f\u5317\u4eac\u3002", "\u5317\u4eac"),
    ("\u662fParis\u3002", "Paris"),
    ("Not Paris", "Paris"),
    ("<think>Lyon?</think>Paris", "Paris"),
]
NOT_FOUND = [
    ("concatenate", "cat"),
    ("Parisian", "Paris"),
    ("snake_case", "case"),
    ("25", "5"),
    ("5,000", "5"),
    ("3.5", "5"),
    ("-5", "5"),
    ("5%", "5"),
    ("5/6", "5"),
    ("5th", "5"),
    ("C++", "C"),
    ("C#", "C"),
    ("I cannot help with that.", "Paris"),
    ("<think>Paris</think>Lyon", "Paris"),
]


@pytest.mark.parametrize(("answer", "target"), FOUND)
def test_found(answer: str, target: str) -> None:
    assert graded("include", answer, item("nothing such", target)).score == 1.0


@pytest.mark.parametrize(("answer", "target"), NOT_FOUND)
def test_not_found(answer: str, target: str) -> None:
    assert graded("include", answer, item(target)).score == 0.0


@pytest.mark.parametrize("answer", ["", " \n", "<think>Paris"])
def test_no_answer(answer: str) -> None:
    assert graded("include", answer, item("Paris")).ungraded == "no_answer"


def test_the_whole_text_is_extracted() -> None:
    assert graded("include", "<think>no</think>\nIt is **Paris**.\n", item("Paris")).extracted == (
        "It is **Paris**."
    )


@pytest.mark.parametrize(
    ("answer", "targets", "options", "score"),
    [
        ("us", ["US"], {"case_sensitive": True}, 0.0),
        ("the US", ["US"], {"case_sensitive": True}, 1.0),
        ("Parisian", ["Paris"], {"inside_words": True}, 1.0),
        ("blue", ["red", "blue"], {}, 1.0),
        ("Paris. Answer: Lyon", ["Paris"], {"answer": "stated"}, 0.0),
        ("Paris >> Lyon", ["Lyon"], {"marker": ">>"}, 1.0),
    ],
)
def test_options(answer: str, targets: list[str], options: dict[str, Any], score: float) -> None:
    assert graded("include", answer, item(*targets), **options).score == score


@given(st.text(min_size=1).filter(lambda target: found_wrong("include", item(target)) == []))
def test_a_target_includes_itself(target: str) -> None:
    grade = graded("include", f"<think></think>{target}", item(target))
    assert grade.score == 1.0 or not target.strip()


def test_problems() -> None:
    assert found_wrong("include", item("?!"), cased=True) == [
        "grader.cased: unknown option",
        "target: '?!' cannot be an answer",
    ]
