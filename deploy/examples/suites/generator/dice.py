"""Chance that is the same on every machine and in every version of Python and NumPy."""

import hashlib
from collections.abc import Sequence
from typing import Any, TypeVar

T = TypeVar("T")

Item = dict[str, Any]
"""A line of items.jsonl."""


class Dice:
    """Throws that follow from a seed alone."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._throws = 0

    def roll(self, low: int, high: int) -> int:
        """A whole number from low to high, both included."""
        self._throws += 1
        thrown = hashlib.sha256(f"{self._seed}/{self._throws}".encode()).digest()
        return low + int.from_bytes(thrown[:8], "big") % (high - low + 1)

    def pick(self, values: Sequence[T]) -> T:
        """One of the values."""
        return values[self.roll(0, len(values) - 1)]

    def shuffled(self, values: Sequence[T]) -> list[T]:
        """The values in any order."""
        left, order = list(values), []
        while left:
            order.append(left.pop(self.roll(0, len(left) - 1)))
        return order
