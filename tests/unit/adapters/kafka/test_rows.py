from types import SimpleNamespace

import pytest

from monitor.adapters.kafka import rows
from monitor.adapters.kafka.clients import MAX_REQUEST_BYTES
from monitor.domain.errors import StateCorrupt
from monitor.ports import Entry, Message
from tests.unit.adapters.kafka.examples import CLUSTER, commit, entry, message

RESULTS, OUTCOMES = CLUSTER.topics.evaluations, CLUSTER.topics.outcomes


def read_back(key: bytes | None, value: bytes | None = b"row") -> Entry:
    place = {"topic": "journal", "partition": 3, "offset": 8}
    return rows.entry_of(SimpleNamespace(key=key, value=value, **place))


@pytest.mark.parametrize("written", [entry(0), entry(12, b""), entry(3, None)])
def test_a_row_is_read_as_it_was_written(written: Entry) -> None:
    assert read_back(rows.key_of(written), written.value) == written


@pytest.mark.parametrize("key", [None, b"", b"a", b"a/b", b"\xff/1", rows.MARKER])
def test_what_is_no_row_is_named_with_its_place(key: bytes | None) -> None:
    with pytest.raises(StateCorrupt, match="topic journal, partition 3, offset 8: not a row"):
        read_back(key)


def test_rows_go_to_the_partition_of_their_event() -> None:
    writing = rows.prepare(commit(entry(0), entry(1, None)), CLUSTER)
    assert [(each.topic, each.partition, each.value) for each in writing.records] == [
        ("journal", 3, b"row"),
        ("journal", 3, None),
    ]
    assert writing.is_repeatable


def test_messages_must_not_be_written_twice() -> None:
    assert not rows.prepare(commit(messages=(message("notes"),)), CLUSTER).is_repeatable
    assert not rows.prepare(commit(messages=(message(RESULTS),)), CLUSTER).is_repeatable


def test_a_result_knows_the_outcomes_of_its_own_evaluation() -> None:
    messages = (
        message(RESULTS, evaluation="a"),
        message(OUTCOMES, evaluation="a"),
        message(OUTCOMES, evaluation="b"),
        message(OUTCOMES, evaluation="a"),
    )
    writing = rows.prepare(commit(entry(0), messages=messages), CLUSTER)
    ((result, indices),) = writing.results
    assert result.topic == RESULTS
    assert indices == (1, 3)
    assert {writing.records[index].topic for index in indices} == {OUTCOMES}


def test_places_are_read_as_they_were_written() -> None:
    result = rows.outgoing(message(RESULTS))
    placed = rows.with_places(result, [(0, 17), (12, 0)])
    assert rows.places_of(dict(placed.headers)) == [(0, 17), (12, 0)]
    assert rows.with_places(result, []) == result
    assert rows.places_of({}) == []


def test_a_record_that_is_too_large_is_refused_alone() -> None:
    with pytest.raises(ValueError, match=f"a record to notes has .* than the {MAX_REQUEST_BYTES}"):
        rows.prepare(commit(messages=(message("notes", value=b"v" * MAX_REQUEST_BYTES),)), CLUSTER)


def test_a_name_that_is_not_unicode_is_refused() -> None:
    broken = Message(topic="notes", key=None, value=b"", headers=(("\ud800", b""),))
    with pytest.raises(ValueError, match="surrogates not allowed"):
        rows.prepare(commit(messages=(broken,)), CLUSTER)
