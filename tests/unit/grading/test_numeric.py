from typing import Any

import pytest

from tests.unit.grading.examples import found_wrong, graded, item

EQUAL = [
    ("42", "42"),
    ("42.", "42"),
    ("42.0", "42"),
    ("**42**", "42"),
    ("$42$", "42"),
    ("42km", "42"),
    ("42 %", "42"),
    ("42\\%", "42"),
    ("It is 42!", "42"),
    ("#### 42", "42"),
    ("ANSWER: 42\nChecked 3 times.", "42"),
    ("Answer: **42** km", "42"),
    ("Answer:\n\n42", "42"),
    ("The answer is 42 (since 6 * 7 = 42).", "42"),
    ("The answer is 42, because 40 + 2 is 42", "42"),
    ("x = 42", "42"),
    ("f(3) = 42", "42"),
    ("Answer: f(3) = 42", "42"),
    ("The answer is 6 * 7 = 42 apples", "42"),
    ("She has 40 apples and gets 2, so 42.", "42"),
    ("Answer: Let's see. 5 + 3 = 8. So 42 remain, 42.", "42"),
    ("So \\boxed{42}.", "42"),
    ("\\boxed{41} is wrong: \\boxed{42}", "42"),
    ("<think>Is it 7?</think>42", "42"),
    ("1,234", "1234"),
    ("$1,234.56", "1234.56"),
    ("The total is $1,234.56.", "1234.56"),
    ("1,234,567", "1234567"),
    ("1\u202f234", "1234"),
    ("1\u00a0234", "1234"),
    ("1{,}234", "1234"),
    ("1\\,234", "1234"),
    ("\u22125", "-5"),
    ("-5\u00b0C", "-5"),
    ("x=-5", "-5"),
    ("-$5", "-5"),
    ("$-5", "-5"),
    ("\u20ac5", "5"),
    (".5", "0.5"),
    ("-.5", "-1/2"),
    ("3/4", "0.75"),
    ("\\frac{3}{4}", "0.75"),
    ("$-\\dfrac{3}{4}$", "-0.75"),
    ("\u00be", "0.75"),
    ("1\u00bd", "1.5"),
    ("1 1/2", "1.5"),
    ("1.5e3", "1500"),
    ("3 \u00d7 10^5", "300000"),
    ("$3 \\times 10^{5}$", "300000"),
    ("3\u00d710\u207b\u00b2", "0.03"),
    ("10\u00b2", "100"),
    ("1.2 million", "1200000"),
    ("5 m\u00b2", "5"),
]
DIFFERENT = [
    ("41", "42"),
    ("142", "42"),
    ("0.42", "42%"),
    ("5-3", "-3"),
    ("between 3\u20135", "-5"),
    ("1 234", "1234"),
    ("The answer is 41. Not 42.", "42"),
    ("-42", "42"),
]
NO_NUMBER = ["", "two", "12,34", "1.2.3", "1/0", "1e999999", "9" * 301, "GPT4", "x^2", "<think>42"]


@pytest.mark.parametrize(("answer", "target"), EQUAL)
def test_equal(answer: str, target: str) -> None:
    assert graded("numeric", answer, item(target)).score == 1.0


@pytest.mark.parametrize(("answer", "target"), DIFFERENT)
def test_different(answer: str, target: str) -> None:
    assert graded("numeric", answer, item(target)).score == 0.0


@pytest.mark.parametrize("answer", NO_NUMBER)
def test_no_number(answer: str) -> None:
    assert graded("numeric", answer, item("42")).ungraded == "no_answer"


@pytest.mark.parametrize(
    ("answer", "target", "options", "score"),
    [
        ("3.14", "3.14159", {"tolerance": 0.01}, 1.0),
        ("3.12", "3.14159", {"tolerance": 0.01}, 0.0),
        ("0.3", "0.2", {"tolerance": 0.1}, 1.0),
        ("101", "-100", {"relative_tolerance": 0.01}, 0.0),
        ("-101", "-100", {"relative_tolerance": 0.01}, 1.0),
        ("1.234,5", "1234,5", {"decimal_comma": True}, 1.0),
        ("42", "42", {"answer": "stated"}, None),
        ("The answer is not 42", "42", {"answer": "stated"}, None),
        ("=> 42 of 50", "42", {"marker": "=>"}, 1.0),
    ],
)
def test_options(answer: str, target: str, options: dict[str, Any], score: float | None) -> None:
    assert graded("numeric", answer, item(target), **options).score == score


@pytest.mark.parametrize("tolerance", [-1, True, "0.1", float("inf"), float("nan")])
def test_tolerance_is_a_number(tolerance: object) -> None:
    (wrong,) = found_wrong("numeric", item("42"), tolerance=tolerance)
    assert wrong.startswith("grader.tolerance: should be a number, 0 or more")


@pytest.mark.parametrize("target", ["two", "1 or 2", "", "12,34"])
def test_target_is_one_number(target: str) -> None:
    assert found_wrong("numeric", item(target)) == [f"target: {target!r} cannot be an answer"]
