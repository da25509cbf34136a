import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from monitor.adapters.embedded import kept_answers
from monitor.adapters.embedded.kept_answers import FILE, MEGABYTE, SqliteKeptAnswers
from monitor.adapters.embedded.state import Access, State
from monitor.domain.errors import StateCorrupt, StateError, StateTooNew
from monitor.domain.identifiers import ItemId
from tests.contract.test_kept_answers import ANSWER, E1, E2, NOON, answer

CANARY = "canary-0123456789"


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteKeptAnswers]:
    opened = await SqliteKeptAnswers.open(tmp_path, megabytes=1)
    yield opened
    await opened.close()


def rights_of_others(directory: Path) -> set[int]:
    return {path.stat().st_mode & 0o077 for path in directory.glob(f"{FILE}*")}


def bytes_in(directory: Path) -> bytes:
    """Everything in the files of the store."""
    return b"".join(path.read_bytes() for path in directory.glob(f"{FILE}*"))


async def test_answers_survive_reopening(tmp_path: Path) -> None:
    first = await SqliteKeptAnswers.open(tmp_path / "a" / "b", megabytes=1)
    await first.keep(ANSWER)
    await first.close()
    second = await SqliteKeptAnswers.look(tmp_path / "a" / "b")
    assert await second.find(E1) == [ANSWER]
    await second.close()


async def test_others_may_not_read_them(store: SqliteKeptAnswers, tmp_path: Path) -> None:
    await store.keep(ANSWER)
    assert rights_of_others(tmp_path) == {0}


@pytest.mark.parametrize("by", ["age", "evaluation"])
async def test_what_is_deleted_is_in_no_file(
    by: str, store: SqliteKeptAnswers, tmp_path: Path
) -> None:
    """Long texts and short ones, that have pages of their own or share them with what stays."""
    await store.keep(answer("stays", evaluation_id=E2, at=NOON + timedelta(hours=2)))
    for number in range(30):
        await store.keep(answer(str(number), text=f"{CANARY} {number} " * (1 + 40 * number)))
    assert CANARY.encode() in bytes_in(tmp_path)
    if by == "age":
        await store.purge(NOON + timedelta(hours=1))
    else:
        assert await store.delete(E1) == 30
    assert CANARY.encode() not in bytes_in(tmp_path)
    assert len(await store.find(E2)) == 1


async def test_what_a_reader_keeps_in_the_log_is_told_and_goes_next_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_answers, "BUSY_SECONDS", 0.0)
    store = await SqliteKeptAnswers.open(tmp_path, megabytes=1)
    await store.keep(answer("a", text=CANARY))
    with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM kept_answers").fetchall()
        with pytest.raises(StateError, match="1 deleted, but still in its log: another process"):
            await store.delete(E1)
        assert CANARY.encode() in bytes_in(tmp_path)
    await store.purge(NOON)
    assert CANARY.encode() not in bytes_in(tmp_path)
    await store.close()


async def test_the_space_of_what_is_deleted_is_given_back(
    store: SqliteKeptAnswers, tmp_path: Path
) -> None:
    for number in range(5):
        await store.keep(answer(str(number), text="x" * 100_000))
    await store.purge(NOON + timedelta(hours=1))
    assert len(bytes_in(tmp_path)) < 100_000


async def test_the_oldest_make_room(store: SqliteKeptAnswers, tmp_path: Path) -> None:
    for number in range(150):
        at = NOON + timedelta(seconds=number)
        await store.keep(answer(str(number), text="x" * 10_000, at=at))
    items = [each.item for each in await store.find(E1)]
    assert items == [str(number) for number in range(150)][-len(items) :]
    assert 70 <= len(items) <= 100
    assert (tmp_path / FILE).stat().st_size < 1.3 * MEGABYTE


async def test_half_of_a_surrogate_pair_is_written_as_a_question_mark(
    store: SqliteKeptAnswers,
) -> None:
    await store.keep(answer("a", text="\ud83d!", extracted="\udc00"))
    assert await store.find(E1) == [answer("a", text="?!", extracted="?")]


async def test_answers_are_counted_by_evaluation(store: SqliteKeptAnswers) -> None:
    await store.keep(answer("a", at=NOON + timedelta(hours=1)))
    await store.keep(answer("b"))
    await store.keep(answer("a", evaluation_id=E2))
    assert list((await store.counts()).items()) == [(E2, 1), (E1, 2)]


async def test_a_look_makes_no_file(tmp_path: Path) -> None:
    for _ in range(2):
        with pytest.raises(StateError, match=r"no answers are kept there; .* keep_answers"):
            await SqliteKeptAnswers.look(tmp_path)


async def test_a_store_that_cannot_be_used_says_why(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"no database at all" * 100)
    with pytest.raises(StateCorrupt, match=FILE):
        await SqliteKeptAnswers.open(tmp_path, megabytes=1)
    state = await State.open(tmp_path / "other", Access.CONSUME)
    await state.close()
    (tmp_path / "other" / "state.sqlite3").rename(tmp_path / "other" / FILE)
    with pytest.raises(StateCorrupt, match="another program"):
        await SqliteKeptAnswers.open(tmp_path / "other", megabytes=1)


async def test_a_newer_store_is_left_alone(tmp_path: Path) -> None:
    opened = await SqliteKeptAnswers.open(tmp_path, megabytes=1)
    await opened.close()
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        connection.execute("PRAGMA user_version = 9")
    with pytest.raises(StateTooNew, match="state version 9"):
        await SqliteKeptAnswers.look(tmp_path)


async def test_two_processes_share_the_store(store: SqliteKeptAnswers, tmp_path: Path) -> None:
    """A replica keeps while somebody looks and deletes."""
    other = await SqliteKeptAnswers.look(tmp_path)
    await store.keep(ANSWER)
    assert await other.find(E1) == [ANSWER]
    assert await other.delete(E1) == 1
    await store.keep(replace(ANSWER, item=ItemId("b")))
    assert [each.item for each in await other.find(E1)] == ["b"]
    await other.close()
