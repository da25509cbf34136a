from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from kafka import errors
from kafka.structs import ConsumerGroupMetadata

from monitor.adapters.kafka import rows, transactions
from monitor.ports import Commit
from tests.unit.adapters.kafka.examples import CLUSTER, commit, entry, message

MEMBER = ConsumerGroupMetadata("group", 5, "member")
ONE_ROW = commit(entry(0))


class Producer:
    """Notes what it is told; fails where it is told to."""

    def __init__(self, **failures: Exception) -> None:
        self.calls: list[str] = []
        self.sent: list[dict[str, Any]] = []
        self.failures = failures

    def _note(self, call: str) -> None:
        self.calls.append(call)
        if call in self.failures:
            raise self.failures[call]

    def send(self, topic: str, **record: Any) -> SimpleNamespace:  # noqa: ANN401 - as the client's
        self.sent.append(record | {"topic": topic})
        offset = len(self.sent)
        return SimpleNamespace(get=lambda timeout: self._sent(offset, timeout))

    def _sent(self, offset: int, _timeout: float) -> SimpleNamespace:
        self._note("get")
        return SimpleNamespace(partition=0, offset=offset)

    def send_offsets_to_transaction(self, offsets: object, metadata: object) -> None:
        self._note("offsets")
        self.sent.append({"offsets": offsets, "metadata": metadata})

    def flush(self, timeout: float) -> None:
        self._note("flush")
        assert timeout < transactions.DEADLINE_SECONDS

    def __getattr__(self, name: str) -> Callable[[], None]:
        return lambda: self._note(name.removesuffix("_transaction"))


def write(
    producer: Producer,
    metadata: ConsumerGroupMetadata = MEMBER,
    *,
    wanted: Commit = ONE_ROW,
    offset: int | None = None,
    marker: bytes | None = None,
) -> transactions.Outcome:
    contents = transactions.Contents(
        partition=3, writings=[rows.prepare(wanted, CLUSTER)], offset=offset, marker=marker
    )
    return transactions.write(producer, contents, CLUSTER, lambda: metadata)


def test_everything_is_asked_for_before_the_commit() -> None:
    producer = Producer()
    assert write(producer, offset=7) == transactions.Committed()
    assert producer.calls == ["begin", "offsets", "flush", "get", "commit"]
    (place,) = producer.sent[1]["offsets"]
    assert place == (CLUSTER.topics.versions, 3)
    assert producer.sent[1]["metadata"] is MEMBER


def test_a_record_that_was_lost_is_no_commit() -> None:
    producer = Producer(get=errors.KafkaTimeoutError())
    assert write(producer) == transactions.Unknown(errors.KafkaTimeoutError())
    assert "commit" not in producer.calls


FENCED = errors.ProducerFencedError()


@pytest.mark.parametrize("call", ["begin", "flush", "get", "commit", "offsets"])
def test_whatever_else_fails_has_an_unknown_outcome(call: str) -> None:
    producer = Producer(**{call: FENCED})
    assert write(producer, offset=1) == transactions.Unknown(FENCED)
    assert "abort" not in producer.calls


def test_an_outdated_membership_is_aborted_and_tried_again() -> None:
    producer = Producer(offsets=errors.CommitFailedError())
    assert write(producer, offset=1) == transactions.Outdated()
    assert producer.calls[-1] == "abort"


@pytest.mark.parametrize(
    "metadata", [ConsumerGroupMetadata("group"), ConsumerGroupMetadata("group", 5, "")]
)
def test_offsets_go_out_in_the_name_of_a_member_only(metadata: ConsumerGroupMetadata) -> None:
    producer = Producer()
    assert write(producer, metadata, offset=1) == transactions.Outdated()
    assert "offsets" not in producer.calls


def test_a_record_that_is_refused_is_aborted_for_good() -> None:
    refusal = errors.MessageSizeTooLargeError()
    producer = Producer(get=refusal)
    assert write(producer) == transactions.Refused(refusal)
    assert producer.calls[-1] == "abort"


def test_a_refusal_that_cannot_be_aborted_has_an_unknown_outcome() -> None:
    refusal = errors.MessageSizeTooLargeError()
    producer = Producer(get=refusal, abort=FENCED)
    assert write(producer) == transactions.Unknown(refusal)


def test_a_marker_names_the_transaction_in_the_journal() -> None:
    producer = Producer()
    write(producer, marker=b"name")
    marker = producer.sent[-1]
    assert (marker["topic"], marker["partition"]) == ("journal", 3)
    assert (marker["key"], marker["value"]) == (rows.MARKER, b"name")


def test_a_result_is_sent_last_with_the_places_of_its_outcomes() -> None:
    names = CLUSTER.topics
    messages = (message(names.evaluations), message(names.outcomes), message(names.outcomes))
    producer = Producer()
    write(producer, wanted=commit(entry(0), messages=messages))
    topics = [record["topic"] for record in producer.sent]
    assert topics == ["journal", names.outcomes, names.outcomes, names.evaluations]
    assert rows.places_of(dict(producer.sent[-1]["headers"])) == [(0, 2), (0, 3)]
