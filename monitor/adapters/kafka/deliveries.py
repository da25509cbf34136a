"""What the bus's threads have for its reader, in the order in which it happened."""

import asyncio
import contextlib
import threading
from collections import Counter, deque

from monitor.ports import Assigned, Delivery, Record, Revoked


class Deliveries:
    """A queue from threads into the event loop; what concerns partitions overtakes records.

    From the revocation of a partition until its reader has dealt with that, nothing may be done in
    the partition's name: a new ownership may begin in the meantime, of which the reader does not
    know. It has dealt with a delivery when it asks for the next one.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._filled = asyncio.Event()
        self._changes: deque[Assigned | Revoked | Exception] = deque()
        self._records: deque[Record] = deque()
        self._counts: Counter[int] = Counter()
        self._revoked: Counter[int] = Counter()
        self._taken: Delivery | None = None

    def put(self, delivery: Delivery | Exception) -> None:
        """Add a delivery, from any thread; an exception is raised by `take` in its turn."""
        with self._lock:
            if isinstance(delivery, Record):
                self._records.append(delivery)
                self._counts[delivery.partition] += 1
            else:
                self._changes.append(delivery)
            if isinstance(delivery, Revoked):
                number = delivery.partition
                self._revoked[number] += 1
                self._records = deque(it for it in self._records if it.partition != number)
                del self._counts[number]
        with contextlib.suppress(RuntimeError):  # the loop has ended, and its reader with it
            self._loop.call_soon_threadsafe(self._filled.set)

    async def take(self) -> Delivery:
        """Wait for the next delivery; for one caller at a time, which may be cancelled."""
        with self._lock:
            if isinstance(self._taken, Revoked):
                self._revoked[self._taken.partition] -= 1
            self._taken = None
        while (delivery := self._next()) is None:
            self._filled.clear()
            # Something may have come between the look and the clearing.
            if not (self._changes or self._records):
                await self._filled.wait()
        if isinstance(delivery, Exception):
            raise delivery
        return delivery

    def _next(self) -> Delivery | Exception | None:
        with self._lock:
            if self._changes:
                change = self._changes.popleft()
                self._taken = None if isinstance(change, Exception) else change
                return change
            if self._records:
                record = self._records.popleft()
                self._counts[record.partition] -= 1
                return record
            return None

    def records(self, partition: int) -> int:
        """How many records of a partition wait."""
        return self._counts[partition]

    def is_being_revoked(self, partition: int) -> bool:
        """Whether the reader still has a revocation of the partition to deal with."""
        return self._revoked[partition] > 0
