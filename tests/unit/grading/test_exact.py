from typing import Any

import pytest
from hypothesis import given, strategies as st

from tests.unit.grading.examples import found_wrong, graded, item, reading

STATED: dict[str, Any] = {"answer": "stated"}
MARKED: dict[str, Any] = {"marker": "Result:"}

WHOLE: dict[str, Any] = {}
READ_AS: list[tuple[str, dict[str, Any], str | None, float | None]] = [
    ("Paris", WHOLE, "Paris", 1.0),
    ("  Paris\n", WHOLE, "Paris", 1.0),
    ("Paris\r\n", WHOLE, "Paris", 1.0),
    ("<think>Lyon? No.</think>\n\nParis", WHOLE, "Paris", 1.0),
    ("paris", WHOLE, "paris", 0.0),
    ("Paris.", WHOLE, "Paris.", 0.0),
    ("**Paris**", WHOLE, "**Paris**", 0.0),
    ("Paris\u200b", WHOLE, "Paris\u200b", 0.0),
    ("ANSWER: Paris", WHOLE, "ANSWER: Paris", 0.0),
    ("Paris, France", WHOLE, "Paris, France", 0.0),
    ("I cannot help with that.", WHOLE, "I cannot help with that.", 0.0),
    ("", WHOLE, None, None),
    (" \n", WHOLE, None, None),
    ("<think>Paris", WHOLE, None, None),
    ("ANSWER: Paris", STATED, "Paris", 1.0),
    ("**ANSWER: Paris**", STATED, "Paris", 1.0),
    ("ANSWER: **Paris**", STATED, "Paris", 1.0),
    ("**Answer:**\n\nParis", STATED, "Paris", 1.0),
    ("Answer:\n```text\nParis\n```", STATED, "Paris", 1.0),
    ("It is the seat of government.\nThe answer is Paris.", STATED, "Paris", 1.0),
    ("The final answer is Paris", STATED, "Paris", 1.0),
    ("$\\boxed{Paris}$", STATED, "Paris", 1.0),
    ("\\boxed{Lyon}, no: \\boxed{Paris}", STATED, "Paris", 1.0),
    ("Answer: Lyon. No, wait.\nAnswer: Paris", STATED, "Paris", 1.0),
    ("ANSWER: Paris\nSome say the answer is Lyon.", STATED, "Paris", 1.0),
    ("ANSWER: paris", STATED, "paris", 0.0),
    ("ANSWER: Paris.", STATED, "Paris.", 0.0),
    ("Answer: Paris\nFinal answer: Lyon", STATED, "Lyon", 0.0),
    ("Paris", STATED, None, None),
    ("ANSWER:", STATED, None, None),
    ("Result: Paris", MARKED, "Paris", 1.0),
    ("Working.\nRESULT: `Paris`\nDone.", MARKED, "Paris", 1.0),
    ("Result: Paris (France)", MARKED, "Paris (France)", 0.0),
    ("ANSWER: Paris", MARKED, None, None),
    ("Result: **", MARKED, None, None),
]


@pytest.mark.parametrize(("answer", "options", "read", "score"), READ_AS)
def test_read(answer: str, options: dict[str, Any], read: str | None, score: float | None) -> None:
    assert reading("exact", answer, item("Lyon?", "Paris"), **options) == (answer, read, score)


@given(st.text().filter(str.strip))
def test_a_target_scores_1(target: str) -> None:
    assert graded("exact", f"</think>{target}", item(target)).score in {1.0, None}


def test_problems() -> None:
    assert found_wrong("exact", item(" "), answer="anywhere", marker=" ") == [
        "grader.answer: should be one of whole, stated, not 'anywhere'",
        "grader.marker: should be a text that is not blank, in quotes, not ' '",
        "target: ' ' cannot be an answer",
    ]
