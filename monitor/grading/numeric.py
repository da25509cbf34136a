r"""Right is a number that equals a target, exactly or within a tolerance.

Read is the number in what the text states (see `statements`) or, unless `answer: stated`, the last
number in the text. Of "x = 3 + 4 = 7" it is what follows the last equals sign.

- Thousands are separated by commas, by no-break or thin spaces, or by LaTeX's `{,}` and `\,`, in
  groups of three, or by commas as in 12,34,567; by ordinary spaces where a group begins with 0, as
  in 1 000, for otherwise these separate numbers. With `decimal_comma: true` comma and point change
  places. Digits grouped in any other way (12,34 or 1.2.3) are no number; nor are 3:30 and 2:1.
- A fraction (3/4, \frac{3}{4}, ¾) and a mixed number (1 1/2) are exact values.
- Read as well: the Unicode minus, -$5 and $-5, 1.5e3, 3 x 10^5, "1.2 million", 5k, $5M.
- Several numbers in one statement ("3 or 4", "10-20", "5 + 2") are no answer.
- A unit, a currency or a percent sign is not read: 45 % is 45, in answers and targets alike. With
  `percent: true` it is 0.45; with `units`, what one of each is worth, a number is multiplied by
  the worth of the unit behind it or in front of it: 1.5 km is 1500 for `{km: 1000, m: 1}`. Units
  are read as they are written, capitals included; a number without one of them is what it is.

Numbers are compared as exact fractions: |answer - target| <= max(tolerance, relative_tolerance *
|target|), both 0 unless given.
"""

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction

from monitor.domain import errors, suites
from monitor.grading import grader, normalisation, statements


def _is_tolerance(given: object) -> bool:
    if isinstance(given, bool) or not isinstance(given, (int, float)):
        return False
    return 0 <= given < float("inf")


def _is_units(given: object) -> bool:
    return isinstance(given, Mapping) and all(
        isinstance(unit, str) and unit.strip() and _is_tolerance(worth) and worth > 0
        for unit, worth in given.items()
    )


_TOLERANCE = grader.Option(wanted="a number, 0 or more", accepts=_is_tolerance, default=0)
OPTIONS = {
    "answer": grader.one_of("anywhere", "stated"),
    "marker": grader.words(),
    "tolerance": _TOLERANCE,
    "relative_tolerance": _TOLERANCE,
    "decimal_comma": grader.flag(),
    "percent": grader.flag(),
    "units": grader.Option(
        wanted="units and what one of each is worth, such as {km: 1000, m: 1}",
        accepts=_is_units,
        default={},
    ),
}
_TODO = "give one number, such as 1234.5, -3 or 3/4"

_POWERS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_SUPERSCRIPT = re.compile(r"(?<=\d)[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]{1,4}")
_FRACTION = re.compile(
    r"\\[dt]?frac\s?(?:\{\s?(-?\d{1,40})\s?\}\s?\{\s?(\d{1,40})\s?\}|(\d)\s?(\d)(?!\d))"
)
_TIMES = re.compile(r"\\times|\\cdot|\u00d7|\u22c5|\u00b7")
_THIN = re.compile(r"(?<=\d)(?:[\u00a0\u2009\u202f]|\{,\}|\\,|\\ )(?=\d{3}(?!\d))")
_SPACED = re.compile(r"(?<![\d.,])\d{1,3}(?: \d{3})+(?![\d/])")
_POWER_OF_TEN = re.compile(
    r"(?:(?P<times>(?<=\d)\s?[*x\u00d7]\s?)|(?<![\w.^]))10\^\s?\(?([-+]?\d{1,3})\)?(?!\d)"
)
_NUMBER = re.compile(
    r"(?<![\w.^])(?<!\d[,:])"
    r"(?P<sign>(?<![\w)\]][-+])(?<![\w)\]])[-+]\s?|(?:^|(?<=[:=]\s))(?:minus|negative)\s)?"
    r"(?P<currency>(?:US|CA|AU|NZ|HK|[ACR])?[$\u20ac\u00a3\u00a5\u20a0-\u20bf]\s?)?(?P<minus>-)?"
    r"(?:(?P<whole>\d{1,9})\s(?=\d{1,9}/\d))?"
    r"(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,2}(?:,\d\d)+,\d{3}(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)"
    r"(?!\d|[,.:]\d|\s?\^)(?:e(?P<exponent>[-+]?\d{1,3})(?!\w))?(?!e[-+]?\d)"
    r"(?:\s?/\s?(?P<divisor>\d{1,40})(?![\d/]|[,.]\d))?"
    r"(?:\s?(?P<scale>(?:thousand|million|billion|trillion|bn)\b|(?<=\d)(?-i:k)\b"
    r"|(?(currency)(?<=\d)[kmb]\b|(?!))))?",
    re.IGNORECASE,
)
_SCALES = {
    **dict.fromkeys(("k", "thousand"), 3),
    **dict.fromkeys(("m", "million"), 6),
    **dict.fromkeys(("b", "bn", "billion"), 9),
    "trillion": 12,
}
# What makes a number one of several: a sign of arithmetic, of a range or of a list, and a number.
_AND_MORE = re.compile(
    r"\s\d{3}(?!\d)|\s?(?:[^\W\d_]{1,15}|[%\u00b0]){0,2}\s{0,2}"
    r"(?:[-+*/\u00d7]|[,;]\s|(?P<either>\bor)\s|(?:\band|\bto|\bx)\s)\s{0,2}[-+$(]{0,2}\.?\d",
    re.IGNORECASE,
)
_DIGITS_AT_MOST = 300
_PERCENTS = ("%", "percent", "per cent")
_UNIT_AT_MOST = 50
_DENIAL = re.compile(r"\W{0,6}(?:not|neither|isn't)\b", re.IGNORECASE)
_ASIDE = re.compile(r"(?<=.)[(;]|,?\s(?:because|since|as|so|where)\b", re.IGNORECASE)


def extract(options: grader.Options, _item: suites.Item, text: str) -> str | None:
    """Return the number as Python writes an exact one: digits, fraction or exponent."""
    for value in statements.stated(text, options.get("marker")):
        found = _of_statement(options, _plain(options, value))
        if found:
            return found[0] if len(found) == 1 else None
    if grader.read(options, OPTIONS, "answer") == "stated":
        return None
    matches = [*_matches(_plain(options, statements.without_reasoning(text)))]
    return _worth(options, matches[-1]) if matches else None


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
    matches = [*_matches(_plain(options, target))]
    return [_worth(options, matches[0])] if len(matches) == 1 else []


def _plain(options: grader.Options, text: str) -> str:
    """Bring the spellings that the module docstring lists into one."""
    text = _SUPERSCRIPT.sub(lambda match: "^" + match[0].translate(_POWERS), text)
    text = _FRACTION.sub(r" \1\3/\2\4", _THIN.sub("", text))
    text = normalisation.undecorated(_TIMES.sub("\u00d7", text))
    if options.get("decimal_comma"):
        text = text.translate(str.maketrans(",.", ".,"))
    text = _SPACED.sub(lambda m: m[0].replace(" ", "") if " 0" in m[0] else m[0], text)
    return _POWER_OF_TEN.sub(lambda match: f"{'' if match['times'] else 1}e{match[2]}", text)


def _of_statement(options: grader.Options, value: str) -> list[str]:
    """Return the first number after the last equals sign of what is said before any aside.

    With a second number where there is more than one.
    """
    value = statements.first_sentence(value)
    if _DENIAL.match(value):
        return []
    said = _ASIDE.split(value, maxsplit=1)[0]
    parts = (_result(said), _result(value), value)
    return next(filter(None, (_leading(options, part) for part in parts)), [])


def _result(text: str) -> str:
    return re.split(r"[=\u2248]", text)[-1].strip()


def _leading(options: grader.Options, text: str) -> list[str]:
    """Return the first number, and what makes it one of several; "1/2 or 0.5" is one."""
    found = _matches(text)
    first = next(found, None)
    if first is None:
        return []
    number, more = _worth(options, first), _AND_MORE.match(text, first.end())
    if more is None:
        return [number]
    second = next(found, None) if more["either"] else None
    is_same = second is not None and Fraction(_worth(options, second)) == Fraction(number)
    return [number] if is_same else [number, more[0]]


def _matches(text: str) -> Iterator[re.Match[str]]:
    for match in _NUMBER.finditer(text):
        if len(match["digits"]) <= _DIGITS_AT_MOST and _value(match) is not None:
            yield match


def _worth(options: grader.Options, match: re.Match[str]) -> str:
    """Spell one number, multiplied by what its unit is worth."""
    number = _value(match) or ""
    worths = _worths(options)
    behind = match.string[match.end() : match.end() + _UNIT_AT_MOST]
    for unit, worth in worths:
        if re.match(rf"\s{{0,6}}{re.escape(unit)}(?![\w/^*\u00b7])", behind):
            return str(Fraction(number) * worth)
    start = match.start("digits")
    front = match.string[max(0, start - _UNIT_AT_MOST) : start]
    for unit, worth in worths:
        if re.search(rf"(?<!\w)(?<!\d\s){re.escape(unit)}[\s-]?$", front):
            return str(Fraction(number) * worth)
    return number


def _worths(options: grader.Options) -> list[tuple[str, Fraction]]:
    """Return units as texts have them once they are plain, longest first."""
    percents = dict.fromkeys(_PERCENTS, "0.01") if options.get("percent") else {}
    given: dict[str, object] = {**percents, **grader.read(options, OPTIONS, "units")}
    spelled = {
        normalisation.undecorated(unit).strip(): Fraction(str(worth))
        for unit, worth in given.items()
    }
    return sorted(spelled.items(), key=lambda each: -len(each[0]))


def _value(match: re.Match[str]) -> str | None:
    """Spell one number so that `Fraction` reads it; None for a division by zero."""
    before = f"{match['sign'] or ''}{match['minus'] or ''}".lower()
    negative = before.startswith(("-", "minus", "negative")) or before.endswith("-")
    sign, digits = "-" if negative else "", match["digits"].replace(",", "")
    exponent = int(match["exponent"] or 0) + _SCALES.get((match["scale"] or "").lower(), 0)
    if match["divisor"] is None:
        return f"{sign}{digits}e{exponent}" if exponent else f"{sign}{digits}"
    divisor, whole = int(match["divisor"]), int(match["whole"] or 0)
    if divisor == 0:
        return None
    return f"{sign}{(whole + Fraction(digits) / divisor) * Fraction(10) ** exponent}"


def _exact(number: str) -> Fraction | None:
    try:
        return Fraction(number)
    except (ValueError, ZeroDivisionError):
        return None
