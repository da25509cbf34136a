import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from monitor.adapters.embedded import records, schema
from monitor.domain.errors import StateCorrupt
from monitor.ports import Message
from monitor.settings import TopicSettings

PATH = Path("state.sqlite3")
INDEX = (("evaluation_id", b"e"), ("variant", b"chat"), ("suite", b"math"))


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as opened:
        schema.create_tables(opened)
        opened.execute("INSERT INTO partitions (partition) VALUES (1), (2)")
        yield opened


def message(topic: str, *headers: tuple[str, bytes]) -> Message:
    return Message(topic=topic, key=b"chat", value=b"v", headers=headers)


def test_partitions_of_keys_are_the_same_for_ever() -> None:
    keys = (None, b"", b"chat", b"mail", b"search")
    assert [records.partition_of(key, 3) for key in keys] == [0, 0, 1, 0, 2]


def test_only_requests_are_spread_over_partitions(connection: sqlite3.Connection) -> None:
    topics = TopicSettings(versions="requests")
    places = [
        records.append(connection, message(topic), topics)
        for topic in ("requests", "requests", "notes", "model-versions", "notes")
    ]
    assert places == [(1, 0), (1, 1), (0, 0), (0, 0), (0, 1)]


@pytest.mark.parametrize("missing", range(len(INDEX)))
@pytest.mark.parametrize("topic", ["model-evaluations", "model-outcomes"])
def test_a_result_that_nobody_would_find_is_refused(
    connection: sqlite3.Connection, topic: str, missing: int
) -> None:
    headers = INDEX[:missing] + INDEX[missing + 1 :]
    with pytest.raises(ValueError, match=f"to {topic} lacks the header {INDEX[missing][0]}"):
        records.append(connection, message(topic, *headers), records.DEFAULT_TOPICS)


@pytest.mark.parametrize("headers", ["", "{", "[1]", '[["a"]]', '[["a", "xyz"]]', "null"])
def test_headers_that_cannot_be_read_are_placed(headers: str) -> None:
    with pytest.raises(StateCorrupt, match=r"state\.sqlite3: headers of t, partition 1, offset 7"):
        records.decode(("t", 1, 7, None, b"", headers), PATH)
