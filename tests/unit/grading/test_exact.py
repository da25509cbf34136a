from typing import Any

import pytest

from tests.unit.grading.examples import found_wrong, graded, item

STATED: dict[str, Any] = {"answer": "stated"}
MARKED: dict[str, Any] = {"marker": "Result:"}

RIGHT: list[tuple[str, dict[str, Any]]] = [
    ("Paris", {}),
    ("  Paris\n", {}),
    ("Paris\r\n", {}),
    ("<think>Lyon? No.</think>\n\nParis", {}),
    ("ANSWER: Paris", STATED),
    ("**ANSWER: Paris**", STATED),
    ("ANSWER: **Paris**", STATED),
    ("**Answer:**\n\nParis", STATED),
    ("It is the seat of government.\nThe answer is Paris.", STATED),
    ("The final answer is Paris", STATED),
    ("$\\boxed{Paris}$", STATED),
    ("Answer: Lyon. No, wait.\nAnswer: Paris", STATED),
    ("Result: Paris", MARKED),
    ("Working.\nRESULT: `Paris`\nDone.", MARKED),
]
WRONG: list[tuple[str, dict[str, Any]]] = [
    ("paris", {}),
    ("Paris.", {}),
    ("**Paris**", {}),
    ("ANSWER: Paris", {}),
    ("Paris, France", {}),
    ("ANSWER: paris", STATED),
    ("ANSWER: Paris.", STATED),
    ("Answer: Paris\nFinal answer: Lyon", STATED),
    ("Result: Paris (France)", MARKED),
]
NONE: list[tuple[str, dict[str, Any]]] = [
    ("", {}),
    (" \n", {}),
    ("<think>Paris", {}),
    ("Paris", STATED),
    ("ANSWER:", STATED),
    ("ANSWER: Paris", MARKED),
    ("Result: **", MARKED),
]


@pytest.mark.parametrize(("answer", "options"), RIGHT)
def test_right(answer: str, options: dict[str, Any]) -> None:
    assert graded("exact", answer, item("Lyon?", "Paris"), **options).score == 1.0


@pytest.mark.parametrize(("answer", "options"), WRONG)
def test_wrong(answer: str, options: dict[str, Any]) -> None:
    assert graded("exact", answer, item("Paris"), **options).score == 0.0


@pytest.mark.parametrize(("answer", "options"), NONE)
def test_no_answer(answer: str, options: dict[str, Any]) -> None:
    assert graded("exact", answer, item("Paris"), **options).ungraded == "no_answer"


def test_problems() -> None:
    assert found_wrong("exact", item(" "), answer="anywhere", marker=" ") == [
        "grader.answer: should be one of whole, stated, not 'anywhere'",
        "grader.marker: should be a text that is not blank, in quotes, not ' '",
        "target: ' ' cannot be an answer",
    ]
