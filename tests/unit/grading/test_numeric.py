from typing import Any

import pytest
from hypothesis import given, strategies as st

from tests.unit.grading.examples import Reading, found_wrong, graded, item, reading

READ_AS: list[Reading] = [
    ("42", "42", 1.0),
    ("The answer is 42.", "42", 1.0),
    ("**Answer:** 42.", "42", 1.0),
    ("ANSWER: $42$", "42", 1.0),
    ("Answer: \\(42\\)", "42", 1.0),
    ("$$\\text{ANSWER: } \\$42$$", "42", 1.0),
    ("\\boxed{$42{,}000}", "42000", 0.0),
    ("\\boxed{41}? No: \\boxed{42}", "42", 1.0),
    ("\\boxed{41}, \\boxed{42}", None, None),
    ("Final Answer: The final answer is 42. I hope it is correct.", "42", 1.0),
    ("She makes 6 * 7 = $<<6*7=42>>42 a day.\n#### 42", "42", 1.0),
    ("The total is 42 clips, altogether.", "42", 1.0),
    ("So she pays \\$42.00 in all.", "42.00", 1.0),
    ("Answer: 42 (forty-two), as 6 x 7 = 42", "42", 1.0),
    ("Answer: approximately 42", "42", 1.0),
    ("Answer: \u2248 42", "42", 1.0),
    ("Answer: 42 \u00b1 1", "42", 1.0),
    ("Answer: 42nd", "42", 1.0),
    ("Answer:\n```text\n42\n```", "42", 1.0),
    ("<answer>42</answer>", "42", 1.0),
    ("Answer: minus 42", "-42", 0.0),
    ("-US$42", "-42", 0.0),
    ("Answer: 42k", "42e3", 0.0),
    ("$42M", "42e6", 0.0),
    ("42m", "42", 1.0),
    ("The temperature is 42K", "42", 1.0),
    ("42 000 000", "42000000", 0.0),
    ("\u20b942,00,000", "4200000", 0.0),
    ("Answer: 42 or 43", None, None),
    ("Answer: 42 or 42.0", "42", 1.0),
    ("Answer: 42 + 42", None, None),
    ("Answer: 42, 43", None, None),
    ("Answer: 42 apples and 3 pears", None, None),
    ("Answer: 40-42", None, None),
    ("The answer is between 40 and 42.", None, None),
    ("Answer: 6 * 7", None, None),
    ("Answer: 42 500", None, None),
    ("Answer: 2042-05-01", None, None),
    ("42:00", None, None),
    ("Answer: forty-two", None, None),
    ("I cannot help with that.", None, None),
    ("word " * 10_000 + "42", "42", 1.0),
]
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
    ("-\\frac34", "-0.75"),
    ("1\\frac{1}{2}", "1.5"),
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
    ("3/4 million", "750000"),
    ("1 1/2 thousand", "1500"),
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


@pytest.mark.parametrize("row", READ_AS, ids=lambda row: repr(row[0][:50]))
def test_read(row: Reading) -> None:
    assert reading("numeric", row[0], item("42")) == row


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


LENGTHS: dict[str, Any] = {"units": {"km": 1000, "m": 1, "cm": 0.01}}
MONEY: dict[str, Any] = {"units": {"$": 1, "USD": 1, "\u20ac": 1.1, "EUR": 1.1, "cents": 0.01}}
PERCENT: dict[str, Any] = {"percent": True}


@pytest.mark.parametrize(
    ("answer", "target", "options"),
    [
        ("1.5 km", "1500 m", LENGTHS),
        ("1500", "1.5km", LENGTHS),
        ("$1.5\\text{ km}$", "150,000 cm", LENGTHS),
        ("Answer: 1.5\\,\\mathrm{km}.", "1500", LENGTHS),
        ("5 m/s", "5", LENGTHS),
        ("5 miles", "5", LENGTHS),
        ("\u22121.5 km", "-1500", LENGTHS),
        ("\u20ac10", "$11", MONEY),
        ("EUR 10", "11 USD", MONEY),
        ("-10 EUR", "-$11", MONEY),
        ("500 cents", "5", MONEY),
        ("45%", "0.45", PERCENT),
        ("45 \\%", "45 percent", PERCENT),
        ("45 per cent of them", "9/20", PERCENT),
        ("0.45", "45%", PERCENT),
        ("50 m\u00b2", "0.005 ha", {"units": {"ha": 10_000, "m\u00b2": 1}}),
        ("2.5 h (150 min)", "150 min", {"units": {"h": 60, "min": 1}}),
    ],
)
def test_units(answer: str, target: str, options: dict[str, Any]) -> None:
    assert graded("numeric", answer, item(target), **options).score == 1.0


@pytest.mark.parametrize(
    ("answer", "target", "options"),
    [
        ("1.5 m", "1500", LENGTHS),
        ("1.5 KM", "1500", LENGTHS),
        ("45", "0.45", PERCENT),
        ("45%", "45", PERCENT),
        ("10 EUR", "$10", MONEY),
    ],
)
def test_other_units(answer: str, target: str, options: dict[str, Any]) -> None:
    assert graded("numeric", answer, item(target), **options).score == 0.0


@pytest.mark.parametrize("units", [{"km": 0}, {"km": "1"}, {"km": True}, {" ": 1}, {1: 1}, ["km"]])
def test_units_are_worth_something(units: object) -> None:
    (wrong,) = found_wrong("numeric", item("42"), units=units)
    assert wrong.startswith("grader.units: should be units and what one of each is worth")


NUMBERS = st.one_of(
    st.integers(),
    st.decimals(allow_nan=False, allow_infinity=False, places=3),
    st.fractions(max_denominator=10**6),
)


@given(NUMBERS, NUMBERS)
def test_equality_is_symmetric(one: object, other: object) -> None:
    forth = graded("numeric", str(one), item(str(other))).score
    assert forth == float(one == other)
    assert graded("numeric", str(other), item(str(one))).score == forth


@given(NUMBERS, st.sampled_from(["{}", "$\\boxed{{{}}}$", "ANSWER: **{}**", "It is {}."]))
def test_a_target_scores_1(target: object, form: str) -> None:
    assert graded("numeric", form.format(target), item(str(target))).score == 1.0


@pytest.mark.parametrize("tolerance", [-1, True, "0.1", float("inf"), float("nan")])
def test_tolerance_is_a_number(tolerance: object) -> None:
    (wrong,) = found_wrong("numeric", item("42"), tolerance=tolerance)
    assert wrong.startswith("grader.tolerance: should be a number, 0 or more")


@pytest.mark.parametrize("target", ["two", "1 or 2", "", "12,34"])
def test_target_is_one_number(target: str) -> None:
    assert found_wrong("numeric", item(target)) == [f"target: {target!r} cannot be an answer"]
