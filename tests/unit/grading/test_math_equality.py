import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, strategies as st

from monitor.grading import math_equality
from tests.unit.grading.examples import Reading, found_wrong, graded, item, reading

HALF = item("\\frac{1}{2}")
READ_AS: list[Reading] = [
    ("\\frac{1}{2}", "\\frac{1}{2}", 1.0),
    ("$\\frac{1}{2}$", "\\frac{1}{2}", 1.0),
    ("\\boxed{\\frac{1}{2}}", "\\frac{1}{2}", 1.0),
    ("$$\\boxed{\\dfrac{1}{2}}$$", "\\dfrac{1}{2}", 1.0),
    ("\\[ \\boxed{ \\frac12 } \\]", "\\frac12", 1.0),
    ("\\fbox{1/2}", "1/2", 1.0),
    ("Thus the answer is \\(\\tfrac{2}{4}\\).", "\\tfrac{2}{4}", 1.0),
    ("**Answer:** $\\displaystyle\\frac{1}{2}$", "\\displaystyle\\frac{1}{2}", 1.0),
    ("ANSWER: 1/2", "1/2", 1.0),
    ("**ANSWER: 0.5**", "0.5", 1.0),
    ("Final answer: $x = 0.50$", "x = 0.50", 1.0),
    ("\u00bd", "\u00bd", 1.0),
    ("1\u20442", "1\u20442", 1.0),
    ("x = 1/2", "x = 1/2", 1.0),
    ("So $x = 3$, hence $x^2 + x = 12$. Thus $y = \\frac{1}{2}$.", "y = \\frac{1}{2}", 1.0),
    ("It is half, that is 0.5", "0.5", 1.0),
    ("\\boxed{1}? No: \\boxed{\\frac{1}{2}}", "\\frac{1}{2}", 1.0),
    ("\\boxed{\\frac{1}{2}}\n\nThe answer is 3, some say.", "\\frac{1}{2}", 1.0),
    (
        "\\boxed{\\frac{1}{2}}. Checked.\n\n**Final Answer**\n\\boxed{\\frac{1}{2}}",
        "\\frac{1}{2}",
        1.0,
    ),
    ("<think>\\boxed{3}</think>$0.5$", "0.5", 1.0),
    ("The answer is 1/2 cup.", "1/2", 1.0),
    ("\\boxed{0.5 \\text{ cm}}", "0.5 \\text{ cm}", 1.0),
    ("\\boxed{\\$0.50}", "\\$0.50", 1.0),
    ("\\frac{1}{3}", "\\frac{1}{3}", 0.0),
    ("\\boxed{2}", "2", 0.0),
    ("\\boxed{-\\frac{1}{2}}", "-\\frac{1}{2}", 0.0),
    ("\u22120.5", "\u22120.5", 0.0),
    ("0.5000001", "0.5000001", 0.0),
    ("50%", "50%", 0.0),
    ("\\boxed{\\frac{1}{2}, 3}", "\\frac{1}{2}, 3", 0.0),
    ("\\boxed{\\frac{1}{2}}, \\boxed{3}", "\\frac{1}{2}, 3", 0.0),
    ("ANSWER: undefined", "undefined", 0.0),
    ("\\boxed{\\frac{1}{2}", "1/2", 1.0),
    ("\\boxed{}", None, None),
    ("I cannot solve this problem.", None, None),
    ("", None, None),
    ("$$", None, None),
    ("<think>\\boxed{\\frac{1}{2}}", None, None),
]
EQUAL = [
    ("2\\sqrt{2}", "\\sqrt{8}"),
    ("2\\sqrt{2}", "2\u221a2"),
    ("2\\sqrt{2}", "2*sqrt(2)"),
    ("2\\sqrt{2}", "2.828427"),
    ("1000", "1{,}000"),
    ("1000", "1,000"),
    ("1000", "10^3"),
    ("1000", "10\u00b3"),
    ("0.0000001", "1e-7"),
    ("5", "5^\\circ"),
    ("5", "5\u00b0"),
    ("50\\%", "50"),
    ("5\\text{ cm}", "5"),
    ("-5", "\u2212 5"),
    ("3/2", "1\\frac{1}{2}"),
    ("-3/2", "-1\\frac{1}{2}"),
    ("3/2", "1 1/2"),
    ("3/2", "1\u00bd"),
    ("6", "2 \u00b7 3"),
    ("\\pi", "\u03c0"),
    ("x^2+2x+1", "(x+1)\u00b2"),
    ("x^2+2x+1", "(x+1)**2"),
    ("5", "x = 5"),
    ("x = 5", "5"),
    ("y = 2x + 3", "y = 3 + 2x"),
    ("2, 3", "\\{3, 2\\}"),
    ("2, 3", "\\boxed{2} and \\boxed{3}"),
    ("2, 3", "\\boxed{x=2} \\text{ or } \\boxed{x=3}"),
    ("2, 3", "The answer is $x = 2$ or $x = 3$."),
    ("\\pm 2", "-2, 2"),
    ("(1, 2)", "$(1,2)$"),
    ("1 < x \\le 2", "(1, 2]"),
    ("(-\\infty, 2]", "(-\u221e, 2]"),
    ("\\begin{pmatrix} 1 \\\\ 2 \\end{pmatrix}", "\\begin{pmatrix}1\\\\2\\end{pmatrix}"),
    ("no solution", "\\boxed{\\text{No solution}}"),
    ("\\text{even}", "Answer: **even**."),
]
DIFFERENT = [
    ("2, 3", "2"),
    ("2, 3", "\\boxed{3}"),
    ("2", "2, 3"),
    ("(1, 2)", "(2, 1)"),
    ("(1, 2]", "[1, 2]"),
    ("\\pm 2", "2"),
    ("x = 5", "y = 5"),
    ("0.5", "50\\%"),
    ("1/3", "0.333333"),
    ("0.0000001", "0.0000002"),
    ("\\frac{1}{2004!}", "\\frac{1}{2006!}"),
    ("x^2", "x"),
    ("even", "odd"),
    ("even", "neve"),
    ("1/0", "5"),
    ("11/2", "1 1/2"),
    ("12", "1 2"),
    ("840", "840840"),
]


def test_nothing_slow_is_imported_before_it_is_needed() -> None:
    loaded = "import sys, monitor.grading.graders; print('sympy' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", loaded], capture_output=True, check=True)
    assert shown.stdout == b"False\n"


@pytest.mark.parametrize("row", READ_AS, ids=lambda row: repr(row[0]))
def test_read(row: Reading) -> None:
    assert reading("math", row[0], HALF) == row


@pytest.mark.parametrize(("target", "answer"), EQUAL)
def test_equal(target: str, answer: str) -> None:
    assert graded("math", answer, item(target)).score == 1.0


@pytest.mark.parametrize(("target", "answer"), DIFFERENT)
def test_different(target: str, answer: str) -> None:
    assert graded("math", answer, item(target)).score == 0.0


@pytest.mark.parametrize("target", {target for target, _ in EQUAL + DIFFERENT})
def test_a_target_scores_1(target: str) -> None:
    assert graded("math", target, item(target)).score == 1.0
    assert graded("math", f"ANSWER: {target}", item(target)).score == 1.0


PLAIN = st.sampled_from(
    [
        "0",
        "1",
        "-1",
        "0.5",
        "\\frac{1}{2}",
        "\\sqrt{4}",
        "x",
        "2x",
        "x+x",
        "x^2",
        "\\{1,2\\}",
        "2,1",
    ]
)


@given(PLAIN, PLAIN)
def test_equality_of_formulas_without_equations_is_symmetric(one: str, other: str) -> None:
    forth = graded("math", one, item(other)).score
    assert graded("math", other, item(one)).score == forth


@pytest.mark.parametrize(
    ("answer", "options", "score"),
    [
        ("$5$", {"answer": "stated"}, None),
        ("\\boxed{5}", {"answer": "stated"}, 1.0),
        ("\\boxed{4} >> 5", {"marker": ">>"}, 1.0),
    ],
)
def test_options(answer: str, options: dict[str, Any], score: float | None) -> None:
    assert graded("math", answer, item("5"), **options).score == score


@pytest.mark.parametrize(
    "answer",
    [
        "\\sqrt{" * 21 + "1" + "}" * 21,
        "(" * 30 + "1" + ")" * 30,
        "1+" * 300 + "1",
        "\\boxed{" + "9" * 501 + "}",
    ],
    ids=lambda answer: answer[:10],
)
def test_what_is_too_long_or_too_deep_is_equal_to_none(answer: str) -> None:
    assert graded("math", answer, item("1")).score == 0.0


@pytest.mark.parametrize(
    ("target", "what"),
    [
        (" ", "target: ' ' cannot be an answer"),
        ("1+" * math_equality.LONGEST, "target: '1+1+"),
        ("(" * 30, "target: '(((("),
    ],
)
def test_problems(target: str, what: str) -> None:
    (wrong,) = found_wrong("math", item(target))
    assert wrong.startswith(what)
