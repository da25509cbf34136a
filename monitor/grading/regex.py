r"""Right is what a regular expression of the suite takes out of a text and equals a target.

The syntax is that of Python's `re`; flags go inside, as in `(?im)^answer: (\w+)$`. Taken is `group`
(number or name; by default the first group, or the whole match where there is none) of the first
match, or of the last with `match: last`. White space at its ends goes; with `normalise: true`
answer and target are compared normalised (see `normalisation`).

`re` may need exponential time, so this grader runs where it can be killed.
"""

import re

from monitor.domain import errors, suites
from monitor.grading import grader, normalisation

OPTIONS = {
    "pattern": grader.words(),
    "group": grader.Option(
        wanted="the number or name of a group",
        accepts=lambda given: isinstance(given, (int, str)) and not isinstance(given, bool),
        default=None,
    ),
    "match": grader.one_of("first", "last"),
    "normalise": grader.flag(),
}
_TODO = "give what the group of the pattern takes from a right answer"


def extract(options: grader.Options, _item: suites.Item, text: str) -> str | None:
    """Return what the group of the chosen match holds."""
    pattern = re.compile(options["pattern"])
    chosen: re.Match[str] | None = None
    for chosen in pattern.finditer(text):  # noqa: B007 - read after the loop
        if grader.read(options, OPTIONS, "match") == "first":
            break
    if chosen is None:
        return None
    taken: str | None = chosen.group(_group(options, pattern))
    return (taken or "").strip() or None


def compare(options: grader.Options, item: suites.Item, extracted: str) -> float:
    """Return 1 where the answer is one of the targets, else 0."""
    spelled = normalisation.normalise if options.get("normalise") else str.strip
    return float(any(spelled(extracted) == spelled(target) for target in item.target))


def check(options: grader.Options, item: suites.Item) -> list[errors.Problem]:
    """Find options that do not fit, a pattern that does not compile, and blank targets."""
    found = grader.option_problems(options, OPTIONS)
    if "grader.pattern" not in {problem.where for problem in found}:
        found += _pattern_problems(grader.fitting(options, OPTIONS))
    return found + grader.target_problems(item, lambda target: bool(target.strip()), _TODO)


def _group(options: grader.Options, pattern: re.Pattern[str]) -> int | str:
    chosen: int | str | None = options.get("group")
    return min(pattern.groups, 1) if chosen is None else chosen


def _pattern_problems(options: grader.Options) -> list[errors.Problem]:
    if "pattern" not in options:
        todo = r"add one, for example pattern: '(?i)answer: (\w+)'"
        return [errors.Problem(where="grader.pattern", what="missing", todo=todo)]
    try:
        pattern = re.compile(options["pattern"])
    except (re.error, RecursionError, OverflowError) as error:
        what = f"not a regular expression: {error}"
        todo = "put it in single quotes, and escape characters that are meant as they are"
        return [errors.Problem(where="grader.pattern", what=what, todo=todo)]
    return _group_problems(_group(options, pattern), pattern)


def _group_problems(group: int | str, pattern: re.Pattern[str]) -> list[errors.Problem]:
    if group in pattern.groupindex or group in range(pattern.groups + 1):
        return []
    what = f"the pattern has no group {group!r}"
    return [errors.Problem(where="grader.group", what=what, todo="add it or name another one")]
