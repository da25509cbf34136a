"""What a simulated model says when it is right and when it is wrong, proven on the grader."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from string import ascii_lowercase, ascii_uppercase, digits

from monitor.domain import errors
from monitor.domain.suites import GraderSpec, Item, Suite
from monitor.grading import graders

NO_ANSWER = "I am not sure what to say about this."

# What stands before and after an answer: first as a model would put it, then as graders want it.
Phrase = tuple[str, str]
PHRASES: dict[str, Phrase] = {
    "choice": ("The answer is (", ")."),
    "numeric": ("Worked out step by step, it = ", ""),
}
PLAIN: Phrase = ("", "")
STATEMENTS: tuple[Phrase, ...] = (
    ("ANSWER: ", ""),
    ("Answer: ", ""),
    ("answer: ", ""),
    ("The answer is ", "."),
    ("\\boxed{", "}"),
    ("#### ", ""),
    ("<answer>", "</answer>"),
)

# Which characters of a target become their neighbours to make it wrong: first all, then those that
# a pattern is likelier to allow; a step back as well, where a pattern ends at the target.
ALPHABETS = (
    (digits, ascii_lowercase, ascii_uppercase),
    (digits,),
    (ascii_lowercase, ascii_uppercase),
)
SHIFTS = (1, 2, 3, -1)
# Right in no field, where an altered target is no JSON any more, or still right in some.
EMPTY_JSON = ("{}", "[]")
NAMED_AT_MOST = 5

Failure = tuple[str, int]
"""Kind of a grader, and the score that it gave to nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """Two answers to one item: graded 1 and graded 0."""

    right: str
    wrong: str


def texts(suite: Suite) -> tuple[Texts, ...]:
    """Find both answers for each item, in item order.

    Raises:
        SuiteError: for some items no text tried is graded 1, or none 0; one finding a cause.
    """
    failures: defaultdict[Failure, list[Item]] = defaultdict(list)
    found = []
    for item in suite.items:
        spec = suite.grader_of(item)
        if spec.kind in graders.OUTSIDE:
            found.append(_taken_on_trust(item))
            continue
        right = _first_graded(spec, item, wanted=1.0, values=_right(spec, item))
        wrong = _first_graded(spec, item, wanted=0.0, values=_wrong(spec, item))
        if right is None or wrong is None:
            failures[spec.kind, 1 if right is None else 0].append(item)
        else:
            found.append(Texts(right=right, wrong=wrong))
    if failures:
        raise errors.SuiteError([_problem(suite, *failure) for failure in failures.items()])
    return tuple(found)


def wrong_texts(suite: Suite, item: Item, *, most: int) -> tuple[str, ...]:
    """Wrong answers to one item, different by what its grader takes out of them.

    Args:
        suite: one that `texts` finds both answers for.
        item: of the suite.
        most: so many at most; there may be fewer.
    """
    spec = suite.grader_of(item)
    if spec.kind in graders.OUTSIDE:
        return (_taken_on_trust(item).wrong,)
    found: dict[str | None, str] = {}
    for before, after in _phrases(spec):
        for value in _wrong(spec, item):
            text = f"{before}{value}{after}"
            grade = graders.grade(spec, item, text)
            if grade.score == 0.0:
                found.setdefault(grade.extracted, text)
            if len(found) == most:
                return tuple(found.values())
    return tuple(found.values())


def _taken_on_trust(item: Item) -> Texts:
    """Answers to an item whose grader is elsewhere: the target and more, and nothing of use."""
    return Texts(right=f"{item.target[0]}, and this is why.", wrong=NO_ANSWER)


def _first_graded(
    spec: GraderSpec, item: Item, *, wanted: float, values: Sequence[str]
) -> str | None:
    candidates = (f"{before}{value}{after}" for before, after in _phrases(spec) for value in values)
    return next((t for t in candidates if graders.grade(spec, item, t).score == wanted), None)


def _phrases(spec: GraderSpec) -> Iterator[Phrase]:
    yield PHRASES.get(spec.kind, PLAIN)
    if isinstance(marker := spec.options.get("marker"), str):
        yield (f"{marker} ", "")
    yield from (PLAIN, *STATEMENTS)


def _right(spec: GraderSpec, item: Item) -> Sequence[str]:
    return (*item.target, *_letters(spec, item))


def _wrong(spec: GraderSpec, item: Item) -> Sequence[str]:
    altered = (
        _altered(target, shift, rows)
        for rows in ALPHABETS
        for shift in SHIFTS
        for target in item.target
    )
    return (*_letters(spec, item), "no", *altered, *EMPTY_JSON)


def _letters(spec: GraderSpec, item: Item) -> str:
    return ascii_uppercase[: len(item.choices)] or str(spec.options.get("letters", ""))


def _altered(text: str, shift: int, rows: Sequence[str]) -> str:
    """A text of the same shape that says something else: B for A, 43 for 32."""
    moved = {
        ord(old): new
        for row in rows
        for old, new in zip(row, row[shift:] + row[:shift], strict=True)
    }
    return text.translate(moved)


def _problem(suite: Suite, failure: Failure, items: Sequence[Item]) -> errors.Problem:
    kind, score = failure
    named = ", ".join(item.id for item in items[:NAMED_AT_MOST])
    more = f" and {len(items) - NAMED_AT_MOST} more" if len(items) > NAMED_AT_MOST else ""
    return errors.Problem(
        where=f"suite {suite.name}",
        what=f"no simulated answer is graded {score} by the {kind} grader of {named}{more}",
        todo="check targets and the grader's options, or leave them out of the simulation",
    )
