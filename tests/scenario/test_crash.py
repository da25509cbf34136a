"""An evaluation that is killed and stopped again and again: nothing is lost, nothing bought twice.

Each result is held, byte for byte, against that of an undisturbed run of the same event.
"""

import asyncio
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from monitor.adapters.embedded.bus import SqliteBus
from monitor.adapters.suite_files import read_suite
from monitor.domain.plans import Answered, Drawn, Row
from monitor.ports import Assigned
from monitor.wire import journal, results
from tests.contract.installations import take
from tests.scenario import daemon as product
from tests.scenario.daemon import EVALUATIONS, VARIANT, Installation, SimulatedEndpoint

CHANCE = np.random.default_rng(20_261)
DRAWS = 60
# Items asked at each kill: spread over those that are drawn.
KILLS = [int(start + CHANCE.integers(1, 15)) for start in (0, 15, 30)]
CONCURRENCY = 4
LATENCY = 0.05


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pool")
    product.write_pool(folder, items=600, seed=3)
    return folder


@pytest.fixture(scope="module")
def served(pool: Path) -> Iterator[SimulatedEndpoint]:
    options = ("--model", "model=0.8", "--seed", "3")
    with product.simulated_endpoint(pool, pool / "suite", *options) as endpoint:
        yield endpoint


@pytest.fixture
def endpoint(served: SimulatedEndpoint) -> SimulatedEndpoint:
    served.reset(latency=LATENCY, latency_sigma=0.5)
    return served


def evaluate(pool: Path, endpoint: SimulatedEndpoint, state: Path) -> list[str | Path]:
    """The command that evaluates the version from the shell."""
    where = ["--suite", pool / "suite", "--history", pool / "history.npz", "--state", state]
    whom = ["--base-url", endpoint.base_url, "--model", "model"]
    how = ["--concurrency", str(CONCURRENCY), "--budget", str(DRAWS), "--json"]
    return ["evaluate", *where, *whom, *how, "--variant", VARIANT, "--version", "v1"]


@pytest.fixture(scope="module")
def undisturbed(pool: Path, served: SimulatedEndpoint) -> str:
    """The result of a run that nobody disturbed."""
    return product.call(*evaluate(pool, served, pool / "undisturbed")).stdout


@pytest.fixture
def installation(tmp_path: Path, pool: Path, endpoint: SimulatedEndpoint) -> Installation:
    installation = Installation(folder=tmp_path)
    installation.configure(
        suites=[{"path": pool / "suite", "history": [{"file": pool / "history.npz"}]}],
        endpoints={"production": {"base_url": endpoint.base_url, "model": "model"}},
        limits={"concurrency": CONCURRENCY, "drain_seconds": 60},
    )
    return installation


def event(undisturbed: str) -> list[str]:
    """Options that announce the version once more, by the same event."""
    identity = json.loads(undisturbed)["data"]["statistics"]["subject"]["event_id"]
    named = ["--variant", VARIANT, "--version", "v1", "--suite", "arithmetic"]
    return [*named, "--endpoint", "production", "--budget", str(DRAWS), "--event-id", identity]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ordeal:
    """stored: by item whose answer was stored at a kill, how often it had been asked until then."""

    stored: Mapping[str, int]

    def assert_little_was_asked_again(self, asked: Counter[str], maybe_repeated: int) -> None:
        """No item with a stored answer, and of the others no more than were in flight."""
        assert self.stored
        assert {item: asked[item] for item in self.stored} == self.stored
        again = sum(count > 1 for count in asked.values())
        sys.stdout.write(f"{again} of {len(asked)} items asked again after {len(KILLS)} kills\n")
        assert again <= maybe_repeated <= len(KILLS) * CONCURRENCY


def kill_again_and_again(
    start: Callable[[], AbstractContextManager[object]],
    endpoint: SimulatedEndpoint,
    *,
    state: Path,
    pool: Path,
) -> Ordeal:
    """Kill what is started in the midst of its work, several times."""
    stored: dict[str, int] = {}
    for items in KILLS:
        with start():
            endpoint.wait_until_asked(items)
            # Spreads the kills over all that happens between two questions.
            time.sleep(float(CHANCE.uniform(0, LATENCY)))
        asked = endpoint.asked()
        stored = {item: asked[item] for item in asyncio.run(answered(state, pool))} | stored
    return Ordeal(stored=stored)


async def answered(state: Path, pool: Path) -> set[str]:
    """Items whose answers are in the journal."""
    bus = await SqliteBus.open(state)
    (assigned,) = await take(bus, 1)
    await bus.close()
    assert isinstance(assigned, Assigned)
    entries = (entry for entries in assigned.journals.values() for entry in entries)
    rows: list[Row] = [journal.decode(entry.value) for entry in entries if entry.value]
    draws = (row.draws for row in rows if isinstance(row, Drawn))
    items = {draw.step: draw.item for row in draws for draw in row}
    answers = (row.answers for row in rows if isinstance(row, Answered))
    names = read_suite(pool / "suite").items
    return {names[items[answer.step]].id for row in answers for answer in row}


def statistics(result: str | bytes) -> bytes:
    return results.statistics_of(result.encode() if isinstance(result, str) else result)


def maybe_repeated(result: str | bytes) -> int:
    spend = json.loads(result)["data"]["spend"]
    return int(spend["maybe_repeated"])


def only_result(installation: Installation) -> bytes:
    """The value of the one result that was published."""
    (record,) = installation.messages(EVALUATIONS)
    return record.value


def finish(installation: Installation) -> bytes:
    """Let a daemon that nobody disturbs go on to the end."""
    with installation.daemon() as daemon:
        daemon.told("evaluation_ended")
        assert daemon.terminate() == 0
    return only_result(installation)


def assert_replays(state: Path, result: str | bytes) -> None:
    replayed = product.call("replay", json.loads(result)["id"], "--state", state)
    assert replayed.returncode == 0, replayed.stderr


def test_killed_again_and_again_it_finds_the_same(
    installation: Installation, endpoint: SimulatedEndpoint, pool: Path, undisturbed: str
) -> None:
    assert installation.submit(*event(undisturbed)).returncode == 0
    ordeal = kill_again_and_again(
        installation.daemon, endpoint, state=installation.state, pool=pool
    )
    result = finish(installation)
    ordeal.assert_little_was_asked_again(endpoint.asked(), maybe_repeated(result))
    assert statistics(result) == statistics(undisturbed)
    assert_replays(installation.state, result)


def test_the_same_event_again_buys_and_publishes_nothing(
    installation: Installation, endpoint: SimulatedEndpoint, undisturbed: str
) -> None:
    assert installation.submit(*event(undisturbed)).returncode == 0
    result, asked = finish(installation), endpoint.asked()
    with installation.daemon() as daemon:
        printed = installation.submit(*event(undisturbed), "--wait", "60", "--json").stdout
        daemon.told("event_taken", result="duplicate")
    assert json.loads(printed) == json.loads(result)
    assert only_result(installation) == result
    assert endpoint.asked() == asked


def test_a_stop_lets_finish_what_is_in_flight(
    installation: Installation, endpoint: SimulatedEndpoint, undisturbed: str
) -> None:
    assert installation.submit(*event(undisturbed)).returncode == 0
    with installation.daemon() as daemon:
        endpoint.wait_until_asked(int(CHANCE.integers(10, 80)))
        assert daemon.terminate() == 0
    assert installation.messages(EVALUATIONS) == []
    assert statistics(finish(installation)) == statistics(undisturbed)
    assert set(endpoint.asked().values()) == {1}


def test_a_stop_does_not_wait_for_ever(
    installation: Installation, endpoint: SimulatedEndpoint, undisturbed: str
) -> None:
    endpoint.turn(faults={"hang": 1.0}, hang=10 * product.SECONDS)
    shorter = json.loads(installation.config.read_text())
    installation.configure(**shorter | {"limits": {"concurrency": CONCURRENCY, "drain_seconds": 1}})
    assert installation.submit(*event(undisturbed)).returncode == 0
    with installation.daemon() as daemon:
        endpoint.wait_until_asked(CONCURRENCY)
        assert daemon.terminate() == 0
    endpoint.turn()
    assert statistics(finish(installation)) == statistics(undisturbed)


def test_evaluate_goes_on_where_it_was_killed(
    tmp_path: Path, endpoint: SimulatedEndpoint, pool: Path, undisturbed: str
) -> None:
    state = tmp_path / "state"
    command = evaluate(pool, endpoint, state)
    ordeal = kill_again_and_again(
        lambda: product.started(command, log=tmp_path / "log"), endpoint, state=state, pool=pool
    )
    result = product.call(*command).stdout
    ordeal.assert_little_was_asked_again(endpoint.asked(), maybe_repeated(result))
    assert statistics(result) == statistics(undisturbed)
    assert_replays(state, result)


def test_evaluate_asked_again_prints_the_same(
    endpoint: SimulatedEndpoint, pool: Path, undisturbed: str
) -> None:
    again = product.call(*evaluate(pool, endpoint, pool / "undisturbed"))
    assert (again.stdout, again.returncode) == (undisturbed, 0)
    assert not endpoint.asked()
