import pytest

from monitor.grading.statements import first_sentence, stated, without_reasoning

STATEMENTS = [
    ("ANSWER: x", ["x"]),
    ("answer : x", ["x"]),
    ("Final Answer = x", ["x"]),
    ("**Answer**: x", ["x"]),
    ("**Answer:** x", ["** x"]),
    ("Answer (A to D): x", ["x"]),
    ("Answer:\n\n  x\ny", ["x"]),
    ("The answer is x. And more.", ["x"]),
    ("The answer is no. And more.", ["no"]),
    ("The answer is George W. Bush. And more.", ["George W. Bush"]),
    ("The answer to this is x", ["x"]),
    ("The correct option would be x", ["x"]),
    ("#### 42\n", ["42"]),
    ("#### Step 2: divide", []),
    ("\\boxed{\\text{x}}", ["\\text{x}"]),
    ("\\boxed{x", []),
    ("\\boxed{1} then \\boxed{2}", ["2", "1"]),
    ("ANSWER: x\nThe answer is y, some say", ["x", "y, some say"]),
    ("The answer is x. No: the answer is y", ["y", "x"]),
    ("\\boxed{1}, \\boxed{2}", ["1, 2"]),
    ("$\\boxed{1}$ and $\\boxed{2}$ and so on", ["1, 2"]),
    ("\\boxed{1} \\text{ or } \\boxed{1}", ["1"]),
    ("\\boxed{\\boxed{1}}", ["1", "\\boxed{1}"]),
    ("\\boxed{1}, \\boxed{}", ["1"]),
    ("Answer: The final answer is \\boxed{x}", ["x"]),
    ("<answer>x</answer> y", ["x"]),
    ("<answer>\nx\n</answer>", ["x"]),
    ("The answer seems to be x.", ["x"]),
    ("Ans: x", ["x"]),
    ("Answer:\n```text\nx\n```", ["x"]),
    ("Answer:\n- x\n- y", ["- x"]),
    ("The answer isn't x", []),
    ("unanswered: x", []),
    ("<think>answer: x</think>none", []),
]


@pytest.mark.parametrize(("text", "values"), STATEMENTS)
def test_stated(text: str, values: list[str]) -> None:
    assert list(stated(text)) == values


def test_own_marker_is_the_only_one() -> None:
    assert list(stated("ANSWER: x\n=> y\n=> Z", "=>")) == ["Z", "y"]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("Answer: x\n- y", ["x"]),
        ("Answer:\n- x\n- y\nz", ["- x\n- y"]),
        ("**Answer:**\n\n1. x. And\n2. y\n\n3. z", ["1. x. And\n2. y\n3. z"]),
        ("The answer is\n1. x\n2. y", ["1. x\n2. y"]),
        ("The answer is x. And\n- y", ["x"]),
        ("Answer: [x,\n y]\nz", ["[x,\n y]"]),
        ("Answer:\n```json\n[\n  x\n]\n```", ["[\n  x\n]"]),
        ("\\boxed{x}\n- y", ["x"]),
    ],
)
def test_lists(text: str, values: list[str]) -> None:
    assert list(stated(text, lists=True)) == values


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("St. Louis. A city.", "St. Louis"),
        ("J. F. K. is it. So.", "J. F. K. is it"),
        ("3.5 km", "3.5 km"),
        ("x!", "x"),
        ("Yahoo! is it", "Yahoo"),
    ],
)
def test_first_sentence(text: str, sentence: str) -> None:
    assert first_sentence(text) == sentence


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("x", "x"),
        ("<think>a</think>x", "x"),
        ("a</think>x", "x"),
        ("<think>a", ""),
        ("the tag <think> is", "the tag <think> is"),
    ],
)
def test_reasoning_is_no_answer(text: str, answer: str) -> None:
    assert without_reasoning(text) == answer
