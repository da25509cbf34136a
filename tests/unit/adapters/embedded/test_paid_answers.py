import asyncio
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from monitor.adapters.embedded.paid_answers import FILE, SqlitePaidAnswers
from monitor.adapters.embedded.state import Access, State
from monitor.domain.errors import StateCorrupt, StateError, StateTooNew
from monitor.domain.identifiers import Digest

A, B = Digest("a" * 64), Digest("b" * 64)


def execute(directory: Path, statement: str) -> None:
    with closing(sqlite3.connect(directory / FILE)) as connection:
        connection.execute(statement)
        connection.commit()


async def kept(directory: Path, *keys: Digest) -> None:
    opened = await SqlitePaidAnswers.open(directory)
    for key in keys:
        await opened.keep(key, key.encode())
    await opened.close()


async def test_answers_survive_reopening(tmp_path: Path) -> None:
    await kept(tmp_path / "a" / "b", A)
    opened = await SqlitePaidAnswers.open(tmp_path / "a" / "b")
    assert await opened.find(A) == A.encode()
    await opened.close()


async def test_others_may_not_read_them(tmp_path: Path) -> None:
    await kept(tmp_path, A)
    assert (tmp_path / FILE).stat().st_mode & 0o077 == 0


async def test_two_processes_share_the_answers(tmp_path: Path) -> None:
    one, two = await SqlitePaidAnswers.open(tmp_path), await SqlitePaidAnswers.open(tmp_path)
    await one.keep(A, b"one")
    await two.keep(B, b"two")
    assert [await two.find(A), await one.find(B)] == [b"one", b"two"]
    await one.close()
    await two.close()


async def test_keeps_at_the_same_time_share_a_transaction(tmp_path: Path) -> None:
    opened = await SqlitePaidAnswers.open(tmp_path)
    begun: list[str] = []
    await opened._state.run(lambda connection: connection.set_trace_callback(begun.append))  # noqa: SLF001 - what SQLite is told
    async with asyncio.TaskGroup() as group:
        for number in range(50):
            group.create_task(opened.keep(Digest(str(number)), b"value"))
    await opened.close()
    assert begun.count("COMMIT") < 10


async def test_a_keep_that_is_cancelled_is_whole(tmp_path: Path) -> None:
    opened = await SqlitePaidAnswers.open(tmp_path)
    go_on = threading.Event()
    # The file is busy, so that nothing is written before the keep is cancelled.
    busy = asyncio.create_task(opened._state.run(lambda _: go_on.wait()))  # noqa: SLF001 - as above
    task = asyncio.create_task(opened.keep(A, b"one"))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    go_on.set()
    await busy
    assert await opened.find(A) == b"one"
    await opened.close()


async def test_a_keep_that_fails_says_so_and_fails_no_later_one(tmp_path: Path) -> None:
    opened = await SqlitePaidAnswers.open(tmp_path)
    execute(tmp_path, "ALTER TABLE paid_answers RENAME TO gone")
    with pytest.raises(StateError, match="no such table"):
        await opened.keep(A, b"one")
    execute(tmp_path, "ALTER TABLE gone RENAME TO paid_answers")
    await opened.keep(B, b"two")
    assert await opened.find(B) == b"two"
    await opened.close()


async def test_what_could_not_be_kept_is_tried_again_at_the_end(tmp_path: Path) -> None:
    opened = await SqlitePaidAnswers.open(tmp_path)
    execute(tmp_path, "ALTER TABLE paid_answers RENAME TO gone")
    with pytest.raises(StateError, match="no such table"):
        await opened.keep(A, b"one")
    execute(tmp_path, "ALTER TABLE gone RENAME TO paid_answers")
    await opened.close()
    again = await SqlitePaidAnswers.open(tmp_path)
    assert await again.find(A) == b"one"
    await again.close()


async def test_what_cannot_be_kept_at_the_end_either_is_told(tmp_path: Path) -> None:
    opened = await SqlitePaidAnswers.open(tmp_path)
    execute(tmp_path, "ALTER TABLE paid_answers RENAME TO gone")
    for lose in (opened.keep(A, b"one"), opened.close()):
        with pytest.raises(StateError, match="no such table"):
            await lose
    with pytest.raises(StateError, match="already closed"):
        await opened.find(A)


async def test_a_damaged_file_is_refused_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"no database at all" * 100)
    with pytest.raises(StateCorrupt, match=f"{FILE}: damaged or no SQLite database.*restore it"):
        await SqlitePaidAnswers.open(tmp_path)


async def test_damage_inside_is_found_when_it_is_read(tmp_path: Path) -> None:
    await kept(tmp_path, A)
    content = bytearray((tmp_path / FILE).read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    (tmp_path / FILE).write_bytes(content)
    opened = await SqlitePaidAnswers.open(tmp_path)
    with pytest.raises(StateCorrupt, match="damaged"):
        await opened.find(A)
    await opened.close()


async def test_a_newer_file_is_left_alone(tmp_path: Path) -> None:
    await kept(tmp_path)
    execute(tmp_path, "PRAGMA user_version = 7")
    with pytest.raises(StateTooNew, match="state version 7"):
        await SqlitePaidAnswers.open(tmp_path)


async def test_a_state_file_under_its_name_is_refused(tmp_path: Path) -> None:
    await (await State.open(tmp_path, Access.APPEND)).close()
    (tmp_path / "state.sqlite3").rename(tmp_path / FILE)
    with pytest.raises(StateCorrupt, match="another program"):
        await SqlitePaidAnswers.open(tmp_path)
