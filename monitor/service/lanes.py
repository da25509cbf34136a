"""How many questions an endpoint gets at once: it also serves people, and may say "too many"."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from math import inf

from monitor.ports import Clock


class Lane:
    """Turns at one endpoint, shared by everything that asks it.

    The number of turns at once adapts between 1 and `concurrency`: halved by each episode of
    rate limiting, raised by about one for as many answers as there are turns.
    """

    def __init__(self, *, concurrency: int, clock: Clock) -> None:
        self._slots = asyncio.Semaphore(concurrency)
        self._size = concurrency
        self._concurrency = concurrency
        self._limit = float(concurrency)
        self._clock = clock
        self._closed_until = -inf

    @property
    def limit(self) -> int:
        """Turns that are given at once."""
        return int(self._limit)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Hold one of the slots; waits for it, and for the end of a pause."""
        while True:
            while (left := self._closed_until - self._clock.monotonic()) > 0:
                await self._clock.sleep(left)
            await self._slots.acquire()
            try:
                # Whoever had the slot before may have been told to slow down.
                if self._clock.monotonic() >= self._closed_until:
                    yield
                    return
            finally:
                self._give_back()

    def slow_down(self, seconds: float) -> None:
        """Begin nothing for so long: one item's rate limit is everybody's."""
        now = self._clock.monotonic()
        # What was in flight together and is refused together is one episode.
        if now >= self._closed_until:
            self._limit = max(1.0, self._limit / 2)
        self._closed_until = max(self._closed_until, now + seconds)

    def speed_up(self) -> None:
        """Take note of an answer."""
        self._limit = min(float(self._concurrency), self._limit + 1 / self._limit)
        while self._size < self.limit:
            self._size += 1
            self._slots.release()

    def _give_back(self) -> None:
        if self._size > self.limit:
            self._size -= 1
        else:
            self._slots.release()
