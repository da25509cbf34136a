import asyncio
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from typing import Any

import pytest

from monitor.adapters import grader_processes, grader_worker
from monitor.adapters.grader_processes import GraderProcesses
from monitor.domain.answers import Grade, Ungraded
from monitor.domain.identifiers import Digest, ItemId
from monitor.domain.suites import GraderSpec, Item

ITEM = Item(id=ItemId("1"), input="?", target=("x",), digest=Digest("d"))
EXACT = GraderSpec(kind="exact")
REGEX = GraderSpec(kind="regex", options={"pattern": r"\w"})
HANGING = GraderSpec(kind="regex", options={"pattern": r"(a+)+$|x", "group": 0})
ENDLESS = "a" * 60 + "!"
RIGHT = Grade(score=1.0, extracted="x")
FAILED = Grade(ungraded=Ungraded.FAILED)


@pytest.fixture
async def processes() -> AsyncIterator[GraderProcesses]:
    runner = GraderProcesses(seconds=60, workers=1)
    yield runner
    await runner.close()


@pytest.fixture
def no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make whatever needs a process fail."""
    monkeypatch.setattr(sys, "executable", "/nowhere/python")


@pytest.fixture(autouse=True)
def started(monkeypatch: pytest.MonkeyPatch) -> list[Process]:
    """Every process that is started."""
    processes: list[Process] = []
    create = asyncio.create_subprocess_exec

    async def noting(*command: str, **options: Any) -> Process:  # noqa: ANN401
        processes.append(await create(*command, **options))
        return processes[-1]

    monkeypatch.setattr(asyncio, "create_subprocess_exec", noting)
    return processes


def alive(processes: list[Process]) -> list[int]:
    return [process.pid for process in processes if process.returncode is None]


async def begin(runner: GraderProcesses) -> "asyncio.Task[Grade]":
    """Have an answer that never ends be graded, with its process running."""
    assert await runner.grade(HANGING, ITEM, "x") == RIGHT
    task = asyncio.create_task(runner.grade(HANGING, ITEM, ENDLESS))
    await asyncio.sleep(0)
    return task


@pytest.mark.usefixtures("no_process")
async def test_what_cannot_hang_needs_no_process(processes: GraderProcesses) -> None:
    assert await processes.grade(EXACT, ITEM, "x") == RIGHT


@pytest.mark.usefixtures("no_process")
async def test_process_that_cannot_be_started_is_a_failure(processes: GraderProcesses) -> None:
    assert await processes.grade(REGEX, ITEM, "x") == FAILED


async def test_process_that_breaks_while_starting_is_a_failure(
    processes: GraderProcesses, started: list[Process], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grader_worker, "__name__", "this")
    assert await processes.grade(REGEX, ITEM, "x") == FAILED
    assert alive(started) == []


async def test_process_is_kept(processes: GraderProcesses, started: list[Process]) -> None:
    grades = [await processes.grade(REGEX, ITEM, "x") for _ in range(3)]
    assert grades == [RIGHT] * 3
    assert len(started) == 1


async def test_killed_process_is_a_failure_and_is_replaced(
    processes: GraderProcesses, started: list[Process]
) -> None:
    task = await begin(processes)
    started[0].kill()
    assert await task == FAILED
    assert await processes.grade(REGEX, ITEM, "x") == RIGHT
    assert len(started) == 2


async def test_cancelled_grading_leaves_no_process(
    processes: GraderProcesses, started: list[Process]
) -> None:
    task = await begin(processes)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert alive(started) == []
    assert await processes.grade(REGEX, ITEM, "x") == RIGHT


async def test_close_ends_what_runs_and_what_waits(
    processes: GraderProcesses, started: list[Process]
) -> None:
    task = await begin(processes)
    waiting = asyncio.create_task(processes.grade(REGEX, ITEM, "x"))
    await processes.close()
    assert [await task, await waiting, await processes.grade(REGEX, ITEM, "x")] == [FAILED] * 3
    assert alive(started) == []


async def test_long_text_is_graded_in_a_process(
    processes: GraderProcesses, started: list[Process]
) -> None:
    text = "y" * grader_processes.LONGEST_HERE
    await processes.grade(EXACT, ITEM, text)
    assert started == []
    await processes.grade(EXACT, ITEM, text + "y")
    assert len(started) == 1


async def test_of_an_endless_text_the_end_is_graded(processes: GraderProcesses) -> None:
    text = "x" + "\u00e4" * (grader_processes.LONGEST - 1)
    assert (await processes.grade(REGEX, ITEM, text)).score == 1.0
    assert (await processes.grade(REGEX, ITEM, text + "\u00e4")).score == 0.0
