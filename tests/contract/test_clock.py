"""What every clock must do; add an implementation to `clock` to hold it to this."""

import asyncio
from datetime import timedelta

import pytest

from monitor.adapters.system_clock import SystemClock
from monitor.ports import Clock
from tests.unit.adapters.examples import StoppedClock


@pytest.fixture(params=[SystemClock, StoppedClock])
def clock(request: pytest.FixtureRequest) -> Clock:
    clock: Clock = request.param()
    return clock


def test_now_is_in_utc(clock: Clock) -> None:
    assert clock.now().utcoffset() == timedelta(0)


def test_monotonic_does_not_run_backwards(clock: Clock) -> None:
    readings = [clock.monotonic() for _ in range(1000)]
    assert readings == sorted(readings)


async def test_sleep_lasts_as_long_as_it_says(clock: Clock) -> None:
    before = clock.monotonic()
    await clock.sleep(0.02)
    # Clocks of machines tick in steps; a timer may fire within the one before.
    assert clock.monotonic() - before >= 0.02 - 0.001


@pytest.mark.parametrize("seconds", [0.0, -5.0])
async def test_sleep_for_no_time_returns(seconds: float, clock: Clock) -> None:
    async with asyncio.timeout(60):
        await clock.sleep(seconds)
