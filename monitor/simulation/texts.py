"""What a simulated model says when it is right and when it is wrong, proven on the grader."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """Two answers to one item: graded 1 and graded 0."""

    right: str
    wrong: str


def texts(suite: Suite) -> tuple[Texts, ...]:
    """Find both answers for each item, in item order.

    Raises:
        SuiteError: for some items no text tried is graded 1, or none 0; all of them are named.
    """
    problems: list[errors.Problem] = []
    found = []
    for item in suite.items:
        spec = suite.grader_of(item)
        right = _first_graded(spec, item, wanted=1.0, values=_right(spec, item))
        wrong = _first_graded(spec, item, wanted=0.0, values=_wrong(spec, item))
        if right is None or wrong is None:
            problems.append(_problem(suite, item, score=1 if right is None else 0))
        else:
            found.append(Texts(right=right, wrong=wrong))
    if problems:
        raise errors.SuiteError(problems)
    return tuple(found)


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
    altered = (_altered(target, shift) for shift in (1, 2, 3) for target in item.target)
    return (*_letters(spec, item), "no", *altered)


def _letters(spec: GraderSpec, item: Item) -> str:
    return ascii_uppercase[: len(item.choices)] or str(spec.options.get("letters", ""))


def _altered(text: str, shift: int) -> str:
    """A text of the same shape that says something else: B for A, 43 for 32."""
    moved = {
        ord(old): new
        for row in (digits, ascii_lowercase, ascii_uppercase)
        for old, new in zip(row, row[shift:] + row[:shift], strict=True)
    }
    return text.translate(moved)


def _problem(suite: Suite, item: Item, *, score: int) -> errors.Problem:
    kind = suite.grader_of(item).kind
    return errors.Problem(
        where=f"suite {suite.name}, item {item.id}",
        what=f"no simulated answer is graded {score} by its {kind} grader",
        todo="check the target and the grader's options, or leave the item out of the simulation",
    )
