"""What was asked of a simulated endpoint: tests hold a spend against it."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from monitor.simulation.knobs import Attempt


class Ledger:
    """Counts by model and item, and how many requests were under way at once."""

    def __init__(self) -> None:
        self._under_way = 0
        self.clear()

    def clear(self) -> None:
        """Start all counts anew; attempts are numbered from 0 again."""
        self._asked: Counter[tuple[str, str]] = Counter()
        self._answered: Counter[tuple[str, str]] = Counter()
        self._most_under_way = self._under_way

    @contextmanager
    def attempt(self, model: str, item: str) -> Iterator[Attempt]:
        """Count a request from its arrival to its end."""
        number = self._asked[model, item]
        self._asked[model, item] += 1
        self._under_way += 1
        self._most_under_way = max(self._most_under_way, self._under_way)
        try:
            yield Attempt(model=model, item=item, number=number)
        finally:
            self._under_way -= 1

    def answer(self, attempt: Attempt) -> None:
        """Count an attempt as answered with a well-formed completion."""
        self._answered[attempt.model, attempt.item] += 1

    def asked(self, model: str) -> dict[str, int]:
        """By item: how often a model was asked, whatever came of it."""
        return {item: count for (name, item), count in self._asked.items() if name == model}

    def answered(self, model: str) -> dict[str, int]:
        """By item: how often a model answered with a well-formed completion."""
        return {item: count for (name, item), count in self._answered.items() if name == model}

    def document(self) -> dict[str, Any]:
        """All counts as JSON, in the order of first requests."""
        requests = [
            {
                "model": model,
                "item": item,
                "asked": asked,
                "answered": self._answered[model, item],
            }
            for (model, item), asked in self._asked.items()
        ]
        return {
            "asked": self._asked.total(),
            "answered": self._answered.total(),
            "most_under_way": self._most_under_way,
            "requests": requests,
        }
