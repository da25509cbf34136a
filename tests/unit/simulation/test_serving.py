import asyncio
import threading

import httpx2
import pytest

from monitor.domain import errors
from monitor.simulation import answers, serving, suites
from monitor.simulation.server import Simulation

SUITE = suites.recorded_suite(["a"])
MODEL = answers.SimulatedModel(name="m", accuracy=1.0)
SIMULATION = Simulation(SUITE, answers.item_response_book([MODEL], items=["a"]))


def is_healthy(base_url: str) -> bool:
    url = httpx2.URL(base_url).copy_with(path="/health")
    return httpx2.get(url, trust_env=False).text == '{"status":"ok"}'


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_it_is_served_while_the_block_runs(host: str) -> None:
    try:
        with serving.serving(SIMULATION, host=host) as base_url:
            assert is_healthy(base_url)
    except errors.UsageError:
        assert host == "::1"  # not every machine has it
        return
    with pytest.raises(httpx2.ConnectError):
        is_healthy(base_url)
    assert "simulation" not in {thread.name for thread in threading.enumerate()}


def test_several_are_served_at_once() -> None:
    with serving.serving(SIMULATION) as first, serving.serving(SIMULATION) as second:
        assert first != second
        assert is_healthy(first)
        assert is_healthy(second)


async def test_coroutines_are_served() -> None:
    async with serving.serving_async(SIMULATION) as base_url:
        assert await asyncio.to_thread(is_healthy, base_url)
    assert "simulation" not in {thread.name for thread in threading.enumerate()}


def test_a_port_in_use_is_named() -> None:
    with serving.serving(SIMULATION) as base_url:
        port = httpx2.URL(base_url).port or 0
        with (
            pytest.raises(errors.UsageError, match=f"cannot listen at 127.0.0.1 port {port}"),
            serving.serving(SIMULATION, port=port),
        ):
            pass
