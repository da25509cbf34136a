"""The whole product in one process, on a suite and models made up on the spot.

Four versions of one variant go live at a simulated endpoint: a first, a better one, the same
again, and a worse one. What is printed depends on the seed alone.
"""

import asyncio
import urllib.request
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from monitor.adapters.metric_names import PREFIX
from monitor.adapters.suite_files import write_suite
from monitor.app.application import Application, open_application
from monitor.app.single import submit
from monitor.domain.events import EvaluationWanted, EventIdentity
from monitor.domain.facts import EvaluationEnded, Fact
from monitor.domain.identifiers import (
    EndpointName,
    EvaluationId,
    VariantName,
    VersionName,
    evaluation_id,
)
from monitor.domain.suites import Suite
from monitor.history import outcomes
from monitor.ports import Telemetry
from monitor.settings import Settings
from monitor.simulation import answers, serving, suites
from monitor.simulation.server import Simulation
from monitor.wire import events, results

ITEMS = 2000
BUDGET = "20%"
SEED = 7
VARIANT = VariantName("support-chat")
SOURCE = "/variant-monitor/demo"
PRICE = {"input_per_million": 0.5, "output_per_million": 1.5, "currency": "USD"}
FETCH_SECONDS = 10.0
SHOWN_METRICS = ("estimate_ratio", "difference_upper_ratio", "ess_ratio", "verdict{")
MODELS = (
    answers.SimulatedModel(name="v1", accuracy=0.80),
    answers.SimulatedModel(name="v2-better", accuracy=0.86, version_of="v1"),
    answers.SimulatedModel(name="v3-same", accuracy=0.86, version_of="v2-better"),
    answers.SimulatedModel(name="v4-worse", accuracy=0.78, version_of="v3-same"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One version of the demo: its result, and the truth that only a simulation knows."""

    value: bytes
    completed: results.CompletedEvaluation
    truth: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Demonstration:
    """Everything that came of the demo; metrics: lines of the page as it was fetched."""

    shown: Sequence[Shown]
    metrics: Sequence[str]
    status_url: str


@asynccontextmanager
async def demonstrate(
    folder: Path, *, now: datetime, listeners: Sequence[Telemetry] = ()
) -> AsyncIterator[Demonstration]:
    """Run the demo; while the block runs, the daemon goes on serving its pages.

    Args:
        folder: for suite, history and state; results that are there already are not bought again.
        now: time of the events.
        listeners: told of every fact.
    """
    suite = suites.arithmetic_suite(ITEMS, seed=SEED)
    items = [item.id for item in suite.items]
    book = answers.item_response_book(MODELS, items=items, seed=SEED)
    _write(folder, suite)
    ends = Ends()
    async with (
        serving.serving_async(Simulation(suite, book)) as base_url,
        AsyncExitStack() as stack,
    ):
        settings = _settings(folder, base_url)
        application = await stack.enter_async_context(open_application(settings, ends, *listeners))
        running = asyncio.create_task(application.daemon.run())
        try:
            shown = []
            for model in MODELS:
                event = _event(model.name, suite, now)
                value = await _result(settings, application, ends, event)
                shown.append(
                    Shown(
                        value=value,
                        completed=results.decode(value),
                        truth=book.truth(model.name),
                    )
                )
            url = f"http://{settings.http.host}:{application.metrics_port}"
            yield Demonstration(shown=shown, metrics=await _metrics(url), status_url=url)
        finally:
            application.daemon.stop(drain_seconds=0.0)
            await running


class Ends:
    """Takes facts, and lets whoever waits for an evaluation know of its end."""

    def __init__(self) -> None:
        self._ended: defaultdict[EvaluationId, asyncio.Event] = defaultdict(asyncio.Event)

    def record(self, fact: Fact) -> None:
        """Note the end of an evaluation."""
        if isinstance(fact, EvaluationEnded):
            self._ended[fact.evaluation_id].set()

    async def wait(self, identity: EvaluationId) -> None:
        """Wait for the end of an evaluation."""
        await self._ended[identity].wait()


def _write(folder: Path, suite: Suite) -> None:
    write_suite(suite, folder / "suite")
    earlier = suites.synthetic_history([item.id for item in suite.items], seed=SEED)
    matrix = outcomes.OutcomeMatrix(
        outcomes=earlier.outcomes,
        models=earlier.models,
        items=earlier.items,
        dates=earlier.dates,
        groups=None,
    )
    outcomes.write_outcomes(folder / "history.npz", matrix)


def _settings(folder: Path, base_url: str) -> Settings:
    return Settings.model_validate(
        {
            "suites": [{"path": folder / "suite", "history": [{"file": folder / "history.npz"}]}],
            "endpoints": {
                model.name: {"base_url": base_url, "model": model.name, "price": PRICE}
                for model in MODELS
            },
            "state": {"directory": folder / "state"},
            "policies": [{"budget": BUDGET}],
            "http": {"port": 0},
        }
    )


def _event(model: str, suite: Suite, now: datetime) -> EvaluationWanted:
    return EvaluationWanted(
        identity=EventIdentity(source=SOURCE, id=model, time=now),
        variant=VARIANT,
        version=VersionName(model),
        endpoint=EndpointName(model),
        suites=(suite.name,),
    )


async def _result(
    settings: Settings, application: Application, ends: Ends, event: EvaluationWanted
) -> bytes:
    """The published result of an event; nothing is bought where there is one already."""
    (suite,) = event.suites
    identity = evaluation_id(source=event.identity.source, event_id=event.identity.id, suite=suite)
    while (found := await application.archive.find(identity)) is None:
        await submit(settings, event.variant, events.encode(event))
        await ends.wait(identity)
    return found.result


async def _metrics(url: str) -> list[str]:
    """Some lines of the metrics page, fetched as Prometheus would."""
    text = await asyncio.to_thread(_fetch, f"{url}/metrics")
    return [
        line
        for line in text.splitlines()
        if any(line.startswith(PREFIX + name) for name in SHOWN_METRICS)
    ]


def _fetch(url: str) -> str:
    with urllib.request.urlopen(url, timeout=FETCH_SECONDS) as response:  # noqa: S310 - our own page
        body: bytes = response.read()
    return body.decode()
