import asyncio
import threading
from collections.abc import Iterator

import pytest

from monitor.adapters.compute_thread import ComputeThread


@pytest.fixture
def compute() -> Iterator[ComputeThread]:
    compute = ComputeThread()
    yield compute
    compute.close()


async def test_gives_back_what_the_work_returns(compute: ComputeThread) -> None:
    assert await compute.run(lambda: 6 * 7) == 42


async def test_raises_what_the_work_raises(compute: ComputeThread) -> None:
    with pytest.raises(ZeroDivisionError):
        await compute.run(lambda: 1 // 0)


async def test_works_on_one_thing_at_a_time(compute: ComputeThread) -> None:
    at_work = threading.Semaphore()

    def is_alone() -> bool:
        alone = at_work.acquire(blocking=False)
        threading.Event().wait(0.01)
        if alone:
            at_work.release()
        return alone

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(compute.run(is_alone)) for _ in range(5)]
    assert all(task.result() for task in tasks)


async def test_works_in_another_thread(compute: ComputeThread) -> None:
    assert await compute.run(threading.get_ident) != threading.get_ident()


async def test_event_loop_runs_on_meanwhile(compute: ComputeThread) -> None:
    release = threading.Event()
    waiting = asyncio.create_task(compute.run(lambda: release.wait(timeout=60)))
    await asyncio.sleep(0)
    release.set()
    assert await waiting


async def test_cancelled_wait_leaves_the_thread_usable(compute: ComputeThread) -> None:
    release = threading.Event()
    waiting = asyncio.create_task(compute.run(lambda: release.wait(timeout=60)))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    release.set()
    assert await compute.run(lambda: "next") == "next"


async def test_closed_thread_takes_no_work() -> None:
    compute = ComputeThread()
    compute.close()
    with pytest.raises(RuntimeError):
        await compute.run(lambda: None)
