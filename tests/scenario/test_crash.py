"""Evaluations that are killed and stopped in their midst: nothing is lost, nothing bought twice.

Each result is held, byte for byte, against that of an undisturbed run of the same event.
"""

import asyncio
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from monitor.adapters.embedded.bus import SqliteBus
from monitor.adapters.suite_files import read_suite
from monitor.domain.plans import Answered, Drawn, Row
from monitor.ports import Assigned
from monitor.wire import journal, results
from tests.scenario import daemon as product
from tests.scenario.daemon import EVALUATIONS, VARIANT, Installation, SimulatedEndpoint

CHANCE = np.random.default_rng(20_261)
DRAWS = 60
# Items asked at each kill: spread over those that are drawn.
KILLS = [int(start + CHANCE.integers(1, 15)) for start in (0, 15, 30)]
CONCURRENCY = 4
LATENCY = 0.1


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


def evaluate(pool: Path, endpoint: SimulatedEndpoint, state: Path) -> list[str]:
    options = {"variant": VARIANT, "budget": DRAWS, "concurrency": CONCURRENCY}
    return product.evaluate(pool, endpoint, state, **options)


@pytest.fixture(scope="module")
def undisturbed(pool: Path, served: SimulatedEndpoint) -> dict[str, Any]:
    """The result of a run that nobody disturbed."""
    return product.document(product.call(*evaluate(pool, served, pool / "undisturbed")))


@pytest.fixture(scope="module")
def event(undisturbed: Mapping[str, Any]) -> bytes:
    """The event of the undisturbed run."""
    identity = undisturbed["data"]["statistics"]["subject"]["event_id"]
    data = {"variant": VARIANT, "version": "v1", "endpoint": "production", "budget": DRAWS}
    return product.version_event(identity, {**data, "suites": ["arithmetic"]})


def install(
    folder: Path, pool: Path, endpoint: SimulatedEndpoint, *, drain_seconds: float = 60.0
) -> Installation:
    installation = Installation(folder=folder)
    installation.configure(
        suites=[{"path": pool / "suite", "history": [{"file": pool / "history.npz"}]}],
        endpoints={"production": {"base_url": endpoint.base_url, "model": "model"}},
        limits={"concurrency": CONCURRENCY, "drain_seconds": drain_seconds},
    )
    return installation


def only_result(installation: Installation) -> dict[str, Any]:
    """The one result that was published."""
    (record,) = installation.messages(EVALUATIONS)
    result: dict[str, Any] = json.loads(record.value)
    return result


def finish(installation: Installation) -> dict[str, Any]:
    """Let a daemon that nobody disturbs go on to the end."""
    with installation.daemon() as daemon:
        daemon.told("evaluation_ended")
        assert daemon.terminate() == 0
    return only_result(installation)


def statistics(result: Mapping[str, Any]) -> bytes:
    return results.statistics_of(json.dumps(result).encode())


async def answered(state: Path, pool: Path) -> set[str]:
    """Items whose answers are in the journal."""
    bus = await SqliteBus.open(state)
    assigned = await bus.receive()
    await bus.close()
    assert isinstance(assigned, Assigned)
    entries = (entry for entries in assigned.journals.values() for entry in entries)
    rows: list[Row] = [journal.decode(entry.value) for entry in entries if entry.value]
    draws = (row.draws for row in rows if isinstance(row, Drawn))
    items = {draw.step: draw.item for row in draws for draw in row}
    answers = (row.answers for row in rows if isinstance(row, Answered))
    names = read_suite(pool / "suite").items
    return {names[items[answer.step]].id for row in answers for answer in row}


@dataclass(frozen=True, slots=True, kw_only=True)
class Survived:
    """What came of an evaluation that was killed several times.

    stored: by item whose answer was stored at a kill, how often it had been asked until then.
    asked: by item, how often it was asked in all.
    again: asks for the same once more, and returns the result that is printed.
    """

    installation: Installation
    stored: Mapping[str, int]
    asked: Counter[str]
    result: Mapping[str, Any]
    again: Callable[[], Mapping[str, Any]]


def kill_again_and_again(
    command: Sequence[str | Path],
    endpoint: SimulatedEndpoint,
    installation: Installation,
    pool: Path,
) -> Mapping[str, int]:
    """Kill a command in the midst of its work, several times; `Survived.stored`."""
    stored: dict[str, int] = {}
    for items in KILLS:
        with product.started(command, log=installation.folder / "killed.log") as process:
            endpoint.wait_until_asked(items, by=process)
            # Spreads the kills over all that happens between two questions.
            time.sleep(float(CHANCE.uniform(0, LATENCY)))
        items_answered = asyncio.run(answered(installation.state, pool))
        asked = endpoint.asked()
        stored = {item: asked[item] for item in items_answered} | stored
    return stored


def survive_as_daemon(
    installation: Installation, endpoint: SimulatedEndpoint, pool: Path
) -> Survived:
    file = installation.folder / "event.json"

    def again() -> Mapping[str, Any]:
        with installation.daemon() as daemon:
            options = ("--file", str(file), "--wait", str(product.SECONDS))
            result = product.document(installation.submit("--json", *options))
            daemon.told("event_taken", result="duplicate")
        return result

    installation.put(file.read_bytes())
    command = ("run", "--config", installation.config)
    stored = kill_again_and_again(command, endpoint, installation, pool)
    result = finish(installation)
    return Survived(
        installation=installation,
        stored=stored,
        asked=endpoint.asked(),
        result=result,
        again=again,
    )


def survive_as_command(
    installation: Installation, endpoint: SimulatedEndpoint, pool: Path
) -> Survived:
    command = evaluate(pool, endpoint, installation.state)
    stored = kill_again_and_again(command, endpoint, installation, pool)
    return Survived(
        installation=installation,
        stored=stored,
        result=product.document(product.call(*command)),
        asked=endpoint.asked(),
        again=lambda: product.document(product.call(*command)),
    )


@pytest.fixture(scope="module", params=[survive_as_daemon, survive_as_command])
def survived(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    pool: Path,
    served: SimulatedEndpoint,
    event: bytes,
) -> Survived:
    served.reset(latency=LATENCY, latency_sigma=0.5)
    installation = install(tmp_path_factory.mktemp("installation"), pool, served)
    (installation.folder / "event.json").write_bytes(event)
    found: Survived = request.param(installation, served, pool)
    return found


def test_no_stored_answer_is_asked_again(survived: Survived) -> None:
    assert survived.stored
    assert {item: survived.asked[item] for item in survived.stored} == survived.stored


def test_only_what_was_in_flight_is_asked_again(survived: Survived) -> None:
    again = sum(count > 1 for count in survived.asked.values())
    sys.stdout.write(f"{again} of {DRAWS} items asked again after {len(KILLS)} kills\n")
    admitted = survived.result["data"]["spend"]["maybe_repeated"]
    assert len(survived.asked) == DRAWS
    assert again <= admitted <= len(KILLS) * CONCURRENCY


def test_the_result_is_that_of_an_undisturbed_run(
    survived: Survived, undisturbed: Mapping[str, Any]
) -> None:
    assert only_result(survived.installation) == survived.result
    assert statistics(survived.result) == statistics(undisturbed)


def test_it_replays(survived: Survived) -> None:
    state = survived.installation.state
    replayed = product.call("replay", survived.result["id"], "--state", state)
    assert replayed.returncode == 0, replayed.stderr


def test_the_same_again_buys_and_publishes_nothing(
    survived: Survived, endpoint: SimulatedEndpoint
) -> None:
    assert survived.again() == survived.result
    assert only_result(survived.installation) == survived.result
    assert not endpoint.asked()


def test_a_stop_lets_finish_what_is_in_flight(
    tmp_path: Path,
    pool: Path,
    endpoint: SimulatedEndpoint,
    event: bytes,
    undisturbed: Mapping[str, Any],
) -> None:
    installation = install(tmp_path, pool, endpoint)
    endpoint.turn(latency=4 * LATENCY)
    installation.put(event)
    with installation.daemon() as daemon:
        endpoint.wait_until_asked(2 * CONCURRENCY, by=daemon.process)
        assert daemon.terminate() == 0
    endpoint.turn()
    assert installation.messages(EVALUATIONS) == []
    assert statistics(finish(installation)) == statistics(undisturbed)
    assert set(endpoint.asked().values()) == {1}


def test_a_stop_does_not_wait_for_ever(
    tmp_path: Path,
    pool: Path,
    endpoint: SimulatedEndpoint,
    event: bytes,
    undisturbed: Mapping[str, Any],
) -> None:
    installation = install(tmp_path, pool, endpoint, drain_seconds=0.5)
    endpoint.turn(faults={"hang": 1.0}, hang=10 * product.SECONDS)
    installation.put(event)
    with installation.daemon() as daemon:
        endpoint.wait_until_asked(CONCURRENCY, by=daemon.process)
        assert daemon.terminate() == 0
    endpoint.turn()
    assert statistics(finish(installation)) == statistics(undisturbed)
    assert Counter(endpoint.asked().values()) == {1: DRAWS - CONCURRENCY, 2: CONCURRENCY}
