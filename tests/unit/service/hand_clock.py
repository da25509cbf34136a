"""A clock that stands still until it is moved, so that waits are exact and take no time."""

import asyncio
from datetime import UTC, datetime, timedelta


class HandClock:
    """Implements `ports.Clock`; whoever sleeps is woken when the hand passes."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._sleepers: list[tuple[float, asyncio.Event]] = []

    def now(self) -> datetime:
        return datetime(2026, 11, 29, tzinfo=UTC) + timedelta(seconds=self.seconds)

    def monotonic(self) -> float:
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        sleeper = (self.seconds + seconds, asyncio.Event())
        self._sleepers.append(sleeper)
        try:
            await sleeper[1].wait()
        finally:
            if sleeper in self._sleepers:
                self._sleepers.remove(sleeper)

    async def settle(self) -> None:
        """Let everything run that need not wait for the clock."""
        for _ in range(50):
            await asyncio.sleep(0)

    async def run(self, until: float = 1e9) -> None:
        """Move on from sleeper to sleeper, until none is left before `until`."""
        await self.settle()
        while self._sleepers and min(self._sleepers, key=lambda entry: entry[0])[0] <= until:
            self._sleepers.sort(key=lambda entry: entry[0])
            self.seconds, woken = self._sleepers.pop(0)
            woken.set()
            await self.settle()
