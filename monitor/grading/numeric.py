r"""Right is a number that equals a target, exactly or within a tolerance.

Read is the number in what the text states (see `statements`) or, unless `answer: stated`, the last
number in the text. Of "x = 3 + 4 = 7" it is what follows the last equals sign.

- Thousands are separated by commas, by no-break or thin spaces, or by LaTeX's `{,}` and `\,`, in
  groups of three; an ordinary space separates numbers.
  With `decimal_comma: true` comma and point change places.
  Digits grouped in any other way (12,34 or 1.2.3) are no number.
- A fraction (3/4, \frac{3}{4}, ¾) and a mixed number (1 1/2) are exact values.
- Read as well: the Unicode minus, -$5 and $-5, 1.5e3, 3 x 10^5, "1.2 million".
- Currency, units and the percent sign are not read: 45 % is 45, in answers and targets alike.

Numbers are compared as exact fractions: |answer - target| <= max(tolerance, relative_tolerance *
|target|), both 0 unless given.
"""

import re
from collections.abc import Iterator
from fractions import Fraction

from monitor.domain import errors, suites
from monitor.grading import grader, normalisation, statements


def _is_tolerance(given: object) -> bool:
    if isinstance(given, bool) or not isinstance(given, (int, float)):
        return False
    return 0 <= given < float("inf")


_TOLERANCE = grader.Option(wanted="a number, 0 or more", accepts=_is_tolerance, default=0)
OPTIONS = {
    "answer": grader.one_of("anywhere", "stated"),
    "marker": grader.words(),
    "tolerance": _TOLERANCE,
    "relative_tolerance": _TOLERANCE,
    "decimal_comma": grader.flag(),
}
_TODO = "give one number, such as 1234.5, -3 or 3/4"

_POWERS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_VULGAR = {
    "½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4", "⅕": "1/5", "⅖": "2/5", "⅗": "3/5",
    "⅘": "4/5", "⅙": "1/6", "⅚": "5/6", "⅛": "1/8", "⅜": "3/8", "⅝": "5/8", "⅞": "7/8",
}  # fmt: skip
_SUPERSCRIPT = re.compile(r"(?<=\d)[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]{1,4}")
_FRACTION = re.compile(r"\\[dt]?frac\s?\{\s?(-?\d{1,40})\s?\}\s?\{\s?(\d{1,40})\s?\}")
_TIMES = re.compile(r"\\times|\\cdot|\u00d7|\u22c5|\u00b7")
_THIN = re.compile(r"(?<=\d)(?:[\u00a0\u2009\u202f]|\{,\}|\\,|\\ )(?=\d{3}(?!\d))")
_POWER_OF_TEN = re.compile(
    r"(?:(?P<times>(?<=\d)\s?[*x\u00d7]\s?)|(?<![\w.^]))10\^\s?\(?([-+]?\d{1,3})\)?(?!\d)"
)
_CURRENCY = r"(?:[$\u20ac\u00a3\u00a5]\s?)?"
_NUMBER = re.compile(
    rf"(?<![\w.^])(?<!\d,)(?P<sign>(?<![\w)\]][-+])(?<![\w)\]])[-+]\s?)?{_CURRENCY}(?P<minus>-)?"
    r"(?:(?P<whole>\d{1,9})\s(?=\d{1,9}/\d))?"
    r"(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)(?!\d|[,.]\d|\s?\^)"
    r"(?:e(?P<exponent>[-+]?\d{1,3})(?!\w))?(?!e[-+]?\d)"
    r"(?:\s?/\s?(?P<divisor>\d{1,40})(?![\d/]|[,.]\d))?"
    r"(?:\s(?P<scale>thousand|million|billion|trillion)\b)?",
    re.IGNORECASE,
)
_SCALES = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_DIGITS_AT_MOST = 300
_DENIAL = re.compile(r"\W{0,6}(?:not|neither|isn't)\b", re.IGNORECASE)
_ASIDE = re.compile(r"(?<=.)[(;]|,?\s(?:because|since|as|so|where)\b", re.IGNORECASE)


def extract(options: grader.Options, _item: suites.Item, text: str) -> str | None:
    """Return the number as Python writes an exact one: digits, fraction or exponent."""
    for value in statements.stated(text, options.get("marker")):
        if number := _of_statement(_plain(options, value)):
            return number
    if grader.read(options, OPTIONS, "answer") == "stated":
        return None
    numbers = list(_numbers(_plain(options, statements.without_reasoning(text))))
    return numbers[-1] if numbers else None


def compare(options: grader.Options, item: suites.Item, extracted: str) -> float:
    """Return 1 where the answer is close enough to one of the targets, else 0."""
    answer = _exact(extracted)
    if answer is None:
        return 0.0
    absolute, relative = (
        Fraction(str(grader.read(options, OPTIONS, name)))
        for name in ("tolerance", "relative_tolerance")
    )
    targets = [Fraction(number) for target in item.target for number in _only(options, target)]
    return float(any(abs(answer - t) <= max(absolute, relative * abs(t)) for t in targets))


def check(options: grader.Options, item: suites.Item) -> list[errors.Problem]:
    """Find options that do not fit, and targets that are not one number."""
    usable = grader.fitting(options, OPTIONS)
    targets = grader.target_problems(item, lambda target: bool(_only(usable, target)), _TODO)
    return grader.option_problems(options, OPTIONS) + targets


def _only(options: grader.Options, target: str) -> list[str]:
    """Return the number of a target, in a list of one; empty where there is not exactly one."""
    numbers = list(_numbers(_plain(options, target)))
    return numbers if len(numbers) == 1 else []


def _plain(options: grader.Options, text: str) -> str:
    """Bring the spellings that the module docstring lists into one."""
    text = _SUPERSCRIPT.sub(lambda match: "^" + match[0].translate(_POWERS), text)
    for vulgar, plain in _VULGAR.items():
        text = text.replace(vulgar, f" {plain}")
    text = _FRACTION.sub(r" \1/\2", _THIN.sub("", text))
    text = normalisation.undecorated(_TIMES.sub("\u00d7", text)).replace("\u2044", "/")
    if options.get("decimal_comma"):
        text = text.translate(str.maketrans(",.", ".,"))
    return _POWER_OF_TEN.sub(lambda match: f"{'' if match['times'] else 1}e{match[2]}", text)


def _of_statement(value: str) -> str | None:
    """Return the first number after the last equals sign of what is said before any aside."""
    value = statements.first_sentence(value)
    if _DENIAL.match(value):
        return None
    said = _ASIDE.split(value, maxsplit=1)[0]
    parts = (_result(said), _result(value), value)
    return next((number for part in parts for number in _numbers(part)), None)


def _result(text: str) -> str:
    return re.split(r"[=\u2248]", text)[-1]


def _numbers(text: str) -> Iterator[str]:
    for match in _NUMBER.finditer(text):
        if len(match["digits"]) <= _DIGITS_AT_MOST and (value := _value(match)) is not None:
            yield value


def _value(match: re.Match[str]) -> str | None:
    """Spell one number so that `Fraction` reads it; None for a division by zero."""
    negative = (match["sign"] or "").startswith("-") or match["minus"] is not None
    sign, digits = "-" if negative else "", match["digits"].replace(",", "")
    if match["divisor"] is not None:
        return _ratio(
            sign,
            Fraction(match["whole"] or 0),
            part=Fraction(digits),
            divisor=int(match["divisor"]),
        )
    exponent = int(match["exponent"] or 0) + _SCALES.get((match["scale"] or "").lower(), 0)
    return f"{sign}{digits}e{exponent}" if exponent else f"{sign}{digits}"


def _exact(number: str) -> Fraction | None:
    try:
        return Fraction(number)
    except (ValueError, ZeroDivisionError):
        return None


def _ratio(sign: str, whole: Fraction, *, part: Fraction, divisor: int) -> str | None:
    return f"{sign}{whole + part / divisor}" if divisor else None
