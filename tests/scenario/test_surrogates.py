"""Evaluations by strata of a surrogate, over HTTP: killed, resumed, planned by what is there.

The killed one is held, byte for byte, against an undisturbed run of the same event.
"""

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from monitor.adapters.suite_files import write_suite
from monitor.app.single import Evaluator, evaluator
from monitor.app.surrogates import open_passes
from monitor.domain.identifiers import SuiteName
from monitor.domain.policies import Budget, Method
from monitor.domain.results import Estimate
from monitor.settings import Settings, build_settings
from monitor.simulation import serving, suites
from monitor.simulation.answers import SimulatedModel, item_response_book
from monitor.simulation.server import Simulation
from monitor.wire import results
from monitor.wire.records import PlanRecord
from monitor.wire.yaml_documents import field_name
from tests.scenario import daemon as product
from tests.scenario.daemon import SimulatedEndpoint
from tests.unit.app.installations import event, write_history
from tests.unit.service.fakes import Facts

ITEMS, SAMPLES, DRAWS, CONCURRENCY = 120, 3, 60, 4
PASS = ITEMS * SAMPLES
LATENCY = 0.03
SUITE = suites.arithmetic_suite(ITEMS, seed=3)
# With a seed in its requests, an answer is the same however often it is asked for.
SEEDED = replace(SUITE, generation=replace(SUITE.generation, seed=7))


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoints:
    """Where the surrogate answers, and where the version does."""

    folder: Path
    surrogate: SimulatedEndpoint
    version: SimulatedEndpoint

    def reset(self, latency: float) -> None:
        for each in (self.surrogate, self.version):
            each.reset(latency=latency)

    def evaluate(self, state: str) -> list[str]:
        """The command."""
        options = {
            "suite": self.folder / "suite",
            "base-url": self.version.base_url,
            "model": "large",
            "version": "1",
            "surrogate-url": self.surrogate.base_url,
            "surrogate-model": "small",
            "surrogate-samples": SAMPLES,
            "method": "neyman",
            "budget": DRAWS,
            "concurrency": CONCURRENCY,
            "state": self.folder / state,
        }
        return ["evaluate", "--json", *(f"--{name}={value}" for name, value in options.items())]

    def run(self, state: str) -> Mapping[str, Any]:
        return product.document(product.call(*self.evaluate(state)))

    def kill(self, state: str, endpoint: SimulatedEndpoint, *, items: int) -> None:
        """Run until an endpoint was asked about so many items, and kill what runs."""
        log = self.folder / "killed.log"
        with product.started(self.evaluate(state), log=log) as process:
            endpoint.wait_until_asked(items, by=process)


@pytest.fixture(scope="module")
def endpoints(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoints]:
    folder = tmp_path_factory.mktemp("endpoints")
    write_suite(SEEDED, folder / "suite")
    models = ("--model", "small=0.5", "--model", "large=0.75")
    with (
        product.simulated_endpoint(folder, folder / "suite", *models) as surrogate,
        product.simulated_endpoint(folder, folder / "suite", *models) as version,
    ):
        yield Endpoints(folder=folder, surrogate=surrogate, version=version)


def test_a_killed_pass_and_a_killed_evaluation_go_on_where_they_stood(
    endpoints: Endpoints,
) -> None:
    undisturbed = endpoints.run("undisturbed")
    assert endpoints.surrogate.asked().total() == PASS
    endpoints.reset(LATENCY)
    endpoints.kill("killed", endpoints.surrogate, items=ITEMS // 3)
    assert endpoints.surrogate.asked().total() < PASS
    assert endpoints.version.asked().total() == 0
    endpoints.kill("killed", endpoints.version, items=DRAWS // 3)
    assert endpoints.version.asked().total() < DRAWS
    bought = endpoints.surrogate.asked().total()
    assert PASS <= bought <= PASS + CONCURRENCY
    resumed = endpoints.run("killed")
    assert endpoints.surrogate.asked().total() == bought
    assert DRAWS <= endpoints.version.asked().total() <= DRAWS + CONCURRENCY
    assert statistics(resumed) == statistics(undisturbed)
    assert resumed["data"]["statistics"]["plan"]["inference"]["design"] == "stratified"
    lines = [each["data"]["spend"]["others"]["surrogate"] for each in (undisturbed, resumed)]
    assert lines[0] == lines[1]
    assert lines[0]["attempts"] == PASS


def statistics(result: Mapping[str, Any]) -> bytes:
    return results.statistics_of(json.dumps(result).encode())


# Four suites of the same items, and what is there to plan with.
KNOWN = {"neither": (False, False), "surrogate": (False, True), "history": (True, False)}
POOL = suites.arithmetic_suite(160, seed=3)
BOOK = item_response_book(
    [
        SimulatedModel(name="small", accuracy=0.5),
        SimulatedModel(name="large", accuracy=0.7),
        SimulatedModel(name="sure", accuracy=1.0),
    ],
    items=[str(item.id) for item in POOL.items],
    seed=3,
)


def configured(folder: Path, base_url: str, **own: object) -> Settings:
    """Four suites; `own` is how the surrogates are asked."""
    asked = {"endpoints": ["small"], "samples": 5, **own}
    write_history(folder / "history.npz", pool=[str(item.id) for item in POOL.items], items=160)
    configured_suites = []
    for name, (history, surrogate) in (KNOWN | {"both": (True, True)}).items():
        write_suite(replace(POOL, name=SuiteName(name)), folder / name)
        configured_suites.append(
            {
                "path": folder / name,
                "history": [{"file": folder / "history.npz"}] if history else [],
                "surrogate": asked if surrogate else None,
            }
        )
    document = {
        "suites": configured_suites,
        "endpoints": {name: {"base_url": base_url, "model": name} for name in BOOK.models},
        "state": {"directory": folder / "state"},
        "http": {"port": None},
    }
    return build_settings(document, where=field_name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A daemon in this process, and its configuration."""

    settings: Settings
    evaluator: Evaluator

    async def ask(self) -> int:
        """Let every surrogate answer; returns how many answers were bought."""
        async with open_passes(self.settings, telemetry=Facts()) as passes:
            bought = [await passes.run(each) for each in passes.every]
        return sum(each.now.attempts for each in bought)

    async def statistics(
        self, suite: str, method: Method = Method.AUTO, draws: int = 60
    ) -> results.Statistics:
        """Of an evaluation of the large model."""
        wanted = replace(
            event("large", f"{suite}, {method}"),
            suites=(SuiteName(suite),),
            method=method,
            budget=Budget(count=draws),
        )
        return results.decode((await self.evaluator.evaluate(wanted)).result).data.statistics

    async def plan(self, suite: str, method: Method = Method.AUTO) -> PlanRecord:
        plan = (await self.statistics(suite, method)).plan
        assert plan is not None
        return plan


@asynccontextmanager
async def opened(folder: Path, **own: object) -> AsyncIterator[Running]:
    async with serving.serving_async(Simulation(POOL, BOOK)) as base_url:
        settings = configured(folder, base_url, **own)
        async with evaluator(settings) as found:
            yield Running(settings=settings, evaluator=found)


@pytest.fixture
async def running(tmp_path: Path) -> AsyncIterator[Running]:
    async with opened(tmp_path) as found:
        yield found


async def test_auto_plans_by_what_is_there(running: Running) -> None:
    unasked = await running.plan("surrogate", Method.NEYMAN)
    assert unasked.reason.endswith("small has not been asked: run variant-monitor surrogate ask.")
    # The second suite asks the same, so it is answered from what was bought for the first.
    assert await running.ask() == 5 * len(POOL.items)
    found = {suite: await running.plan(suite) for suite in (*KNOWN, "both")}
    designs = {suite: plan.inference.design for suite, plan in found.items()}
    assert designs == {
        "neither": "simple",
        "surrogate": "stratified",
        "history": "without_replacement",
        "both": "without_replacement",
    }
    assert found["neither"].reason.endswith("there is no history of other models.")
    assert "hard for surrogate small: there is no history" in found["surrogate"].reason
    assert found["history"].reason.endswith("as history allows.")
    assert "by the strata of surrogate small it should be" in found["both"].reason


async def test_a_surrogate_that_is_sure_of_everything_tells_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path, endpoints=["sure"], samples=2, temperature=0.0) as running:
        await running.ask()
        asked, left = (
            await running.plan("surrogate", Method.NEYMAN),
            await running.plan("surrogate"),
        )
    assert (asked.inference.design, left.inference.design) == ("simple", "simple")
    for plan in (asked, left):
        assert "strata by the answers of surrogate sure promise" in plan.reason


async def test_one_answer_an_item_and_fewer_draws_than_strata(tmp_path: Path) -> None:
    async with opened(tmp_path, samples=1, strata=15) as running:
        await running.ask()
        found = await running.statistics("surrogate", Method.NEYMAN, draws=20)
    assert found.plan is not None
    assert found.plan.inference.design == "stratified"
    assert sum(found.counts.values()) == 20
    assert isinstance(found.estimate, Estimate)
    interval = found.estimate.interval
    assert interval.lower < sum(outcomes("large")) / len(POOL.items) < interval.upper


def outcomes(model: str) -> list[bool]:
    return [outcome is True for outcome in BOOK.rows()[model]]
