"""Right is what equals a target character for character.

The whole answer is compared, white space at its ends aside. With `answer: stated`, or with a
`marker`, it is the answer that the text states (see `statements`), without the emphasis round it.
"""

from monitor.domain import errors, suites
from monitor.grading import grader, statements

OPTIONS = {"answer": grader.one_of("whole", "stated"), "marker": grader.words()}
_TODO = "give the text of the right answer"


def extract(options: grader.Options, _item: suites.Item, text: str) -> str | None:
    """Return the whole text or what it states."""
    marker = grader.read(options, OPTIONS, "marker")
    if marker is None and grader.read(options, OPTIONS, "answer") == "whole":
        return statements.without_reasoning(text).strip() or None
    found = (value.strip(" \t*_`") for value in statements.stated(text, marker))
    return next(filter(None, found), None)


def compare(_options: grader.Options, item: suites.Item, extracted: str) -> float:
    """Return 1 where the answer is one of the targets, else 0."""
    return float(any(extracted == target.strip() for target in item.target))


def check(options: grader.Options, item: suites.Item) -> list[errors.Problem]:
    """Find options that do not fit, and blank targets."""
    targets = grader.target_problems(item, lambda target: bool(target.strip()), _TODO)
    return grader.option_problems(options, OPTIONS) + targets
