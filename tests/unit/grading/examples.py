"""Items to grade."""

from typing import Any

from monitor.domain.answers import Grade
from monitor.domain.identifiers import Digest, ItemId
from monitor.domain.suites import GraderSpec, Item
from monitor.grading import graders


def item(*target: str, choices: tuple[str, ...] = ()) -> Item:
    return Item(
        id=ItemId("1"), input="?", target=target or ("42",), choices=choices, digest=Digest("d")
    )


def graded(kind: str, answer: str, on: Item, /, **options: Any) -> Grade:  # noqa: ANN401
    return graders.grade(GraderSpec(kind=kind, options=options), on, answer)


def found_wrong(kind: str, on: Item, /, **options: Any) -> list[str]:  # noqa: ANN401
    """`where: what` of everything that is wrong."""
    problems = graders.problems(GraderSpec(kind=kind, options=options), on)
    return [f"{problem.where}: {problem.what}" for problem in problems]
