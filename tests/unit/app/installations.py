"""A small installation: a suite, its history, an endpoint that answers, and what is configured."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from monitor.adapters.suite_files import write_suite
from monitor.app.single import evaluate_once
from monitor.domain.events import EvaluationWanted, EventIdentity
from monitor.domain.identifiers import EndpointName, SuiteName, VariantName, VersionName
from monitor.domain.results import Outcome
from monitor.history import outcomes
from monitor.ports import Published
from monitor.settings import Settings, build_settings
from monitor.simulation import answers, serving, suites
from monitor.simulation.knobs import Knobs
from monitor.simulation.ledger import Ledger
from monitor.simulation.server import Simulation
from monitor.wire import results
from monitor.wire.yaml_documents import field_name

SUITE = suites.arithmetic_suite(60, seed=1)
ITEMS = [str(item.id) for item in SUITE.items]
BOOK = answers.item_response_book(
    [
        answers.SimulatedModel(name="good", accuracy=0.8),
        answers.SimulatedModel(name="bad", accuracy=0.5, version_of="good"),
    ],
    items=ITEMS,
    seed=1,
)
POLL_SECONDS = 0.001
NOWHERE = "http://127.0.0.1:1/v1"


def write_history(
    file: Path, *, items: int = len(ITEMS), prefix: str = "earlier", pool: Sequence[str] = ITEMS
) -> None:
    """Outcomes of 40 made-up models on the first items of a pool."""
    earlier = suites.synthetic_history(pool, seed=1)
    matrix = outcomes.OutcomeMatrix(
        outcomes=earlier.outcomes[:, :items],
        models=tuple(name.replace("earlier", prefix) for name in earlier.models),
        items=earlier.items[:items],
        dates=earlier.dates,
        groups=None,
    )
    outcomes.write_outcomes(file, matrix)


def write_foreign_history(file: Path) -> None:
    """Outcomes on items of another suite."""
    write_history(file, pool=[f"other/{item}" for item in ITEMS])


def write_pool(folder: Path) -> Path:
    """Write `suite` and `history.npz`; returns the folder."""
    write_suite(SUITE, folder / "suite")
    write_history(folder / "history.npz")
    return folder


def document(folder: Path, base_url: str = NOWHERE, **groups: object) -> dict[str, object]:
    """A configuration of what `write_pool` wrote, with the models good and bad as endpoints."""
    return {
        "suites": [
            {"path": str(folder / "suite"), "history": [{"file": str(folder / "history.npz")}]}
        ],
        "state": {"directory": str(folder / "state")},
        "endpoints": {name: {"base_url": base_url, "model": name} for name in BOOK.models},
        "http": {"port": None},
        **groups,
    }


def configured(folder: Path, base_url: str = NOWHERE, **groups: object) -> Settings:
    """The same, checked."""
    return build_settings(document(folder, base_url, **groups), where=field_name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A simulated endpoint under way."""

    base_url: str
    ledger: Ledger

    def asked(self) -> int:
        """Number of questions so far."""
        return sum(row["asked"] for row in self.ledger.document()["requests"])

    def wait_until_asked(self, questions: int) -> None:
        """Wait for so many."""
        while self.asked() < questions:
            time.sleep(POLL_SECONDS)


@contextmanager
def served(*, api_key: str | None = None, knobs: Knobs | None = None) -> Iterator[Served]:
    """An endpoint that serves the models good and bad."""
    simulation = Simulation(SUITE, BOOK, api_key=api_key, knobs=knobs)
    with serving.serving(simulation) as base_url:
        yield Served(base_url=base_url, ledger=simulation.ledger)


def event(model: str, event_id: str = "", *, endpoint: str = "") -> EvaluationWanted:
    """A model goes live as a version of the variant chat."""
    return EvaluationWanted(
        identity=EventIdentity(source="/test", id=event_id or model),
        variant=VariantName("chat"),
        version=VersionName(model),
        endpoint=EndpointName(endpoint or model),
        suites=(SuiteName(SUITE.name),),
    )


async def published(settings: Settings, model: str, event_id: str = "") -> Published:
    """The result of a model's evaluation."""
    return await evaluate_once(settings, event(model, event_id))


def outcome(found: Published) -> Outcome:
    """The verdict's word."""
    return results.decode(found.result).data.statistics.verdict.outcome
