import asyncio
import os
import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from monitor.adapters.embedded import schema, state
from monitor.adapters.embedded.state import Access, State
from monitor.domain.errors import StateCorrupt, StateError, StateLocked


def one(connection: sqlite3.Connection) -> int:
    (value,) = connection.execute("SELECT 1").fetchone()
    return int(value)


async def open_and_close(directory: Path) -> None:
    await (await State.open(directory, Access.APPEND)).close()


def pragma(name: str, connection: sqlite3.Connection) -> str | int:
    (value,) = connection.execute(f"PRAGMA {name}").fetchone()
    assert isinstance(value, str | int)
    return value


def break_off(connection: sqlite3.Connection) -> None:
    connection.execute("SELECT * FROM nowhere")


@pytest.mark.parametrize("access", [Access.CONSUME, Access.APPEND])
async def test_writers_make_what_is_missing(tmp_path: Path, access: Access) -> None:
    opened = await State.open(tmp_path / "a" / "b c%41?", access)
    assert await opened.run(one) == 1
    await opened.close()
    assert (tmp_path / "a" / "b c%41?" / "state.sqlite3").exists()


async def test_many_may_make_what_is_missing_at_once(tmp_path: Path) -> None:
    for attempt in range(5):
        async with asyncio.TaskGroup() as group:
            for _ in range(8):
                group.create_task(open_and_close(tmp_path / str(attempt)))


async def test_a_reader_makes_nothing(tmp_path: Path) -> None:
    with pytest.raises(StateError, match="there is no state; check the name"):
        await State.open(tmp_path / "typo", Access.READ)
    assert os.listdir(tmp_path) == []  # noqa: PTH208 - pathlib's is not for coroutines


async def test_what_is_acknowledged_is_on_the_disk(tmp_path: Path) -> None:
    opened = await State.open(tmp_path, Access.APPEND)
    assert await opened.run(partial(pragma, "journal_mode")) == "wal"
    assert await opened.run(partial(pragma, "synchronous")) == 2
    assert await opened.run(partial(pragma, "foreign_keys")) == 1
    await opened.close()


async def test_a_reader_cannot_write(tmp_path: Path) -> None:
    await (await State.open(tmp_path, Access.APPEND)).close()
    opened = await State.open(tmp_path, Access.READ)
    with pytest.raises(StateError, match=r"readonly database \(check that this user may"):
        await opened.run(lambda connection: connection.execute("DELETE FROM partitions"))
    await opened.close()


async def test_there_is_one_consumer(tmp_path: Path) -> None:
    first = await State.open(tmp_path, Access.CONSUME)
    with pytest.raises(StateLocked):
        await State.open(tmp_path, Access.CONSUME)
    await first.close()
    await (await State.open(tmp_path, Access.CONSUME)).close()


@pytest.mark.parametrize("access", Access)
@pytest.mark.parametrize(
    "content", [b"no database at all", b"SQLite format 3\x00" + b"\xff" * 4096]
)
async def test_a_damaged_file_is_named_and_left_alone(
    tmp_path: Path, access: Access, content: bytes
) -> None:
    path = tmp_path / "state.sqlite3"
    path.write_bytes(content)
    with pytest.raises(StateCorrupt, match=rf"{path}: damaged or no SQLite database"):
        await State.open(tmp_path, access)
    assert path.read_bytes() == content


async def test_a_file_that_fails_to_open_holds_no_lock(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite3"
    path.write_bytes(b"no database at all")
    with pytest.raises(StateCorrupt):
        await State.open(tmp_path, Access.CONSUME)
    path.unlink()
    await (await State.open(tmp_path, Access.CONSUME)).close()


async def test_damage_found_later_is_named_too(tmp_path: Path) -> None:
    await (await State.open(tmp_path, Access.APPEND)).close()
    path = tmp_path / "state.sqlite3"
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))
    opened = await State.open(tmp_path, Access.READ)
    with pytest.raises(StateCorrupt, match=rf"{path}: damaged"):
        await opened.run(lambda connection: connection.execute("SELECT * FROM records").fetchall())
    await opened.close()


async def test_a_file_in_place_of_the_directory_is_named(tmp_path: Path) -> None:
    place = tmp_path / "state"
    place.touch()
    with pytest.raises(StateError, match=rf"{place}: File exists; check the state directory"):
        await State.open(place, Access.CONSUME)


async def test_an_older_state_is_migrated_by_its_consumer_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await (await State.open(tmp_path, Access.APPEND)).close()
    monkeypatch.setattr(schema, "require_latest", partial(schema.require_latest, latest=2))
    for access in (Access.APPEND, Access.READ):
        with pytest.raises(StateError, match="start this program's daemon"):
            await State.open(tmp_path, access)


async def test_waiting_for_another_writer_has_an_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state, "BUSY_SECONDS", 0.01)
    opened = await State.open(tmp_path, Access.APPEND)
    with closing(sqlite3.connect(opened.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StateError, match=r"database is locked \(another process"):
            await opened.run(lambda connection: connection.execute("BEGIN IMMEDIATE"))
    await opened.close()


async def test_an_error_of_sqlite_names_the_file(tmp_path: Path) -> None:
    opened = await State.open(tmp_path, Access.APPEND)
    with pytest.raises(StateError, match=rf"{opened.path}: no such table: nowhere"):
        await opened.run(break_off)
    assert await opened.run(one) == 1
    await opened.close()


async def test_nothing_is_done_after_closing(tmp_path: Path) -> None:
    opened = await State.open(tmp_path, Access.APPEND)
    await opened.close()
    await opened.close()
    with pytest.raises(StateError, match="already closed"):
        await opened.run(one)
