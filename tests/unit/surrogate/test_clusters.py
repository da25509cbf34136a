from collections.abc import Sequence

import pytest

from monitor.surrogate.clusters import Sampled, cluster


class Comparison:
    """Meanings are the same where they are the same number; keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str | None, ...]] = []

    async def alike(self, opening: Sampled, others: Sequence[Sampled]) -> Sequence[bool]:
        self.asked.append((opening.meaning, *(other.meaning for other in others)))
        return [float(opening.meaning or "") == float(each.meaning or "") for each in others]


def samples(*meanings: str | None) -> list[Sampled]:
    return [Sampled(text=f"I say {meaning}", meaning=meaning) for meaning in meanings]


@pytest.mark.parametrize(
    ("meanings", "labels"),
    [
        (("4",), (0,)),
        (("4", "4", "4"), (0, 0, 0)),
        (("4", "4.0", "5", "4"), (0, 0, 1, 0)),
        (("5", "4", "5.0", "4.0", "3"), (0, 1, 0, 1, 2)),
        ((None, None), (0, 1)),
        (("4", None, "4.0", None), (0, 1, 0, 2)),
    ],
)
async def test_answers_of_one_meaning_are_together(
    meanings: tuple[str | None, ...], labels: tuple[int, ...]
) -> None:
    assert await cluster(samples(*meanings), Comparison().alike) == labels


async def test_what_is_equal_is_compared_once() -> None:
    comparison = Comparison()
    await cluster(samples("4", "5", "4", "5", "5.0", "6"), comparison.alike)
    assert comparison.asked == [("4", "5", "5.0", "6"), ("5", "5.0", "6")]


async def test_an_answer_is_taken_once() -> None:
    """Near is not transitive: 1 takes 2, and then 2 no longer takes 3."""

    async def near(opening: Sampled, others: Sequence[Sampled]) -> Sequence[bool]:
        return [abs(int(opening.meaning or 0) - int(each.meaning or 0)) <= 1 for each in others]

    assert await cluster(samples("1", "3", "2"), near) == (0, 1, 0)
    assert await cluster(samples("2", "1", "3"), near) == (0, 0, 0)
