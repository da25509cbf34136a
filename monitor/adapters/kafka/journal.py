"""Reading one partition of the journal topic to its end, when the partition is taken over."""

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kafka.errors import KafkaTimeoutError
from kafka.structs import TopicPartition

from monitor.adapters.kafka import rows
from monitor.adapters.kafka.clients import Cluster
from monitor.domain.identifiers import EvaluationId
from monitor.ports import Entry

POLL_MS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """What a partition holds.

    settled: the group's offset in the request topic, 0 where it has none.
    marker: name of the last transaction with messages, None where there was none.
    """

    journals: Mapping[EvaluationId, Sequence[Entry]]
    settled: int
    marker: bytes | None
    row_count: int


def read(cluster: Cluster, partition: int, *, seconds: float) -> Restored:
    """Read what the transactions of a partition have left, the last of them included.

    To be called after `init_transactions`, which ends whatever the former owner had begun: only
    then are the end of the log and the committed offset final.

    Raises:
        KafkaError: the brokers did not answer in time.
        StateCorrupt: the topic holds what is not a journal.
    """
    deadline = time.monotonic() + seconds
    place = TopicPartition(cluster.journal, partition)
    # Reading committed records stops at the first open transaction, so the end must be found
    # by other means: as the end of all records, whosever they are.
    with cluster.reading(retry_backoff_ms=20) as every:
        end = every.end_offsets([place], timeout_ms=_milliseconds(deadline))[place]
    options = {"isolation_level": "read_committed", "group_id": cluster.group}
    with cluster.reading(retry_backoff_ms=20, fetch_max_wait_ms=50, **options) as committed:
        requests = TopicPartition(cluster.topics.versions, partition)
        settled = committed.committed(requests, timeout_ms=_milliseconds(deadline))
        committed.assign([place])
        committed.seek_to_beginning(place)
        latest = _latest(committed, place, end=end, deadline=deadline)
    marker = latest.pop(rows.MARKER, None)
    entries = [rows.entry_of(record) for record in latest.values() if record.value is not None]
    return Restored(
        journals=_by_evaluation(entries),
        settled=settled or 0,
        marker=None if marker is None else marker.value,
        row_count=len(entries),
    )


def _latest(
    consumer: Any,  # noqa: ANN401 - the client has no types
    place: TopicPartition,
    *,
    end: int,
    deadline: float,
) -> dict[bytes, Any]:
    """The last record of each key."""
    latest: dict[bytes, Any] = {}
    while (consumer.position(place, timeout_ms=_milliseconds(deadline)) or 0) < end:
        for record in consumer.poll(timeout_ms=POLL_MS).get(place, ()):
            latest[record.key or b""] = record
        if time.monotonic() > deadline:
            raise KafkaTimeoutError(f"{place.topic}-{place.partition} could not be read to its end")
    return latest


def _by_evaluation(entries: Sequence[Entry]) -> Mapping[EvaluationId, Sequence[Entry]]:
    journals: defaultdict[EvaluationId, list[Entry]] = defaultdict(list)
    for entry in sorted(entries, key=lambda entry: (entry.evaluation_id, entry.sequence)):
        journals[entry.evaluation_id].append(entry)
    return dict(journals)


def _milliseconds(deadline: float) -> int:
    return max(1, int((deadline - time.monotonic()) * 1000))
