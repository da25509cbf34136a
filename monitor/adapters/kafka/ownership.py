"""One partition, from the moment at which the group assigns it to the moment it is lost.

A thread for each. It takes the partition over (new producer, `init_transactions`, journal to its
end), then writes what was committed: everything that waits goes into one transaction, and each
commit is told an outcome of its own.

When the outcome of a transaction is unknown, or its producer was fenced, the thread waits until
the group has confirmed the assignment once more, and only then takes the partition over anew: a
process that has been replaced would otherwise fence its successor. The journal then tells whether
the transaction is there, by its marker.
"""

import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from typing import Any, assert_never

from kafka.errors import KafkaError

from monitor.adapters.kafka import journal, transactions
from monitor.adapters.kafka.clients import Cluster, discard, in_words
from monitor.adapters.kafka.journal import Restored
from monitor.adapters.kafka.lease import Lease
from monitor.adapters.kafka.rows import Writing
from monitor.domain.errors import OwnershipLost, StateError
from monitor.domain.facts import TransactionOutcome

RESTORE_SECONDS = 30.0
STEP_SECONDS = 0.05
RETRY_SECONDS = 0.5
MERGED_BYTES = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """What a partition needs to know of the group.

    metadata: our membership as the group last confirmed it.
    """

    lease: Lease
    metadata: Callable[[], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """Whom a partition tells of what becomes of it; called in any thread, must not wait.

    restored: the partition is ours, with this content, after so many seconds.
    lost: one that had been restored is ours no longer.
    failed: something is wrong that nothing here can mend.
    written: in the partition so many commits had this outcome after so many seconds.
    """

    restored: Callable[[int, Restored, float], None]
    lost: Callable[[int], None]
    failed: Callable[[Exception], None]
    written: Callable[[int, TransactionOutcome, int, float], None]


@dataclass(slots=True)
class _Waiting:
    writing: Writing
    outcome: Future[None] = field(default_factory=Future)


class _Lost(Exception):
    """The partition is ours no longer."""


class Ownership:
    """A partition that the group has assigned to us."""

    def __init__(
        self, cluster: Cluster, partition: int, *, group: Group, listener: Listener
    ) -> None:
        self.partition = partition
        self.trouble: str | None = None
        """Why the partition is not being served just now."""
        self.settled = 0
        """Offset from which reading would start after a restart."""
        self._cluster = cluster
        self._group = group
        self._listener = listener
        self._producer: Any = None
        self._waiting: deque[_Waiting] = deque()
        self._changed = threading.Condition()
        self._lost = False
        self._finishing = False
        self._restored = False
        self._thread = threading.Thread(
            target=self._run, name=f"kafka-partition-{partition}", daemon=True
        )

    def start(self) -> None:
        """Begin to take the partition over."""
        self._thread.start()

    @property
    def is_lost(self) -> bool:
        """Whether it is ours no longer."""
        return self._lost

    @property
    def is_restored(self) -> bool:
        """Whether its journal has been read."""
        return self._restored

    def holds(self) -> bool:
        """Whether it is certainly ours at this moment."""
        return self._restored and not self._lost and self._group.lease.holds()

    def submit(self, writing: Writing) -> Future[None]:
        """Queue a commit; the future is told its outcome.

        Raises:
            OwnershipLost: the partition is ours no longer.
        """
        waiting = _Waiting(writing)
        with self._changed:
            if self._lost or self._finishing:
                raise self._loss()
            self._waiting.append(waiting)
            self._changed.notify_all()
        return waiting.outcome

    def lose(self) -> None:
        """Write nothing more; everything that waits has failed. Returns at once."""
        with self._changed:
            if self._lost:
                return
            self._lost = True
            if self._restored:
                self._listener.lost(self.partition)
            while self._waiting:
                outcome = self._waiting.popleft().outcome
                if outcome.set_running_or_notify_cancel():
                    outcome.set_exception(self._loss())
            self._changed.notify_all()

    def finish(self) -> None:
        """Write what waits and then let go; returns at once."""
        with self._changed:
            self._finishing = True
            self._changed.notify_all()

    def wait(self, seconds: float) -> None:
        """Wait until it is finished; what is not written by then has failed."""
        self._thread.join(max(0.0, seconds))
        self.lose()

    def _run(self) -> None:
        try:
            self._take_over(since=None)
            while batch := self._next_batch():
                self._serve(batch)
        except _Lost:
            pass
        except Exception as error:  # noqa: BLE001 - whatever it is, its reader must hear of it
            self._listener.failed(error)
        finally:
            self.lose()
            if self._producer is not None:
                discard(self._producer)

    def _loss(self) -> OwnershipLost:
        return OwnershipLost(
            f"{self._cluster.topics.versions}: partition {self.partition} is no longer owned by"
            " this process; its owner goes on from what the journal holds"
        )

    def _take_over(self, *, since: float | None) -> Restored:
        """Become the only writer and read what is there, however often that takes.

        Args:
            since: the group must have confirmed the assignment after this moment; None for a
                partition that was just assigned.

        Raises:
            _Lost: somebody else owns the partition.
        """
        began = time.monotonic()
        while True:
            if since is not None:
                self._wait_until(partial(self._group.lease.confirmed_after, since))
            try:
                restored = self._restore()
            except (KafkaError, TimeoutError, OSError) as error:
                self.trouble = f"is being taken over: {in_words(error)}"
                since = time.monotonic()
                time.sleep(RETRY_SECONDS)
                continue
            self.trouble = None
            self.settled = max(self.settled, restored.settled)
            self._announce(restored, time.monotonic() - began)
            return restored

    def _announce(self, restored: Restored, seconds: float) -> None:
        with self._changed:
            if self._lost:
                raise _Lost
            if not self._restored:
                self._listener.restored(self.partition, restored, seconds)
                self._restored = True  # whoever sees this may rely on its having been told

    def _restore(self) -> Restored:
        if self._producer is not None:
            discard(self._producer)
        self._producer = None
        self._producer = transactions.open_producer(self._cluster, self.partition)
        self._producer.init_transactions()
        return journal.read(self._cluster, self.partition, seconds=RESTORE_SECONDS)

    def _wait_until(self, condition: Callable[[], bool]) -> None:
        while not self._lost:
            if condition():
                return
            time.sleep(STEP_SECONDS)
        raise _Lost

    def _next_batch(self) -> list[_Waiting]:
        """What waits, up to a size; nothing when all is written and we are to finish."""
        batch: list[_Waiting] = []
        with self._changed:
            while not batch:
                while not (self._waiting or self._lost or self._finishing):
                    self._changed.wait()
                if self._lost:
                    raise _Lost
                if not self._waiting:
                    break
                batch = self._take_waiting()
        return batch

    def _take_waiting(self) -> list[_Waiting]:
        batch: list[_Waiting] = []
        size = 0
        while self._waiting and (not batch or size + self._waiting[0].writing.size <= MERGED_BYTES):
            waiting = self._waiting.popleft()
            # From here on a caller that is cancelled has it written all the same.
            if waiting.outcome.set_running_or_notify_cancel():
                batch.append(waiting)
                size += waiting.writing.size
        return batch

    def _serve(self, batch: Sequence[_Waiting]) -> None:
        """Write some commits and tell each its outcome."""
        began = time.monotonic()
        try:
            refusal = self._write([each.writing for each in batch])
        except BaseException as error:
            self._fail(batch, error)
            self._tell(TransactionOutcome.LOST, batch, began)
            raise
        if refusal is None:
            for each in batch:
                each.outcome.set_result(None)
            self._tell(TransactionOutcome.COMMITTED, batch, began)
        elif len(batch) > 1:
            self._serve_each(batch)
        else:
            batch[0].outcome.set_exception(self._refused(refusal))
            self._tell(TransactionOutcome.REFUSED, batch, began)

    def _serve_each(self, batch: Sequence[_Waiting]) -> None:
        """Write commits one by one: one of them is to blame, and none of the others."""
        for index, each in enumerate(batch):
            try:
                self._serve([each])
            except BaseException as error:
                self._fail(batch[index + 1 :], error)
                raise

    def _fail(self, batch: Sequence[_Waiting], error: BaseException) -> None:
        for each in batch:
            each.outcome.set_exception(self._loss() if isinstance(error, _Lost) else error)

    def _tell(self, outcome: TransactionOutcome, batch: Sequence[_Waiting], began: float) -> None:
        self._listener.written(self.partition, outcome, len(batch), time.monotonic() - began)

    def _refused(self, error: Exception) -> StateError:
        return StateError(
            f"partition {self.partition}: the brokers at {self._cluster.name} refuse a record"
            f" ({error}); compare the limits and rights of the topics with `check`"
        )

    def _write(self, writings: Sequence[Writing]) -> Exception | None:
        """Write once, however many attempts it takes; returns why it never can be.

        Raises:
            _Lost: somebody else owns the partition.
        """
        contents = self._contents(writings)
        while contents.writings or contents.offset is not None:
            self._wait_until(self._group.lease.holds)
            outcome = transactions.write(
                self._producer, contents, self._cluster, self._group.metadata
            )
            match outcome:
                case transactions.Committed():
                    break
                case transactions.Outdated():
                    time.sleep(STEP_SECONDS)
                case transactions.Refused(error):
                    return error
                case transactions.Unknown(error):
                    self.trouble = f"has a commit of unknown outcome: {in_words(error)}"
                    found = self._take_over(since=time.monotonic())
                    if contents.marker is not None and found.marker == contents.marker:
                        break
                case _:
                    assert_never(outcome)
        self.settled = max(self.settled, contents.offset or 0)
        return None

    def _contents(self, writings: Sequence[Writing]) -> transactions.Contents:
        offset = max((each.settled or 0 for each in writings), default=0)
        repeatable = all(each.is_repeatable for each in writings)
        return transactions.Contents(
            partition=self.partition,
            writings=[each for each in writings if each.records or each.results],
            offset=offset if offset > self.settled else None,
            marker=None if repeatable else uuid.uuid4().hex.encode(),
        )
