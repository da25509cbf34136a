"""Right is a text in which a target occurs.

Text and target are normalised first (see `normalisation`), but keep their capitals with
`case_sensitive`. A target must not be part of a longer word or number: cat is not in concatenate,
5 not in 25, 3.5, 5,000 or -5, C not in C++; `inside_words` allows it. Scripts that put no spaces
between words have no such limits.

The text may say anything else besides, also that the target is wrong: a grader for short answers,
and for words that must appear.
"""

import re

from monitor.domain import errors, suites
from monitor.grading import exact, grader, normalisation

OPTIONS = {
    **exact.OPTIONS,
    "case_sensitive": grader.flag(),
    "inside_words": grader.flag(),
}
_TODO = "give the words to look for, not punctuation alone"

extract = exact.extract


def compare(options: grader.Options, item: suites.Item, extracted: str) -> float:
    """Return 1 where one of the targets occurs, else 0."""
    text = _normal(options, extracted)
    return float(any(_occurs(options, _normal(options, each), text) for each in item.target))


def check(options: grader.Options, item: suites.Item) -> list[errors.Problem]:
    """Find options that do not fit, and targets of which nothing is left."""
    usable = grader.fitting(options, OPTIONS)
    targets = grader.target_problems(item, lambda target: bool(_normal(usable, target)), _TODO)
    return grader.option_problems(options, OPTIONS) + targets


def _normal(options: grader.Options, text: str) -> str:
    keep_case = grader.read(options, OPTIONS, "case_sensitive")
    return normalisation.normalise(text, keep_case=keep_case)


def _occurs(options: grader.Options, target: str, text: str) -> bool:
    if not target or options.get("inside_words"):
        return bool(target) and target in text
    before = _before(target[0])
    after = _after(target[-1])
    return re.search(f"{before}{re.escape(target)}{after}", text) is not None


def _before(first: str) -> str:
    """What must not stand in front of a target."""
    if first.isdigit() or first == ".":
        return r"(?<![\w.])(?<!\d,)(?<![^\w)\]][-+])(?<!^[-+])"
    return rf"(?<!{normalisation.SPACED})" if re.match(normalisation.SPACED, first) else ""


def _after(last: str) -> str:
    """What must not stand behind a target."""
    if last.isdigit():
        return r"(?![\w%]|[.,/]\d)"
    if re.match(normalisation.SPACED, last):
        return rf"(?!{normalisation.SPACED}|[+#]{{1,2}}(?!\w))"
    return ""
