import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest

from monitor.adapters.embedded import bus, records
from monitor.adapters.embedded.commits import Commits
from monitor.adapters.embedded.state import Access, State
from monitor.domain.errors import StateError
from monitor.domain.identifiers import EvaluationId
from monitor.ports import Commit, Entry, Message

A = EvaluationId("a")


@pytest.fixture
async def state(tmp_path: Path) -> AsyncIterator[State]:
    opened = await State.open(tmp_path, Access.CONSUME)
    yield opened
    await opened.close()


@pytest.fixture
async def commits(state: State) -> Commits:
    claims = await state.run(partial(bus.claim, 1))
    epochs = {partition: claim.epoch for partition, claim in claims.items()}
    return Commits(state, records.DEFAULT_TOPICS, epochs=epochs)


def commit(sequence: int, value: bytes = b"row") -> Commit:
    entry = Entry(evaluation_id=A, sequence=sequence, value=value)
    return Commit(partition=0, entries=(entry,))


def stored(connection: sqlite3.Connection) -> list[tuple[int, bytes]]:
    return connection.execute("SELECT sequence, value FROM journal ORDER BY sequence").fetchall()


@asynccontextmanager
async def held_up(state: State) -> AsyncIterator[None]:
    """Keep the thread from doing anything that is asked for inside the block."""
    go_on = threading.Event()
    blocked = asyncio.create_task(state.run(lambda _: go_on.wait()))
    await asyncio.sleep(0)
    yield
    await asyncio.sleep(0)
    go_on.set()
    await blocked


async def write_together(state: State, commits: Commits, *several: Commit) -> list[str]:
    """Outcomes of commits that wait at the same time."""
    async with held_up(state):
        tasks = [asyncio.create_task(commits.write(one)) for one in several]
        await asyncio.sleep(0)
    await asyncio.wait(tasks)
    return [str(task.exception() or "written") for task in tasks]


async def test_commits_that_wait_share_a_transaction(state: State, commits: Commits) -> None:
    statements: list[str] = []
    await state.run(lambda connection: connection.set_trace_callback(statements.append))
    outcomes = await write_together(state, commits, *map(commit, range(20)))
    assert outcomes == ["written"] * 20
    assert (statements.count("BEGIN IMMEDIATE"), statements.count("COMMIT")) == (1, 1)
    assert len(await state.run(stored)) == 20


async def test_a_row_with_other_bytes_is_refused_alone(state: State, commits: Commits) -> None:
    outcomes = await write_together(
        state, commits, commit(0), commit(0, b"other"), commit(1), commit(0)
    )
    assert outcomes[:1] + outcomes[2:] == ["written"] * 3
    assert "row 0 of evaluation a is already written, with other bytes" in outcomes[1]
    assert await state.run(stored) == [(0, b"row"), (1, b"row")]


async def test_a_defect_of_one_commit_is_its_own(state: State, commits: Commits) -> None:
    broken = Message(topic="notes", key=None, value=b"", headers=((None, None),))  # type: ignore[arg-type]
    outcomes = await write_together(
        state, commits, commit(0), Commit(partition=0, messages=(broken,))
    )
    assert outcomes == ["written", "'NoneType' object has no attribute 'hex'"]


async def test_a_full_disk_is_told_to_all_and_outlived(state: State, commits: Commits) -> None:
    pages = await state.run(lambda connection: connection.execute("PRAGMA page_count").fetchone())
    limit = f"PRAGMA max_page_count = {pages[0]}"
    await state.run(lambda connection: connection.execute(limit))
    outcomes = await write_together(state, commits, commit(0), commit(1, b"x" * 100_000))
    assert all("is full (free space on its disk)" in outcome for outcome in outcomes)
    await commits.write(commit(2))
    assert await state.run(stored) == [(2, b"row")]


async def test_a_commit_whose_caller_is_gone_is_written(state: State, commits: Commits) -> None:
    async with held_up(state):
        caller = asyncio.create_task(commits.write(commit(0)))
        for _ in range(3):
            await asyncio.sleep(0)
        caller.cancel()
    assert await state.run(stored) == [(0, b"row")]


async def test_a_closed_state_writes_nothing(state: State, commits: Commits) -> None:
    await state.close()
    with pytest.raises(StateError, match="already closed"):
        await commits.write(commit(0))
