"""One transaction, checked: the client's own `commit_transaction` returns from one that was lost.

Seen with kafka-python 3.0.12: a transaction that the broker gave up, or a record that expired
while the commit waited, still commits without an error. So every record's future is asked first.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from kafka import errors
from kafka.structs import ConsumerGroupMetadata, OffsetAndMetadata, TopicPartition

from monitor.adapters.kafka import rows
from monitor.adapters.kafka.clients import Cluster, within
from monitor.adapters.kafka.rows import Outgoing, Writing

DEADLINE_SECONDS = 8.0
FLUSH_SECONDS = 7.0
TIMEOUT_MS = 10_000  # the brokers give up a transaction whose owner has died

# What the record itself is to blame for: no new attempt can succeed.
REFUSALS = (
    errors.MessageSizeTooLargeError,
    errors.RecordListTooLargeError,
    errors.InvalidRecordError,
    errors.InvalidTopicError,
    errors.PolicyViolationError,
    errors.TopicAuthorizationFailedError,
)


@dataclass(frozen=True, slots=True)
class Committed:
    """It is durable and visible."""


@dataclass(frozen=True, slots=True)
class Outdated:
    """Nothing was written: the group has met anew since its word was taken. Try again."""


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing was written, and never will be."""

    error: Exception


@dataclass(frozen=True, slots=True)
class Unknown:
    """It may have been written or not; the producer is of no more use."""

    error: Exception


Outcome = Committed | Outdated | Refused | Unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """What one transaction writes.

    offset: to be settled, None to leave it; marker: what to name the transaction in the journal.
    """

    partition: int
    writings: Sequence[Writing]
    offset: int | None = None
    marker: bytes | None = None


def open_producer(cluster: Cluster, partition: int) -> Any:  # noqa: ANN401 - the client has no types
    """The one producer of a partition; `init_transactions` has yet to be called."""
    return cluster.producer(
        transactional_id=f"{cluster.group}-{cluster.topics.versions}-{partition}",
        transaction_timeout_ms=TIMEOUT_MS,
    )


def write(
    producer: Any,  # noqa: ANN401 - the client has no types
    contents: Contents,
    cluster: Cluster,
    metadata: Callable[[], ConsumerGroupMetadata],
) -> Outcome:
    """Write everything in one transaction and say what came of it, within two deadlines.

    Args:
        producer: whose transactions have been initialised.
        contents: what to write.
        cluster: for the names of the topics.
        metadata: the group's latest word on our membership, asked for at the last moment.
    """
    try:
        within(DEADLINE_SECONDS, lambda: _write(producer, contents, cluster, metadata))
    except errors.CommitFailedError as error:
        return _given_up(producer, Outdated(), error)
    except REFUSALS as error:
        return _given_up(producer, Refused(error), error)
    except Exception as error:  # noqa: BLE001 - whatever it was, the outcome is to be looked up
        return Unknown(error)
    return Committed()


def _write(
    producer: Any,  # noqa: ANN401 - the client has no types
    contents: Contents,
    cluster: Cluster,
    metadata: Callable[[], ConsumerGroupMetadata],
) -> None:
    producer.begin_transaction()
    sent = [[rows.send(producer, each) for each in it.records] for it in contents.writings]
    if contents.marker is not None:
        marker = Outgoing(
            topic=cluster.journal,
            partition=contents.partition,
            key=rows.MARKER,
            value=contents.marker,
        )
        sent.append([rows.send(producer, marker)])
    for writing, futures in zip(contents.writings, sent, strict=False):
        for result, indices in writing.results:
            places = [rows.place(futures[index], seconds=FLUSH_SECONDS) for index in indices]
            sent.append([rows.send(producer, rows.with_places(result, places))])
    if contents.offset is not None:
        request = TopicPartition(cluster.topics.versions, contents.partition)
        offsets = {request: OffsetAndMetadata(contents.offset, "", -1)}
        producer.send_offsets_to_transaction(offsets, _joined(metadata()))
    producer.flush(timeout=FLUSH_SECONDS)
    for futures in sent:
        for future in futures:
            rows.place(future, seconds=FLUSH_SECONDS)
    producer.commit_transaction()


def _joined(metadata: ConsumerGroupMetadata) -> ConsumerGroupMetadata:
    """The metadata, if it is that of a member: the broker would take anything from anybody else."""
    if metadata.generation_id < 0 or not metadata.member_id:
        raise errors.CommitFailedError("not a member of the group at the moment")
    return metadata


def _given_up(
    producer: Any,  # noqa: ANN401 - the client has no types
    outcome: Outcome,
    error: Exception,
) -> Outcome:
    """The outcome, once nothing can come of the transaction any more."""
    try:
        within(DEADLINE_SECONDS, producer.abort_transaction)
    except Exception:  # noqa: BLE001 - the producer is given up instead
        return Unknown(error)
    return outcome
