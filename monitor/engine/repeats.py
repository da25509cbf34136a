"""Items that are drawn again: they are asked once, and count as often as they are drawn."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from monitor.domain.answers import Answer, Usage
from monitor.domain.plans import Draw


def first_draws(draws: Iterable[Draw]) -> tuple[Draw, ...]:
    """The first draw of each item, in draw order: the questions that are asked."""
    firsts: dict[int, Draw] = {}
    for draw in draws:
        firsts.setdefault(draw.item, draw)
    return tuple(firsts.values())


def settle(draws: Iterable[Draw], known: Mapping[int, Answer]) -> dict[int, Answer]:
    """Answers by step: those known, and for each repeat that of its first draw, at no cost.

    Args:
        draws: in draw order.
        known: answers by step, those of repeats not needed.
    """
    firsts: dict[int, int] = {}
    settled = {}
    for draw in draws:
        first = firsts.setdefault(draw.item, draw.step)
        if draw.step in known:
            settled[draw.step] = known[draw.step]
        elif first in known:
            settled[draw.step] = replace(
                known[first], step=draw.step, usage=Usage(attempts=0), judged=()
            )
    return settled


def is_repeat(draws: Sequence[Draw], step: int) -> bool:
    """Whether the draw of this step took an item that was drawn before."""
    return any(draw.item == draws[step].item for draw in draws[:step])
