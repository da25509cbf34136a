"""The reading side: results by evaluation, variant and suite, with their outcomes records.

The results topic is read from its beginning when it is first asked about, and its news before each
answer. Of a result only its place is kept in memory; the result itself, and the outcomes records
whose places it names in a header, are fetched when they are wanted. So what the topics' retention
has deleted is not found any more, and what takes long is only the first question.
"""

import asyncio
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, Self, TypeVar

from kafka.errors import KafkaError, KafkaTimeoutError
from kafka.structs import TopicPartition

from monitor.adapters.kafka import rows
from monitor.adapters.kafka.clients import Cluster, close_consumer, in_words, within
from monitor.domain.errors import StateError
from monitor.domain.identifiers import EvaluationId, SuiteName, VariantName
from monitor.ports import Published

T = TypeVar("T")

OPEN_SECONDS = 15.0
FETCH_SECONDS = 5.0
FETCH_BYTES = 64 * 1024
POLL_MS = 50
RETRY_SECONDS = 1.0


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where a result is; in the order of time."""

    timestamp: int
    partition: int
    offset: int
    evaluation_id: EvaluationId


class KafkaArchive:
    """The `Archive` port on the topics of results and outcomes."""

    def __init__(self, cluster: Cluster, *, patience: float | None) -> None:
        self._cluster = cluster
        self._patience = patience
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="kafka-archive")
        self._closing = threading.Event()
        self._reader: _Reader | None = None

    @classmethod
    async def open(cls, cluster: Cluster, *, patience: float | None = None) -> Self:
        """Prepare to read; the brokers are asked with the first question.

        Args:
            cluster: where.
            patience: seconds for which a question is tried again while the brokers do not
                answer; None tries until they do.
        """
        return cls(cluster, patience=patience)

    async def find(self, evaluation_id: EvaluationId) -> Published | None:
        """The result of one evaluation, None where there is none."""
        found = await self._ask(lambda reader: reader.published(reader.places_of(evaluation_id)))
        return found[-1] if found else None

    async def recent(
        self, variant: VariantName, suite: SuiteName, *, limit: int
    ) -> Sequence[Published]:
        """The newest results of a variant on a suite, newest first, `limit` at most."""

        def newest_first(reader: "_Reader") -> list[Published]:
            places = sorted(reader.by_pair.get((variant, suite), ()), reverse=True)
            return reader.published(places[:limit])

        return await self._ask(newest_first)

    async def newest(self) -> Sequence[Published]:
        """The newest result of every variant on every suite, oldest first."""
        return await self._ask(
            lambda reader: reader.published(sorted(map(max, reader.by_pair.values())))
        )

    async def _ask(self, question: Callable[["_Reader"], list[Published]]) -> list[Published]:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, partial(self._answer, question))

    def _answer(self, question: Callable[["_Reader"], list[Published]]) -> list[Published]:
        """Answer a question, however often the brokers have to be asked.

        Raises:
            StateError: they did not answer for as long as we are patient.
        """
        began = time.monotonic()
        while True:
            try:
                return self._attempt(question)
            except (KafkaError, OSError) as error:
                self._let_go()
                waited = time.monotonic() - began
                impatient = self._patience is not None and waited >= self._patience
                if impatient or self._closing.wait(RETRY_SECONDS):
                    raise StateError(
                        f"topic {self._cluster.topics.evaluations} at {self._cluster.name}:"
                        f" {in_words(error)}"
                    ) from error

    def _attempt(self, question: Callable[["_Reader"], list[Published]]) -> list[Published]:
        if self._reader is None:
            self._reader = within(OPEN_SECONDS, lambda: _Reader(self._cluster))
        self._reader.catch_up()
        return question(self._reader)

    def _let_go(self) -> None:
        reader, self._reader = self._reader, None
        if reader is not None:
            reader.close()

    async def close(self) -> None:
        """Let go of the brokers; a question that waits for them fails."""
        self._closing.set()
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._thread, self._let_go)
        self._thread.shutdown()


class _Reader:
    """Two consumers: one follows the results, one fetches single records."""

    def __init__(self, cluster: Cluster) -> None:
        self.by_pair: defaultdict[tuple[str, str], list[Place]] = defaultdict(list)
        self._by_evaluation: dict[str, Place] = {}
        self._cluster = cluster
        topic = cluster.topics.evaluations
        self._follower = cluster.consumer(
            isolation_level="read_committed", fetch_max_wait_ms=POLL_MS, retry_backoff_ms=20
        )
        self._fetcher = cluster.consumer(
            max_partition_fetch_bytes=FETCH_BYTES, fetch_max_wait_ms=POLL_MS, retry_backoff_ms=20
        )
        self._parts = [
            TopicPartition(topic, number) for number in self._follower.partitions_for_topic(topic)
        ]
        if not self._parts:
            self.close()
            raise KafkaTimeoutError("the topic does not exist")
        self._follower.assign(self._parts)
        self._follower.seek_to_beginning()

    def catch_up(self) -> None:
        """Read the results that have come since; those of transactions under way come later."""
        deadline = time.monotonic() + FETCH_SECONDS
        timeout = int(FETCH_SECONDS * 1000)
        # The other consumer knows the end of all records, not only of those before the first
        # transaction that is still open.
        ends = self._fetcher.end_offsets(self._parts, timeout_ms=timeout)
        while any(
            (self._follower.position(part, timeout_ms=timeout) or 0) < ends[part]
            for part in self._parts
        ):
            polled = self._follower.poll(timeout_ms=POLL_MS)
            for record in (each for records in polled.values() for each in records):
                self._enter(record)
            if polled:
                deadline = time.monotonic() + FETCH_SECONDS
            elif time.monotonic() > deadline:
                return

    def _enter(self, record: Any) -> None:  # noqa: ANN401 - the client has no types
        headers = dict(record.headers)
        names = [headers.get(name) for name in ("evaluation_id", "variant", "suite")]
        if record.value is None or None in names:
            return  # not a result of ours
        evaluation_id, variant, suite = (name.decode() for name in names if name is not None)
        place = Place(
            record.timestamp, record.partition, record.offset, EvaluationId(evaluation_id)
        )
        self._by_evaluation[evaluation_id] = place
        self.by_pair[variant, suite].append(place)

    def places_of(self, evaluation_id: EvaluationId) -> list[Place]:
        """Where the last result of an evaluation is."""
        place = self._by_evaluation.get(evaluation_id)
        return [] if place is None else [place]

    def published(self, places: Iterable[Place]) -> list[Published]:
        """The results at some places, without those that the topic has forgotten."""
        topic = self._cluster.topics.evaluations
        found = ((place, self._fetch(topic, place.partition, place.offset)) for place in places)
        return [
            Published(
                evaluation_id=place.evaluation_id,
                result=record.value,
                outcomes=self._outcomes(place.evaluation_id, dict(record.headers)),
            )
            for place, record in found
            if record is not None
        ]

    def _outcomes(self, evaluation_id: str, headers: dict[str, bytes]) -> tuple[bytes, ...]:
        """The outcomes records that a result names, in order; none where one of them is gone."""
        parts: dict[int, bytes] = {}
        places = rows.places_of(headers)
        for partition, offset in places:
            record = self._fetch(self._cluster.topics.outcomes, partition, offset)
            found = {} if record is None else dict(record.headers)
            if found.get("evaluation_id") == evaluation_id.encode():
                parts[int(found.get("part", b"0"))] = record.value
        return tuple(parts[number] for number in sorted(parts)) if len(parts) == len(places) else ()

    def _fetch(self, topic: str, partition: int, offset: int) -> Any:  # noqa: ANN401 - as above
        """One record, None where the topic has forgotten it.

        Raises:
            KafkaError: the brokers did not answer in time.
        """
        place = TopicPartition(topic, partition)
        self._fetcher.assign([place])
        self._fetcher.seek(place, offset)
        deadline = time.monotonic() + FETCH_SECONDS
        while time.monotonic() < deadline:
            for record in self._fetcher.poll(timeout_ms=POLL_MS).get(place, ()):
                if record.offset >= offset:
                    return record if record.offset == offset else None
            # Below what is left of the topic, the client goes on from there.
            if (self._fetcher.position(place, timeout_ms=1000) or 0) > offset:
                return None
        raise KafkaTimeoutError(f"{topic}-{partition} at offset {offset} could not be read")

    def close(self) -> None:
        """Let go of the brokers."""
        close_consumer(self._follower)
        close_consumer(self._fetcher)
