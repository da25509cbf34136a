"""Right is a list with the elements of a target: in its order (`list`), or in any (`set`).

Read is the list that the text states (see `statements`) or, unless `answer: stated`, the last JSON
array of the text, or else its last block of lines with bullets or numbers, or else its last line
that has a separator, or else all its lines. Of a line the first sentence with a separator counts,
without what precedes the elements ("The colours are") or explains them ("because ...").

- Elements are separated by commas, semicolons and line breaks, or by `separator` and line breaks.
- "and" and "&" separate the last two, unless an element of a target has them within.
- A line with a bullet or a number is one element; an explanation in it, behind a dash, a colon or
  a bracket, goes.
- Elements are compared normalised (see `normalisation`). In a `set` one counts once, however often
  it is named; in a `list` it counts as often as it is there.

With `score: all` the score is 1 or 0; with `score: f1` it is twice the number of elements in
common over the number in both. In common in a `list` are those of the longest common subsequence.
"""

import itertools
import json
import re

from monitor.domain import errors, suites
from monitor.grading import grader, json_search, normalisation, statements

OPTIONS = {
    "answer": grader.one_of("anywhere", "stated"),
    "marker": grader.words(),
    "separator": grader.words(),
    "ignore_articles": grader.flag(),
    "score": grader.one_of("all", "f1"),
}
# What is longer is no pair of elements; and its conjunctions would take quadratic time.
_LONGEST_PART = 500
_TODO = "give the elements of a right answer, with separators between"
_SEPARATOR = re.compile(r"[,;\n\u3001]")
_INTRODUCTION = re.compile(
    r"[^,;\n]{0,200}(?::(?=\s|$)|\b(?:are|is|were|was|includes?)\b:?)", re.IGNORECASE
)
_AND = re.compile(r"(?:^|\s+)(?:and\s|&\s)\s*", re.IGNORECASE)
_ASIDE = re.compile(r",?\s(?:because|since|which)\b.*", re.IGNORECASE)
_EXPLANATION = re.compile(r"\s-{1,2}\s|:\s|:$|\s\(")


def extract(options: grader.Options, item: suites.Item, text: str) -> str | None:
    """Return the elements, normalised, as a JSON array."""
    for value in statements.stated(text, options.get("marker"), lists=True):
        if elements := _elements(options, item, value):
            return json.dumps(elements, ensure_ascii=False)
    if grader.read(options, OPTIONS, "answer") == "stated":
        return None
    elements = _elements(options, item, _last_list(options, statements.without_reasoning(text)))
    return json.dumps(elements, ensure_ascii=False) if elements else None


def compare_ordered(options: grader.Options, item: suites.Item, extracted: str) -> float:
    """Return how far the list agrees with the target that is closest to it."""
    answer = _of_target(options, extracted)
    targets = [_of_target(options, target) for target in item.target]
    if grader.read(options, OPTIONS, "score") == "all":
        return float(answer in targets)
    return max(_f1(_common(answer, each), len(answer) + len(each)) for each in targets)


def compare_unordered(options: grader.Options, item: suites.Item, extracted: str) -> float:
    """Return how far the set agrees with the target that is closest to it."""
    answer = {*_of_target(options, extracted)}
    targets = [{*_of_target(options, target)} for target in item.target]
    if grader.read(options, OPTIONS, "score") == "all":
        return float(answer in targets)
    return max(_f1(len(answer & each), len(answer) + len(each)) for each in targets)


def check(options: grader.Options, item: suites.Item) -> list[errors.Problem]:
    """Find options that do not fit, and targets without elements."""
    usable = grader.fitting(options, OPTIONS)
    targets = grader.target_problems(item, lambda target: bool(_of_target(usable, target)), _TODO)
    return grader.option_problems(options, OPTIONS) + targets


def _f1(common: int, both: int) -> float:
    return 2 * common / both if both else 0.0


def _common(first: list[str], second: list[str]) -> int:
    """Length of the longest common subsequence, by one row of the table at a time."""
    row = [0] * (len(second) + 1)
    for element in first:
        above = row
        row = [0]
        for index, other in enumerate(second):
            longest = above[index] + 1 if element == other else max(above[index + 1], row[-1])
            row.append(longest)
    return row[-1]


def _of_target(options: grader.Options, target: str) -> list[str]:
    """Elements of a target, or of what `extract` returns."""
    array = _of_array(target)
    parts = _separator(options).split(target) if array is None else array
    return [normal for part in parts if (normal := _normal(options, part))]


def _elements(options: grader.Options, item: suites.Item, value: str) -> list[str]:
    if _of_array(value) is not None:
        return _of_target(options, value)
    known = {element for target in item.target for element in _of_target(options, target)}
    parts: list[str] = []
    for line in normalisation.undecorated(value).split("\n"):
        read = _of_bullet if statements.BULLET.match(line) else _of_line
        parts += read(options, known, line)
    return [normal for part in parts if (normal := _normal(options, part))]


def _of_array(value: str) -> list[str] | None:
    array = json_search.parse(value)
    if not isinstance(array, list):
        return None
    return [each if isinstance(each, str) else json.dumps(each) for each in array]


def _of_bullet(options: grader.Options, known: set[str], line: str) -> list[str]:
    element = statements.BULLET.sub("", line, count=1)
    if _normal(options, element) in known:
        return [element]
    return [_EXPLANATION.split(element, maxsplit=1)[0]]


def _of_line(options: grader.Options, known: set[str], line: str) -> list[str]:
    separator = _separator(options)
    line = _ASIDE.sub("", _telling(separator, line))
    introduction = _INTRODUCTION.match(line)
    if introduction and _normal(options, separator.split(line)[0]) not in known:
        line = line[introduction.end() :]
    *parts, last = separator.split(line)
    ends: list[str] = []
    while _normal(options, last) not in known and (found := _conjunctions(last)):
        fits = (each for each in found if _normal(options, last[each.end() :]) in known)
        cut = next(fits, found[-1])
        ends.append(last[cut.end() :])
        last = last[: cut.start()]
    return [*parts, last, *reversed(ends)]


def _conjunctions(part: str) -> list[re.Match[str]]:
    return [*_AND.finditer(part)] if len(part) <= _LONGEST_PART else []


def _telling(separator: re.Pattern[str], line: str) -> str:
    """Return the first sentence with a separator, or else the first one."""
    rest = line.strip()
    while rest:
        sentence = statements.first_sentence(rest)
        if separator.search(sentence):
            return sentence
        rest = rest[len(sentence) :].lstrip(" .!?")
    return statements.first_sentence(line.strip())


def _last_list(options: grader.Options, text: str) -> str:
    """Return the array, block of bullets or line that comes closest to being a list."""
    array = json_search.find(text, "[")
    if array and len(_of_array(array) or "") > 1:
        return array
    lines = [line for line in text.split("\n") if line.strip()]
    after = itertools.dropwhile(lambda line: not statements.BULLET.match(line), reversed(lines))
    if bullets := [*itertools.takewhile(statements.BULLET.match, after)]:
        return "\n".join(reversed(bullets))
    separated = [line for line in lines if _separator(options).search(line)]
    return separated[-1] if separated else "\n".join(lines)


def _separator(options: grader.Options) -> re.Pattern[str]:
    given = grader.read(options, OPTIONS, "separator")
    return re.compile(rf"{re.escape(given.strip())}|\n") if given else _SEPARATOR


def _normal(options: grader.Options, text: str) -> str:
    ignore_articles = grader.read(options, OPTIONS, "ignore_articles")
    return normalisation.normalise(text, ignore_articles=ignore_articles)
