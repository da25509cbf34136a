"""What goes over the wire: journal rows and messages as records, checked before they are sent.

A commit is merged with others into one transaction, so whatever can be wrong with it must be
found while it is still alone.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kafka.record.default_records import DefaultRecordBatchBuilder

from monitor.adapters.kafka.clients import MAX_REQUEST_BYTES, Cluster
from monitor.domain.errors import StateCorrupt
from monitor.domain.identifiers import EvaluationId
from monitor.ports import Commit, Entry, Message

# Has no slash, so it is the key of no row. Its value names the last transaction with messages.
MARKER = b"transaction"
OUTCOMES_AT = "outcomes_at"
"""Header of a result: partition and offset of each of its outcomes records."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """One record to be sent; without a partition the key chooses."""

    topic: str
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...] = ()
    partition: int | None = None

    @property
    def size(self) -> int:
        """Bytes it takes in a request, at most."""
        size: int = DefaultRecordBatchBuilder.estimate_size_in_bytes(
            self.key, self.value, list(self.headers)
        )
        return size


@dataclass(frozen=True, slots=True, kw_only=True)
class Writing:
    """A commit as records.

    results: sent after the others have their offsets, each with the indices of its outcomes.
    """

    records: tuple[Outgoing, ...]
    results: tuple[tuple[Outgoing, tuple[int, ...]], ...] = ()
    settled: int | None = None
    size: int = field(default=0)

    @property
    def is_repeatable(self) -> bool:
        """Whether writing it twice leaves what writing it once does."""
        return not self.results and all(record.partition is not None for record in self.records)


def key_of(entry: Entry) -> bytes:
    """Key of a journal row."""
    return f"{entry.evaluation_id}/{entry.sequence}".encode()


def prepare(commit: Commit, cluster: Cluster) -> Writing:
    """Turn a commit into records.

    Raises:
        ValueError: a record cannot be sent: a name is not Unicode, or it is too large.
    """
    entries = [
        Outgoing(
            topic=cluster.journal,
            partition=commit.partition,
            key=key_of(entry),
            value=entry.value,
        )
        for entry in commit.entries
    ]
    messages = [outgoing(message) for message in commit.messages]
    size = sum(_checked_size(record) for record in (*entries, *messages))
    results = [each for each in messages if each.topic == cluster.topics.evaluations]
    records = (*entries, *(each for each in messages if each not in results))
    return Writing(
        records=records,
        results=tuple((each, _outcomes_of(each, records, cluster)) for each in results),
        settled=commit.settled,
        size=size,
    )


def outgoing(message: Message) -> Outgoing:
    """A message as a record."""
    return Outgoing(
        topic=message.topic, key=message.key, value=message.value, headers=message.headers
    )


def _checked_size(record: Outgoing) -> int:
    if record.size > MAX_REQUEST_BYTES:
        raise ValueError(
            f"a record to {record.topic} has {record.size} bytes, more than the"
            f" {MAX_REQUEST_BYTES} that are sent"
        )
    return record.size


def _outcomes_of(
    result: Outgoing, records: Iterable[Outgoing], cluster: Cluster
) -> tuple[int, ...]:
    """Indices of the outcomes records that belong to a result, by the evaluation they name."""
    name = dict(result.headers).get("evaluation_id")
    return tuple(
        index
        for index, record in enumerate(records)
        if record.topic == cluster.topics.outcomes
        and dict(record.headers).get("evaluation_id") == name
    )


def send(producer: Any, record: Outgoing) -> Any:  # noqa: ANN401 - the client has no types
    """Hand a record to a producer; returns the future of its place."""
    return producer.send(
        record.topic,
        value=record.value,
        key=record.key,
        headers=list(record.headers),
        partition=record.partition,
    )


def place(future: Any, *, seconds: float) -> tuple[int, int]:  # noqa: ANN401 - as above
    """Partition and offset of a record that was sent.

    Raises:
        KafkaError: it was not appended, or not in time.
    """
    sent = future.get(timeout=seconds)
    return sent.partition, sent.offset


def with_places(result: Outgoing, places: Iterable[tuple[int, int]]) -> Outgoing:
    """A result that says at which partition and offset each of its outcomes records is."""
    text = ",".join(f"{partition}:{offset}" for partition, offset in places)
    if not text:
        return result
    return Outgoing(
        topic=result.topic,
        key=result.key,
        value=result.value,
        headers=(*result.headers, (OUTCOMES_AT, text.encode())),
    )


def places_of(headers: Mapping[str, bytes]) -> list[tuple[int, int]]:
    """Partition and offset of each outcomes record of a result, by the headers of the result."""
    written = headers.get(OUTCOMES_AT, b"").decode()
    pairs = (place.split(":") for place in written.split(",") if place)
    return [(int(partition), int(offset)) for partition, offset in pairs]


def entry_of(record: Any) -> Entry:  # noqa: ANN401 - the client has no types
    """A journal row from its record.

    Raises:
        StateCorrupt: the record is none that this program writes.
    """
    try:
        evaluation_id, _, sequence = (record.key or b"").decode().rpartition("/")
        return Entry(
            evaluation_id=EvaluationId(evaluation_id), sequence=int(sequence), value=record.value
        )
    except ValueError as error:
        raise StateCorrupt(
            f"topic {record.topic}, partition {record.partition}, offset {record.offset}:"
            " not a row of this program's journal; give the journal a topic of its own"
        ) from error
