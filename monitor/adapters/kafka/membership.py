"""The consumer's thread: our membership in the group, and the records that it brings.

The consumer is paused for a partition until that has been taken over, and whenever enough of its
records wait to be asked for. Traps of kafka-python 3.0.12 shape this module:

- A partition that is newly assigned is not paused, so that its callback does it.
- A partition that is paused with records fetched but not yet returned is never delivered again,
  so each poll returns all that was fetched, and the size of a fetch bounds what is read ahead.
- A member that was thrown out claims, as it joins anew, what it owned before, and its successors
  lose it; so the assignor is made to forget.
- A member that joins before it knows the topic's partitions may never get any, so that it looks
  them up first.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from kafka.consumer.subscription_state import ConsumerRebalanceListener
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.errors import KafkaError
from kafka.structs import ConsumerGroupMetadata, TopicPartition

from monitor.adapters.kafka import topics
from monitor.adapters.kafka.clients import Cluster, close_consumer, in_words, within
from monitor.adapters.kafka.deliveries import Deliveries
from monitor.adapters.kafka.lease import Lease
from monitor.adapters.kafka.ownership import Group, Listener, Ownership
from monitor.ports import Record

POLL_MS = 100
FETCH_BYTES = 64 * 1024
READ_AHEAD = 32  # records of a partition that may wait to be asked for
HEARTBEATS = 6  # in a session, at least
REBALANCE_SECONDS = 30.0
RETRY_SECONDS = 1.0
LAG_SECONDS = 10.0
ADMIN_SECONDS = 10.0  # for what is looked up before we join


@dataclass(frozen=True, slots=True, kw_only=True)
class Observer:
    """Who is told how the bus is doing; called in the consumer's thread, must not wait.

    lagging: a partition has so many records that are not settled; told now and then.
    troubled: we are not in the group, for this reason; told once while it stays the same.
    """

    lagging: Callable[[int, int], None]
    troubled: Callable[[str], None]


class Membership:
    """Joins the group, and keeps joining it, until it is told to leave."""

    def __init__(
        self,
        cluster: Cluster,
        deliveries: Deliveries,
        *,
        listener: Listener,
        observer: Observer,
    ) -> None:
        """Prepare to join.

        Args:
            cluster: where.
            deliveries: where records go.
            listener: hears of every partition.
            observer: hears how we are doing.
        """
        self.owned: dict[int, Ownership] = {}
        """Partitions that the group has assigned to us."""
        self.trouble: str | None = "not connected yet"
        """Why we are not in the group, None while we are."""
        self._cluster = cluster
        self._deliveries = deliveries
        self._listener = listener
        self._observer = observer
        self._lease = Lease(cluster.session_seconds)
        self._consumer: Any = None
        self._assignor = CooperativeStickyAssignor()
        self._fed: dict[int, Ownership] = {}
        self._measured = time.monotonic()
        self._leaving = threading.Event()
        self._thread = threading.Thread(target=self._run, name="kafka-consumer", daemon=True)

    def start(self) -> None:
        """Begin to join."""
        self._thread.start()

    def leave(self) -> None:
        """Leave the group and wait for the thread to end."""
        self._leaving.set()
        self._thread.join()

    def metadata(self) -> ConsumerGroupMetadata:
        """What the group last confirmed of us."""
        consumer = self._consumer
        return ConsumerGroupMetadata() if consumer is None else consumer.group_metadata()

    def _run(self) -> None:
        while not self._leaving.is_set():
            try:
                self._join()
                while not self._leaving.is_set():
                    self._poll()
            except (KafkaError, OSError, TimeoutError) as error:
                self._note_trouble(in_words(error))
            except Exception as error:  # noqa: BLE001 - whatever it is, its reader must hear of it
                self._deliveries.put(error)
                self._leaving.set()
            finally:
                self._part()
            self._leaving.wait(RETRY_SECONDS)

    def _note_trouble(self, detail: str) -> None:
        if self.trouble != detail:
            self._observer.troubled(detail)
        self.trouble = detail

    def _join(self) -> None:
        found = within(ADMIN_SECONDS, partial(topics.problems, self._cluster))
        if found:
            raise KafkaError("; ".join(map(str, found)))
        session, heartbeat = self._cluster.session_seconds, self._cluster.heartbeat_seconds
        self.forget()
        self._consumer = self._cluster.consumer(
            group_id=self._cluster.group,
            partition_assignment_strategy=[self._assignor],
            isolation_level="read_committed",
            session_timeout_ms=int(session * 1000),
            heartbeat_interval_ms=int(min(heartbeat, session / HEARTBEATS) * 1000),
            max_poll_interval_ms=int(max(REBALANCE_SECONDS, 3 * session) * 1000),
            max_poll_records=100_000,
            max_partition_fetch_bytes=FETCH_BYTES,
        )
        topic = self._cluster.topics.versions
        self._consumer.subscribe([topic], listener=_Rebalances(self))
        within(ADMIN_SECONDS, partial(self._consumer.partitions_for_topic, topic))
        self.trouble = None

    def _part(self) -> None:
        consumer, self._consumer = self._consumer, None
        if consumer is not None:
            close_consumer(consumer)
        for owned in list(self.owned.values()):
            owned.lose()
        self.owned.clear()
        self._fed.clear()

    def _poll(self) -> None:
        self._steer()
        polled = self._consumer.poll(timeout_ms=POLL_MS)
        heartbeat = self._consumer._coordinator.heartbeat  # noqa: SLF001 - told nowhere else
        sent = heartbeat.last_send
        self._lease.note(sent=sent, received=heartbeat.last_receive)
        for place, records in polled.items():
            self._deliver(place, records)
        if time.monotonic() - self._measured > LAG_SECONDS:
            self._measured = time.monotonic()
            self._measure()

    def _deliver(self, place: TopicPartition, records: Sequence[Any]) -> None:
        fed = self._fed.get(place.partition)
        if fed is not None and not fed.is_lost:
            for record in records:
                self._deliveries.put(_record(record))
            return
        # Too early, or of an ownership that has ended: if it is ours again, it is read again.
        with contextlib.suppress(ValueError):
            self._consumer.seek(place, records[0].offset)

    def _steer(self) -> None:
        """Let records of those partitions come that have been taken over and have room."""
        for number, ownership in list(self.owned.items()):
            place = TopicPartition(self._cluster.topics.versions, number)
            waiting = self._deliveries.records(number)
            # One that the group has taken away in the meantime is paused no more.
            with contextlib.suppress(KeyError, KafkaError):
                if not ownership.is_restored or waiting >= READ_AHEAD:
                    self._consumer.pause(place)
                elif waiting < READ_AHEAD // 2:
                    self._fed[number] = ownership
                    self._consumer.resume(place)

    def _measure(self) -> None:
        owned = {number: it for number, it in list(self.owned.items()) if it.is_restored}
        places = [TopicPartition(self._cluster.topics.versions, number) for number in owned]
        if not places:
            return
        with contextlib.suppress(KafkaError):  # the next measurement is soon enough
            ends = self._consumer.end_offsets(places, timeout_ms=1000)
            for place, end in ends.items():
                self._observer.lagging(
                    place.partition, max(0, end - owned[place.partition].settled)
                )

    def gain(self, places: Iterable[TopicPartition]) -> None:
        """Take partitions over; in the client's thread, so without waiting."""
        self._consumer.pause(*places)
        for place in places:
            gained = Ownership(
                self._cluster,
                place.partition,
                group=Group(lease=self._lease, metadata=self.metadata),
                listener=self._listener,
            )
            self.owned[place.partition] = gained
            gained.start()

    def lose(self, places: Iterable[TopicPartition]) -> None:
        """Give partitions up; in the client's thread, so without waiting."""
        for place in places:
            lost = self.owned.pop(place.partition, None)
            if lost is not None:
                lost.lose()

    def forget(self) -> None:
        """Claim nothing of what was ours when we join anew."""
        self._assignor.member_assignment = None


class _Rebalances(ConsumerRebalanceListener):  # type: ignore[misc]
    """What the group decides; called in the client's thread, which nothing here may block."""

    def __init__(self, membership: Membership) -> None:
        self._membership = membership

    def on_partitions_assigned(self, assigned: Iterable[TopicPartition]) -> None:
        self._membership.gain(assigned)

    def on_partitions_revoked(self, revoked: Iterable[TopicPartition]) -> None:
        self._membership.lose(revoked)

    def on_partitions_lost(self, lost: Iterable[TopicPartition]) -> None:
        self._membership.forget()
        self._membership.lose(lost)


def _record(record: Any) -> Record:  # noqa: ANN401 - the client has no types
    return Record(
        topic=record.topic,
        partition=record.partition,
        offset=record.offset,
        key=record.key,
        value=record.value or b"",
        headers=tuple((name, value or b"") for name, value in record.headers),
    )
