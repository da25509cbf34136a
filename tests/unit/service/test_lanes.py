import asyncio
from contextlib import AsyncExitStack

import pytest

from monitor.service.lanes import Lane
from tests.unit.service.hand_clock import HandClock


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


async def held_at_once(lane: Lane, clock: HandClock, wanted: int) -> int:
    """How many of so many turns are given while nobody gives one back."""
    entered = 0

    async def hold() -> None:
        nonlocal entered
        async with lane.turn():
            entered += 1
            await asyncio.Event().wait()

    tasks = [asyncio.create_task(hold()) for _ in range(wanted)]
    await clock.settle()
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    return entered


async def test_only_so_many_turns_at_once(clock: HandClock) -> None:
    lane = Lane(concurrency=3, clock=clock)
    assert await held_at_once(lane, clock, 10) == 3


async def test_cancelled_turns_are_given_back(clock: HandClock) -> None:
    lane = Lane(concurrency=3, clock=clock)
    await held_at_once(lane, clock, 10)
    assert await held_at_once(lane, clock, 10) == 3


async def test_no_turn_begins_during_a_pause(clock: HandClock) -> None:
    lane = Lane(concurrency=2, clock=clock)
    lane.slow_down(30.0)
    lane.slow_down(10.0)
    turn = asyncio.create_task(lane.turn().__aenter__())
    await clock.run(until=29.0)
    assert not turn.done()
    await clock.run(until=30.0)
    assert turn.done()


async def test_a_turn_that_waited_for_its_slot_heeds_a_pause(clock: HandClock) -> None:
    lane = Lane(concurrency=1, clock=clock)
    async with lane.turn():
        waiting = asyncio.create_task(lane.turn().__aenter__())
        await clock.settle()
        lane.slow_down(5.0)
    await clock.settle()
    assert not waiting.done()
    await clock.run()
    assert waiting.done()


async def test_an_episode_halves_the_turns_once(clock: HandClock) -> None:
    lane = Lane(concurrency=8, clock=clock)
    async with AsyncExitStack() as turns:
        for _ in range(8):
            await turns.enter_async_context(lane.turn())
        for _ in range(8):
            lane.slow_down(1.0)
    assert lane.limit == 4
    clock.seconds = 1.0
    assert await held_at_once(lane, clock, 10) == 4


async def test_turns_never_fall_below_one(clock: HandClock) -> None:
    lane = Lane(concurrency=4, clock=clock)
    for _ in range(10):
        lane.slow_down(1.0)
        clock.seconds += 1.0
        assert await held_at_once(lane, clock, 1) == 1
    assert await held_at_once(lane, clock, 10) == 1


async def test_answers_bring_the_turns_back_but_no_more(clock: HandClock) -> None:
    lane = Lane(concurrency=4, clock=clock)
    lane.slow_down(0.0)
    await held_at_once(lane, clock, 10)
    assert lane.limit == 2
    lane.speed_up()
    lane.speed_up()
    lane.speed_up()
    assert lane.limit == 3
    for _ in range(50):
        lane.speed_up()
    assert await held_at_once(lane, clock, 10) == 4
