"""Right is what equals a target after normalisation (see `normalisation` for the rules).

`answer` says what is compared: `anywhere` (the default) is the answer that the text states (see
`statements`) or else the whole text; `stated` and `whole` are one of the two alone.
"""

from monitor.domain import errors, suites
from monitor.grading import grader, normalisation, statements

OPTIONS = {
    "answer": grader.one_of("anywhere", "stated", "whole"),
    "marker": grader.words(),
    "ignore_articles": grader.flag(),
}
_TODO = "give the right answer in words or digits, not in punctuation alone"


def extract(options: grader.Options, _item: suites.Item, text: str) -> str | None:
    """Return what the text states, or the whole text, normalised."""
    where = grader.read(options, OPTIONS, "answer")
    text = normalisation.compatible(text)
    found = [] if where == "whole" else statements.stated(text, options.get("marker"))
    for value in found:
        if normal := _normal(options, value):
            return normal
    whole = "" if where == "stated" else statements.without_reasoning(text)
    return _normal(options, whole) or None


def compare(options: grader.Options, item: suites.Item, extracted: str) -> float:
    """Return 1 where the answer is one of the targets, else 0."""
    return float(any(_normal(options, target) == extracted for target in item.target))


def check(options: grader.Options, item: suites.Item) -> list[errors.Problem]:
    """Find options that do not fit, and targets of which nothing is left."""
    usable = grader.fitting(options, OPTIONS)
    targets = grader.target_problems(item, lambda target: bool(_normal(usable, target)), _TODO)
    return grader.option_problems(options, OPTIONS) + targets


def _normal(options: grader.Options, text: str) -> str:
    ignore_articles = grader.read(options, OPTIONS, "ignore_articles")
    return normalisation.normalise(text, ignore_articles=ignore_articles)
