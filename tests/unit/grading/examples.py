"""Items to grade, and how an answer to one is read."""

from typing import Any

from hypothesis import strategies as st

from monitor.domain.answers import Grade
from monitor.domain.identifiers import Digest, ItemId
from monitor.domain.suites import GraderSpec, Item
from monitor.grading import graders

Reading = tuple[str, str | None, float | None]
"""An answer, what is extracted from it, and its score; None twice where it holds no answer."""

JSON = st.recursive(
    st.sampled_from([None, True, 1, 1.0, -0.5, 1e300, 10**400, "", "a", "\\", '"', "\u00e4 }"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "/", "~", ""]), inner, max_size=3)
    ),
    max_leaves=6,
)


def item(*target: str, choices: tuple[str, ...] = ()) -> Item:
    return Item(
        id=ItemId("1"), input="?", target=target or ("42",), choices=choices, digest=Digest("d")
    )


def graded(kind: str, answer: str, on: Item, /, **options: Any) -> Grade:  # noqa: ANN401
    return graders.grade(GraderSpec(kind=kind, options=options), on, answer)


def reading(kind: str, answer: str, on: Item, /, **options: Any) -> Reading:  # noqa: ANN401
    """Extraction and score of an answer, for tables of readings."""
    grade = graded(kind, answer, on, **options)
    return answer, grade.extracted, grade.score


def found_wrong(kind: str, on: Item, /, **options: Any) -> list[str]:  # noqa: ANN401
    """`where: what` of everything that is wrong."""
    problems = graders.problems(GraderSpec(kind=kind, options=options), on)
    return [f"{problem.where}: {problem.what}" for problem in problems]
