"""Records of every topic in one table: how they are appended and read back."""

import json
import sqlite3
import zlib
from pathlib import Path
from typing import Any

from monitor.domain.errors import StateCorrupt
from monitor.ports import Message, Record
from monitor.settings import TopicSettings

DEFAULT_TOPICS = TopicSettings()

INDEXED = ("evaluation_id", "variant", "suite")

NEXT_OFFSET = "SELECT coalesce(max(offset) + 1, 0) FROM records WHERE topic = ? AND partition = ?"
INSERT = """
    INSERT INTO records
        (topic, partition, offset, key, headers, value,
         evaluation_id, variant, suite, part)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""


def partition_of(key: bytes | None, partitions: int) -> int:
    """Partition of a request: CRC-32 of its key modulo their number, 0 without a key."""
    return zlib.crc32(key) % partitions if key is not None else 0


def append(
    connection: sqlite3.Connection, message: Message, topics: TopicSettings
) -> tuple[int, int]:
    """Append a message to its topic inside the transaction under way.

    Only the request topic has several partitions.

    Returns:
        Partition and offset.

    Raises:
        ValueError: text that is not Unicode, or a result without a header it is found by.
    """
    partition = 0
    if message.topic == topics.versions:
        (partitions,) = connection.execute("SELECT count(*) FROM partitions").fetchone()
        partition = partition_of(message.key, partitions)
    (offset,) = connection.execute(NEXT_OFFSET, (message.topic, partition)).fetchone()
    headers = json.dumps(
        [(name, value.hex()) for name, value in message.headers], ensure_ascii=False
    )
    record = (message.topic, partition, offset, message.key, headers, message.value)
    connection.execute(INSERT, record + _index(message, topics))
    return partition, offset


def _index(message: Message, topics: TopicSettings) -> tuple[str | int | None, ...]:
    """Values that the archive looks a message up by."""
    if message.topic not in {topics.evaluations, topics.outcomes}:
        return (None,) * (len(INDEXED) + 1)
    headers = dict(message.headers)
    if missing := [name for name in INDEXED if name not in headers]:
        raise ValueError(f"message to {message.topic} lacks the header {missing[0]}")
    return (*(headers[name].decode() for name in INDEXED), int(headers.get("part", b"0")))


def decode(row: tuple[Any, ...], path: Path) -> Record:
    """A record from its columns topic, partition, offset, key, value, headers.

    Raises:
        StateCorrupt: the headers are not as `append` writes them.
    """
    topic, partition, offset, key, value, headers = row
    try:
        pairs = tuple((str(name), bytes.fromhex(hexed)) for name, hexed in json.loads(headers))
    except (TypeError, ValueError) as error:
        raise StateCorrupt(
            f"{path}: headers of {topic}, partition {partition}, offset {offset} cannot be read"
            f" ({error}); restore the file from a backup"
        ) from error
    return Record(
        topic=topic, partition=partition, offset=offset, key=key, value=value, headers=pairs
    )
