import asyncio
import sqlite3
import threading
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from monitor.adapters.embedded import bus, records
from monitor.adapters.embedded.bus import SqliteBus
from monitor.adapters.embedded.state import Access, State
from monitor.adapters.embedded.submission import SqliteSubmission
from monitor.domain.errors import StateCorrupt, StateLocked
from monitor.ports import Assigned, Message, Record
from monitor.settings import TopicSettings


async def partitions_of(directory: Path, asked: int) -> list[int]:
    """Partitions that a bus which asks for so many is given."""
    state = await State.open(directory, Access.CONSUME)
    claims = await state.run(partial(bus.claim, asked))
    await state.close()
    return list(claims)


async def submit(directory: Path, message: Message, topics: TopicSettings) -> None:
    submission = await SqliteSubmission.open(directory, topics=topics)
    await submission.submit(message)
    await submission.close()


async def test_a_second_bus_is_told_who_has_the_state(tmp_path: Path) -> None:
    first = await SqliteBus.open(tmp_path)
    with pytest.raises(StateLocked, match=rf"{tmp_path}: in use by process \d+"):
        await SqliteBus.open(tmp_path)
    await first.close()


async def test_partitions_are_added_and_never_taken_away(tmp_path: Path) -> None:
    assert [await partitions_of(tmp_path, asked) for asked in (1, 3, 2)] == [
        [0],
        [0, 1, 2],
        [0, 1, 2],
    ]


async def test_each_claim_has_an_epoch_of_its_own(tmp_path: Path) -> None:
    state = await State.open(tmp_path, Access.CONSUME)
    epochs = [(await state.run(partial(bus.claim, 1)))[0].epoch for _ in range(3)]
    await state.close()
    assert epochs == [1, 2, 3]


async def test_requests_come_from_the_topic_that_is_named(tmp_path: Path) -> None:
    topics = TopicSettings(versions="versions-of-mine")
    opened = await SqliteBus.open(tmp_path, topics=topics)
    for topic in ("model-versions", "versions-of-mine"):
        await submit(tmp_path, Message(topic=topic, key=None, value=topic.encode()), topics)
    assert isinstance(await opened.receive(), Assigned)
    record = await opened.receive()
    assert isinstance(record, Record)
    assert record.value == b"versions-of-mine"
    await opened.close()


async def test_a_large_value_is_kept_whole(tmp_path: Path) -> None:
    opened = await SqliteBus.open(tmp_path)
    message = Message(topic="model-versions", key=None, value=bytes(range(256)) * 40_000)
    await submit(tmp_path, message, TopicSettings())
    await opened.receive()
    record = await opened.receive()
    assert isinstance(record, Record)
    assert record.value == message.value
    await opened.close()


async def test_records_are_read_ahead_within_bounds(tmp_path: Path) -> None:
    opened = await SqliteBus.open(tmp_path)
    submission = await SqliteSubmission.open(tmp_path)
    for _ in range(bus.READ_AHEAD + 1):
        await submission.submit(Message(topic="model-versions", key=None, value=b"v"))
    await opened.receive()
    await opened.receive()
    with sqlite3.connect(tmp_path / "state.sqlite3") as connection:
        connection.execute("UPDATE records SET headers = '?'")
    connection.close()
    for _ in range(bus.READ_AHEAD - 1):
        await opened.receive()
    with pytest.raises(StateCorrupt, match=f"offset {bus.READ_AHEAD} cannot be read"):
        await opened.receive()
    await submission.close()
    await opened.close()


async def test_what_was_read_for_a_cancelled_receive_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading, go_on, decode = threading.Event(), threading.Event(), records.decode

    def decode_slowly(row: tuple[Any, ...], path: Path) -> Record:
        reading.set()
        go_on.wait()
        return decode(row, path)

    monkeypatch.setattr(records, "decode", decode_slowly)
    opened = await SqliteBus.open(tmp_path)
    await submit(tmp_path, Message(topic="model-versions", key=None, value=b"v"), TopicSettings())
    await opened.receive()
    waiting = asyncio.create_task(opened.receive())
    await asyncio.to_thread(reading.wait)
    waiting.cancel()
    await asyncio.wait([waiting])
    go_on.set()
    async with asyncio.timeout(30):
        assert isinstance(await opened.receive(), Record)
    await opened.close()
