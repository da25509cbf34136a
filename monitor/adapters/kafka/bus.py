"""The consuming side: what the daemon sees of the group, its partitions and their journal."""

import asyncio
import contextlib
import time
from typing import Self

from monitor.adapters.kafka import rows
from monitor.adapters.kafka.clients import Cluster
from monitor.adapters.kafka.deliveries import Deliveries
from monitor.adapters.kafka.journal import Restored
from monitor.adapters.kafka.membership import Membership, Observer
from monitor.adapters.kafka.ownership import Listener, Ownership
from monitor.domain import facts
from monitor.domain.errors import OwnershipLost
from monitor.ports import Assigned, Commit, Delivery, Revoked, Telemetry

FINISH_SECONDS = 5.0
LEASE_STEP_SECONDS = 0.05


class KafkaBus:
    """The `Bus` port on the request topic and the journal topic."""

    def __init__(self, cluster: Cluster, telemetry: Telemetry | None) -> None:
        self._cluster = cluster
        self._telemetry = telemetry
        self._loop = asyncio.get_running_loop()
        self._deliveries = Deliveries()
        listener = Listener(
            restored=self._on_restored,
            lost=lambda partition: self._deliveries.put(Revoked(partition=partition)),
            failed=self._deliveries.put,
            written=self._on_written,
        )
        self._membership = Membership(
            cluster,
            self._deliveries,
            listener=listener,
            observer=Observer(lagging=self._on_lag, troubled=self._on_trouble),
        )
        self._closed = False

    @classmethod
    async def open(cls, cluster: Cluster, *, telemetry: Telemetry | None = None) -> Self:
        """Begin to join the group; brokers and topics may appear later, see `trouble`."""
        bus = cls(cluster, telemetry)
        bus._membership.start()
        return bus

    @property
    def trouble(self) -> str | None:
        """Why nothing, or not everything, is being served; None when all is well."""
        if self._membership.trouble is not None:
            return f"brokers {self._cluster.name}: {self._membership.trouble}"
        for number, owned in sorted(self._membership.owned.items()):
            if owned.trouble is not None:
                return f"{self._cluster.topics.versions}-{number} {owned.trouble}"
        return None

    @property
    def partitions(self) -> frozenset[int]:
        """Partitions that are ours and have been taken over."""
        owned = list(self._membership.owned.values())
        return frozenset(each.partition for each in owned if each.is_restored and not each.is_lost)

    async def receive(self) -> Delivery:
        """Wait for the next delivery; safe to cancel, for one caller at a time.

        Raises:
            StateCorrupt: a journal holds what this program has not written.
        """
        return await self._deliveries.take()

    async def confirm(self, partition: int) -> None:
        """Wait until it is certain that the partition is ours.

        Raises:
            OwnershipLost: it is ours no longer.
        """
        while not self._owned(partition).holds():  # noqa: ASYNC110 - no thread tells the loop
            await asyncio.sleep(LEASE_STEP_SECONDS)

    async def commit(self, commit: Commit) -> None:
        """Make everything in `commit` durable and visible at once.

        Waits for as long as the brokers are away, unless the partition is lost meanwhile. A
        caller that is cancelled while it waits has its commit written whole or not at all.

        Raises:
            OwnershipLost: the partition is ours no longer.
            StateError: the brokers refuse a record.
            ValueError: a record cannot be sent.
        """
        writing = rows.prepare(commit, self._cluster)
        await asyncio.wrap_future(self._owned(commit.partition).submit(writing))

    def _owned(self, partition: int) -> Ownership:
        owned = self._membership.owned.get(partition)
        if owned is None or self._deliveries.is_being_revoked(partition):
            raise OwnershipLost(
                f"{self._cluster.topics.versions}: partition {partition} is not owned by this"
                " process; nothing was written"
            )
        return owned

    async def close(self) -> None:
        """Write what waits, leave the group; what was not committed is delivered again."""
        if self._closed:
            return
        self._closed = True
        await asyncio.shield(self._loop.run_in_executor(None, self._close))

    def _close(self) -> None:
        deadline = time.monotonic() + FINISH_SECONDS
        owned = list(self._membership.owned.values())
        for each in owned:
            each.finish()
        for each in owned:
            each.wait(deadline - time.monotonic())
        self._membership.leave()

    def _on_restored(self, partition: int, restored: Restored, seconds: float) -> None:
        self._deliveries.put(Assigned(partition=partition, journals=restored.journals))
        self._tell(
            facts.PartitionRestored(partition=partition, rows=restored.row_count, seconds=seconds)
        )

    def _on_written(
        self, partition: int, outcome: facts.TransactionOutcome, commits: int, seconds: float
    ) -> None:
        self._tell(
            facts.TransactionEnded(
                partition=partition, outcome=outcome, commits=commits, seconds=seconds
            )
        )

    def _on_lag(self, partition: int, records: int) -> None:
        self._tell(facts.LagMeasured(partition=partition, records=records))

    def _on_trouble(self, detail: str) -> None:
        self._tell(facts.BusAwaited(brokers=self._cluster.name, detail=detail))

    def _tell(self, fact: facts.Fact) -> None:
        """Pass on a fact of another thread's in the event loop's, where telemetry lives."""
        if self._telemetry is not None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._telemetry.record, fact)
