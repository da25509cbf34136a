r"""Right is a formula that is mathematically equal to a target, in LaTeX or in plain notation.

Read is, in this order:

1. unless there is a `marker`, what the last `\boxed{}` holds, or the last ones where several stand
   in a row as a list;
2. what the text states (see `statements`): its formulas between dollar signs, `\(` and `\)`, `\[`
   and `\]`, several in a row as a list; where it has none, all of it, or the number in it (see
   `numeric`) where it is a sentence;
3. unless `answer: stated`, the last formula of the text, or else the last number.

Equality is that of Math-Verify: 2\sqrt{2} = \sqrt{8}, x = 5 is 5, a list or set needs every
element in any order, a tuple its order, an interval is that of an inequality where the target is
one. Plain numbers and fractions are compared exactly, other numbers to six digits. Units, degrees,
currency and percent signs do not count: 50 % is 50. Words are compared normalised.

A formula of more than `LONGEST` characters, or nested deeper than `DEEPEST`, is equal to none.
Math-Verify may need any time for a shorter one, so this grader runs where it can be killed.
"""

import functools
import re
from fractions import Fraction
from typing import Any

from monitor.domain import errors, suites
from monitor.grading import grader, normalisation, numeric, statements

OPTIONS = {"answer": grader.one_of("anywhere", "stated"), "marker": grader.words()}
LONGEST = 500
DEEPEST = 20

_TODO = rf"give a formula of at most {LONGEST} characters, such as \frac{{1}}{{2}} or x = 3"
_DIGITS = 6
_FORMULA = re.compile(
    r"\$\$([^$]{1,1000})\$\$|\$(?=\S)([^$\n]{1,1000}?)(?<=\S)\$(?!\d)"
    r"|\\\[(.{1,1000}?)\\\]|\\\((.{1,1000}?)\\\)",
    re.DOTALL,
)
_BETWEEN = re.compile(
    r"(?:[\s$,;]|\\[()\[\],;]|\\q?quad|\\text\{|\}|\band\b|\bor\b)*", re.IGNORECASE
)
_WORD = re.compile(r"(?<![\\A-Za-z{])[A-Za-z]{3,}")
_FUNCTIONS = {
    "and", "arccos", "arcsin", "arctan", "cos", "cosh", "cot", "csc", "exp", "gcd", "lcm", "log",
    "max", "min", "mod", "pmod", "sec", "sin", "sinh", "sqrt", "tan", "tanh",
}  # fmt: skip
# Fewer letters may be a product of variables.
_TEXT = re.compile(r"(?:\\(?:text|mathrm)[a-z]{0,2}\{)?\s*[A-Za-z][A-Za-z' -]{3,}\}?")
_WORDS_AT_MOST = 3
_POWER = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]{1,10}")
_POWERS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_ROOT = re.compile(r"\u221a(?:\(([^()]{1,100})\)|(\w{1,20}))")
_SYMBOLS = str.maketrans({
    "\u2212": "-", "\u2013": "-", "\u2044": "/", "\u00b0": r"^\circ ",
    "\u00b7": r"\cdot ", "\u22c5": r"\cdot ", "\u00d7": r"\times ", "\u00f7": r"\div ",
    "\u00b1": r"\pm ", "\u2264": r"\le ", "\u2265": r"\ge ", "\u2260": r"\ne ", "\u03c0": r"\pi ",
    "\u221e": r"\infty ", "\u222a": r"\cup ", "\u2229": r"\cap ", "\u2208": r"\in ",
})  # fmt: skip
_MARKS = re.compile(r"\\?[$%]")
_SPACES = re.compile(r"\\[!,;: ]|\{,\}|(?<!\d)\s|\s(?!\d)")
_MIXED = re.compile(r"(?<![\d.,/])(\d{1,9})\s(\d{1,9})/(\d{1,9})(?!\d|[.,]\d)")
_THOUSANDS = re.compile(r"(?<![\d,.])\d{1,3}(?:,\d{3})+(?![\d,])")
_FRACTION = re.compile(r"(-?)\\[dt]?frac\{(\d+)\}\{(\d+)\}")
_NUMBER = re.compile(r"-?(?:(?:\d+(?:\.\d+)?|\.\d+)(?:e[-+]?\d{1,3})?|\d+/\d+)")


@functools.cache
def prepare() -> None:
    """Import Math-Verify and let it build its tables, which takes seconds."""
    _verified("x^2 + 2x + 1", "(x + 1)^2")


def extract(options: grader.Options, item: suites.Item, text: str) -> str | None:
    """Return the formula of the answer, in LaTeX or as it is written."""
    text = statements.without_reasoning(text)
    marker = options.get("marker")
    boxed = None if marker else _boxed(text)
    stated = (_formula(item, value) for value in statements.stated(text, marker))
    if found := boxed or next(filter(None, stated), None):
        return found
    if grader.read(options, OPTIONS, "answer") == "stated":
        return None
    return _unstated(item, text)


def compare(_options: grader.Options, item: suites.Item, extracted: str) -> float:
    """Return 1 where the formula is equal to one of the targets, else 0."""
    return float(any(_equal(_of_target(item, target), extracted) for target in item.target))


def check(options: grader.Options, item: suites.Item) -> list[errors.Problem]:
    """Find options that do not fit, and targets that are blank or too long."""
    targets = grader.target_problems(
        item, lambda target: bool(target.strip()) and _is_small(_of_target(item, target)), _TODO
    )
    return grader.option_problems(options, OPTIONS) + targets


def _of_target(item: suites.Item, target: str) -> str:
    return _boxed(target) or _formula(item, target) or target


def _boxed(text: str) -> str | None:
    return next(reversed(statements.boxed(text).values()), None)


def _formula(item: suites.Item, value: str) -> str | None:
    """Formulas of a statement; of one without them all of it, or its number."""
    if groups := _formulas(value):
        return groups[0]
    plain = value.strip(" \t\n*_`\"'$.,;:!")
    words = [word for word in _WORD.findall(plain) if word.lower() not in _FUNCTIONS]
    if not words:
        return plain if plain and "boxed" not in plain else None
    if number := numeric.extract({}, item, f"ANSWER: {plain}"):
        return number
    return plain if len(plain.split()) <= _WORDS_AT_MOST else None


def _unstated(item: suites.Item, text: str) -> str | None:
    if groups := _formulas(text):
        return groups[-1]
    lines = [line for line in text.split("\n") if line.strip()]
    last = _formula(item, lines[-1]) if lines else None
    return last or numeric.extract({}, item, text)


def _formulas(text: str) -> list[str]:
    """Return the formulas of a text, those in a row as one list."""
    groups: list[list[str]] = []
    end = 0
    for match in _FORMULA.finditer(text):
        if not groups or not _BETWEEN.fullmatch(text[end : match.start()]):
            groups.append([])
        groups[-1].append(match[match.lastindex or 0].strip(" \t\n.,;"))
        end = match.end()
    return [", ".join(filter(None, group)) for group in groups if any(group)]


def _equal(target: str, answer: str) -> bool:
    if _TEXT.fullmatch(target) and _TEXT.fullmatch(answer):
        return normalisation.normalise(target) == normalisation.normalise(answer)
    first, second = _latex(target), _latex(answer)
    if _SPACES.sub("", first) == _SPACES.sub("", second):
        return True
    if not (_is_small(target) and _is_small(answer)):
        return False
    exact = [_exact(first), _exact(second)]
    return _verified(first, second) if None in exact else exact[0] == exact[1]


def _is_small(formula: str) -> bool:
    depth = deepest = 0
    for bracket in re.findall(r"[][{}()]", formula):
        depth += 1 if bracket in "[{(" else -1
        deepest = max(deepest, depth)
    return len(formula) <= LONGEST and deepest <= DEEPEST


def _latex(formula: str) -> str:
    """Spell a formula in LaTeX, without signs that do not count."""
    formula = _POWER.sub(lambda match: f"^{{{match[0].translate(_POWERS)}}}", formula)
    formula = normalisation.compatible(_MARKS.sub("", formula)).translate(_SYMBOLS).strip()
    formula = _MIXED.sub(r"\1\\frac{\2}{\3}", formula)
    return _ROOT.sub(r"\\sqrt{\1\2}", formula).replace("**", "^").strip(" .")


def _exact(formula: str) -> Fraction | None:
    """Value of a plain number or fraction, None for any other formula."""
    plain = _SPACES.sub("", formula)
    if _THOUSANDS.fullmatch(plain.lstrip("-")):
        plain = plain.replace(",", "")
    if fraction := _FRACTION.fullmatch(plain):
        plain = "{}{}/{}".format(*fraction.groups())
    try:
        return Fraction(plain) if _NUMBER.fullmatch(plain) else None
    except ZeroDivisionError:
        return None


def _verified(target: str, answer: str) -> bool:
    import math_verify.grader  # noqa: PLC0415 - takes seconds, and few suites need it
    import math_verify.parser  # noqa: PLC0415

    # Its own time limit needs the signals of the main thread; here the process is killed.
    math_verify.parser.TIMEOUT_WARNING_SHOWN = math_verify.grader.TIMEOUT_WARNING_SHOWN = True
    latex = math_verify.parser.LatexExtractionConfig(boxed_match_priority=0)
    first, second = (
        math_verify.parser.parse(
            rf"\boxed{{{formula}}}",
            extraction_config=[latex],
            fallback_mode="no_fallback",
            parsing_timeout=None,
        )
        for formula in (target, answer)
    )
    same = math_verify.grader.verify(first, second, float_rounding=_DIGITS, timeout_seconds=None)
    return bool(same) and _is_near(first[0], second[0])


def _is_near(first: Any, second: Any) -> bool:  # noqa: ANN401 - an expression of SymPy
    """Whether two numbers agree in their first digits: Math-Verify rounds to decimals."""
    if not (getattr(first, "is_number", False) and getattr(second, "is_number", False)):
        return True
    if first.is_zero or second.is_zero:
        return bool(first == second)
    try:
        error = abs((first / second).evalf() - 1)
        return not error.is_comparable or bool(error < 10**-_DIGITS)
    except (ArithmeticError, RecursionError, TypeError, ValueError):  # SymPy cannot tell
        return True
