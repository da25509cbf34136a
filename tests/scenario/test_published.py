"""FAQ as published, end to end: items come again, and none is bought twice."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from monitor.domain.results import Estimate
from monitor.wire import results
from tests.scenario import daemon as product
from tests.scenario.daemon import SimulatedEndpoint

ITEMS = 120
DRAWS = 90
CONCURRENCY = 4


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pool")
    product.write_pool(folder, items=ITEMS, seed=5)
    return folder


@pytest.fixture(scope="module")
def endpoint(pool: Path) -> Iterator[SimulatedEndpoint]:
    options = ("--model", "model=0.7", "--seed", "5")
    with product.simulated_endpoint(pool, pool / "suite", *options) as served:
        yield served


def evaluate(pool: Path, endpoint: SimulatedEndpoint, state: Path) -> list[str]:
    options = {"method": "faq_published", "budget": DRAWS, "concurrency": CONCURRENCY}
    return product.evaluate(pool, endpoint, state, **options)


@pytest.fixture(scope="module")
def result(pool: Path, endpoint: SimulatedEndpoint) -> Mapping[str, Any]:
    endpoint.reset()
    return product.document(product.call(*evaluate(pool, endpoint, pool / "state")))


@pytest.fixture(scope="module")
def asked(result: Mapping[str, Any], endpoint: SimulatedEndpoint) -> Mapping[str, int]:
    """How often each item was asked, once the result was there."""
    assert result
    return endpoint.asked()


def statistics(result: Mapping[str, Any]) -> results.Statistics:
    return results.Statistics.model_validate(result["data"]["statistics"])


def test_each_item_is_bought_once(result: Mapping[str, Any], asked: Mapping[str, int]) -> None:
    assert set(asked.values()) == {1}
    assert result["data"]["spend"]["attempts"] == len(asked) < DRAWS


def test_each_draw_counts(result: Mapping[str, Any]) -> None:
    found = statistics(result)
    assert found.counts == {"graded": DRAWS}
    assert found.plan is not None
    assert (found.plan.draws, found.plan.inference.design) == (DRAWS, "with_replacement")
    assert "with replacement as published but in lagged rounds" in found.plan.reason


def test_the_interval_is_the_published_one(
    result: Mapping[str, Any], endpoint: SimulatedEndpoint
) -> None:
    estimate = statistics(result).estimate
    assert isinstance(estimate, Estimate)
    assert estimate.interval.method == "wald"
    assert estimate.interval.lower <= endpoint.truth()["model"] <= estimate.interval.upper


def test_it_replays(result: Mapping[str, Any], pool: Path) -> None:
    replayed = product.call("replay", result["id"], "--state", pool / "state")
    assert replayed.returncode == 0, replayed.stderr


def test_a_killed_one_buys_no_stored_answer_again(
    result: Mapping[str, Any],
    asked: Mapping[str, int],
    pool: Path,
    endpoint: SimulatedEndpoint,
    tmp_path: Path,
) -> None:
    command = evaluate(pool, endpoint, tmp_path / "state")
    endpoint.reset(latency=0.05)
    with product.started(command, log=tmp_path / "killed.log") as process:
        endpoint.wait_until_asked(len(asked) // 2, by=process)
    assert process.returncode < 0
    again = product.document(product.call(*command))
    assert statistics(again) == statistics(result)
    assert endpoint.asked().keys() == asked.keys()
    assert endpoint.asked().total() - len(asked) <= again["data"]["spend"]["maybe_repeated"]
