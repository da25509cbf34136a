from typing import Any

import pytest
from hypothesis import assume, given, strategies as st

from tests.unit.grading.examples import found_wrong, graded, item, reading

RIGHT = [
    "St. Louis",
    "st. louis",
    "ST. LOUIS.",
    "**St. Louis**",
    "“St. Louis”",
    "`St. Louis`!",
    "- St. Louis",
    "St.\u00a0Louis",
    "\uff33\uff54\uff0e \uff2couis",
    "St.  \n Louis",
    "\\text{St. Louis}",
    "$\\boxed{\\text{St. Louis}}$",
    "ANSWER: St. Louis",
    "**Answer:** St. Louis.",
    "Answer:\n\nSt. Louis",
    "The answer is St. Louis.",
    "The answer is St. Louis. It lies on the Mississippi.",
    "The correct answer is: **St. Louis**",
    "Answer: The answer is St. Louis",
    "The answer would be Chicago. Hmm, no: the answer is St. Louis!",
    "<think>Chicago? The answer is Chicago.</think>St. Louis",
    "My answer: (St. Louis)",
    "the capital",
    "answer = The Capital",
]
WRONG = [
    ("Louis", "louis"),
    ("St Louis", "st louis"),
    ("Chicago", "chicago"),
    ("St. Louis, Missouri", "st. louis, missouri"),
    ("The city is St. Louis", "the city is st. louis"),
    ("ANSWER: Chicago\nSt. Louis", "chicago"),
    ("The answer is not St. Louis.", "not st. louis"),
    ("capital", "capital"),
    ("I cannot help with that.", "i cannot help with that"),
    ("ANSWER: " + "St. Louis " * 300, ("st. louis " * 200).strip()),
]


@pytest.mark.parametrize("answer", RIGHT)
def test_right(answer: str) -> None:
    grade = graded("normalised", answer, item("St. Louis", "The capital"))
    assert (grade.extracted in {"st. louis", "the capital"}, grade.score) == (True, 1.0)


@pytest.mark.parametrize(("answer", "read"), WRONG)
def test_wrong(answer: str, read: str) -> None:
    on = item("St. Louis", "The capital")
    assert reading("normalised", answer, on) == (answer, read, 0.0)


@pytest.mark.parametrize("answer", ["", "\n", "...", "**", "<think>St. Louis"])
def test_no_answer(answer: str) -> None:
    assert graded("normalised", answer, item("St. Louis")).ungraded == "no_answer"


@pytest.mark.parametrize(
    ("answer", "target", "options", "score"),
    [
        ("The Eiffel Tower", "eiffel tower", {"ignore_articles": True}, 1.0),
        ("A", "a", {"ignore_articles": True}, 1.0),
        ("The", "a", {"ignore_articles": True}, 0.0),
        ("The answer is blowing", "The answer is blowing", {"answer": "whole"}, 1.0),
        ("The answer is blowing", "The answer is blowing", {}, 0.0),
        ("It says >> Paris", "paris", {"marker": ">>"}, 1.0),
        ("Paris", "Paris", {"answer": "stated"}, None),
        ("5", "-5", {}, 0.0),
        ("C", "C#", {}, 0.0),
    ],
)
def test_options(answer: str, target: str, options: dict[str, Any], score: float | None) -> None:
    assert graded("normalised", answer, item(target), **options).score == score


@given(st.text(), st.text(), st.booleans())
def test_equality_is_symmetric(one: str, other: str, ignore_articles: bool) -> None:  # noqa: FBT001
    assume(found_wrong("normalised", item(one, other)) == [])
    options: dict[str, Any] = {"answer": "whole", "ignore_articles": ignore_articles}
    forth = graded("normalised", f"</think>{one}", item(other), **options).score
    assert graded("normalised", f"</think>{other}", item(one), **options).score == forth
    assert graded("normalised", f"</think>{one}", item(one), **options).score == 1.0


def test_problems() -> None:
    assert found_wrong("normalised", item("?!", "x"), ignore_article=True) == [
        "grader.ignore_article: unknown option",
        "target: '?!' cannot be an answer",
    ]
