"""The whole product in one process, on models made up on the spot, and a suite if none is given.

Four versions of one variant go live at a simulated endpoint: a first, a better one, the same
again, and a worse one. What is printed depends on the seed alone.
"""

import asyncio
import urllib.request
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from monitor.adapters.metric_names import PREFIX
from monitor.adapters.suite_files import write_suite
from monitor.app import replays
from monitor.app.examples import HISTORY, write_history
from monitor.app.single import evaluator
from monitor.domain.events import EvaluationWanted, EventIdentity
from monitor.domain.identifiers import Digest, EndpointName, VariantName, VersionName
from monitor.domain.suites import Suite
from monitor.ports import Published, Telemetry
from monitor.settings import Settings, build_settings
from monitor.simulation import answers, serving, suites
from monitor.simulation.server import Simulation
from monitor.wire import results
from monitor.wire.yaml_documents import field_name

ITEMS = 2000
BUDGET = "20%"
# About the half-width of a difference: so what is unchanged can be told from what is worse.
TOLERANCE = 0.03
SEED = 7
VARIANT = VariantName("chat")
SOURCE = "/variant-monitor/demo"
PRICE = {"input_per_million": 0.5, "output_per_million": 1.5, "currency": "USD"}
FETCH_SECONDS = 10.0
SHOWN_METRICS = ("estimate_ratio", "difference_ratio", "ess_ratio", "verdict{")
DIGITS = 4
MODELS = (
    answers.SimulatedModel(name="v1", accuracy=0.80),
    answers.SimulatedModel(name="v2-better", accuracy=0.86, version_of="v1"),
    answers.SimulatedModel(name="v3-same", accuracy=0.86, version_of="v2-better"),
    answers.SimulatedModel(name="v4-worse", accuracy=0.78, version_of="v3-same"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One version of the demo: its result, and the truth that only a simulation knows.

    replayed: digest of the statistics as they were recomputed from the record.
    """

    value: bytes
    completed: results.CompletedEvaluation
    replayed: Digest
    truth: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Demonstration:
    """Everything that came of the demo; metrics: lines of the page, with rounded values.

    draws: answers that were bought of each version, of `population` items.
    """

    draws: int
    population: int
    shown: Sequence[Shown]
    metrics: Sequence[str]
    status_url: str


@asynccontextmanager
async def demonstrate(
    folder: Path,
    *,
    now: datetime,
    suite: Suite | None = None,
    listeners: Sequence[Telemetry] = (),
) -> AsyncIterator[Demonstration]:
    """Run the demo; while the block runs, the daemon goes on serving its pages.

    Args:
        folder: for suite, history and state; results that are there already are not bought again.
        now: time of the events.
        suite: what is asked; arithmetic where None.
        listeners: told of every fact.

    Raises:
        UsageError, SuiteError, StateError: the folder cannot be used.
        ReplayMismatch: a result differs from what its record says.
    """
    asked = suite or suites.arithmetic_suite(ITEMS, seed=SEED)
    items = [item.id for item in asked.items]
    book = answers.item_response_book(MODELS, items=items, seed=SEED)
    _write(folder, asked)
    async with serving.serving_async(Simulation(asked, book)) as base_url:
        settings = _settings(folder, base_url)
        async with evaluator(settings, *listeners) as opened:
            opened.start()
            shown = []
            for model in MODELS:
                published = await opened.evaluate(_event(model.name, asked, now))
                shown.append(_show(published, truth=book.truth(model.name)))
            url = f"http://{settings.http.host}:{opened.application.metrics_port}"
            yield Demonstration(
                draws=settings.policy_for(VARIANT, asked.name).budget.draws(len(items)),
                population=len(items),
                shown=shown,
                metrics=await _metrics(url),
                status_url=url,
            )


def _show(published: Published, *, truth: float | None) -> Shown:
    return Shown(
        value=published.result,
        completed=results.decode(published.result),
        replayed=replays.replay(published),
        truth=truth,
    )


def _write(folder: Path, suite: Suite) -> None:
    write_suite(suite, folder / "suite")
    write_history(suite, folder / HISTORY, seed=SEED)


def _settings(folder: Path, base_url: str) -> Settings:
    return build_settings(
        {
            "suites": [{"path": folder / "suite", "history": [{"file": folder / HISTORY}]}],
            "endpoints": {
                model.name: {"base_url": base_url, "model": model.name, "price": PRICE}
                for model in MODELS
            },
            "state": {"directory": folder / "state"},
            "policies": [
                {
                    "budget": BUDGET,
                    "objective": {"kind": "not_worse", "tolerance": TOLERANCE},
                }
            ],
            "http": {"port": 0},
        },
        where=field_name,
    )


def _event(model: str, suite: Suite, now: datetime) -> EvaluationWanted:
    return EvaluationWanted(
        identity=EventIdentity(source=SOURCE, id=model, time=now),
        variant=VARIANT,
        version=VersionName(model),
        endpoint=EndpointName(model),
        suites=(suite.name,),
    )


async def _metrics(url: str) -> list[str]:
    """Some lines of the metrics page, fetched as Prometheus would; of the verdicts, the one."""
    text = await asyncio.to_thread(_fetch, f"{url}/metrics")
    shown = tuple(PREFIX + name for name in SHOWN_METRICS)
    samples = (line.rpartition(" ") for line in text.splitlines() if line.startswith(shown))
    return [
        f"{name} {round(float(value), DIGITS)}"
        for name, _, value in samples
        if not ("verdict=" in name and float(value) == 0.0)
    ]


def _fetch(url: str) -> str:
    with urllib.request.urlopen(url, timeout=FETCH_SECONDS) as response:  # noqa: S310 - our own page
        body: bytes = response.read()
    return body.decode()
