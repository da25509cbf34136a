"""What the bus's threads have for its reader, in the order in which it happened."""

import asyncio
import contextlib
import threading
from collections import Counter, deque

from monitor.ports import Assigned, Delivery, Record, Revoked


class Deliveries:
    """A queue from threads into the event loop.

    From the revocation of a partition until its reader has dealt with that, nothing may be done in
    the partition's name: a new ownership may begin in the meantime, of which the reader does not
    know. It has dealt with a delivery when it asks for the next one.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._waiting: deque[Delivery | Exception] = deque()
        self._filled = asyncio.Event()
        self._records: Counter[int] = Counter()
        self._revoked: Counter[int] = Counter()
        self._taken: Delivery | None = None

    def put(self, delivery: Delivery | Exception) -> None:
        """Add a delivery, from any thread; an exception is raised by `take` in its turn."""
        with self._lock:
            if isinstance(delivery, Revoked):
                self._drop_records(delivery.partition)
                self._revoked[delivery.partition] += 1
            elif isinstance(delivery, Record):
                self._records[delivery.partition] += 1
            self._waiting.append(delivery)
        with contextlib.suppress(RuntimeError):  # the loop has ended, and its reader with it
            self._loop.call_soon_threadsafe(self._filled.set)

    def _drop_records(self, partition: int) -> None:
        kept = (
            each
            for each in self._waiting
            if not (isinstance(each, Record) and each.partition == partition)
        )
        self._waiting = deque(kept)
        del self._records[partition]

    async def take(self) -> Delivery:
        """Wait for the next delivery; for one caller at a time, which may be cancelled."""
        with self._lock:
            if isinstance(self._taken, Revoked):
                self._revoked[self._taken.partition] -= 1
            self._taken = None
        while (delivery := self._next()) is None:
            self._filled.clear()
            # Something may have come between the look and the clearing.
            if not self._waiting:
                await self._filled.wait()
        if isinstance(delivery, Exception):
            raise delivery
        return delivery

    def _next(self) -> Delivery | Exception | None:
        with self._lock:
            if not self._waiting:
                return None
            delivery = self._waiting.popleft()
            if isinstance(delivery, Record):
                self._records[delivery.partition] -= 1
            if isinstance(delivery, Assigned | Revoked | Record):
                self._taken = delivery
            return delivery

    def records(self, partition: int) -> int:
        """How many records of a partition wait."""
        return self._records[partition]

    def is_being_revoked(self, partition: int) -> bool:
        """Whether its reader still has a revocation of the partition to deal with."""
        return self._revoked[partition] > 0
