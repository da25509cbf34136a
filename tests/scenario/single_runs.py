"""One whole evaluation against a simulated endpoint over HTTP, and what the endpoint saw of it."""

import datetime as dt
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from monitor.adapters.suite_files import write_suite
from monitor.app.single import evaluate_once
from monitor.domain.events import EvaluationWanted, EventIdentity
from monitor.domain.identifiers import EndpointName, VariantName, VersionName
from monitor.domain.results import Estimate, Findings, Outcome, Reason
from monitor.domain.suites import Suite
from monitor.history import outcomes
from monitor.settings import Settings
from monitor.simulation import answers, serving, suites
from monitor.simulation.knobs import Attempt, Fault, Knobs, Trigger
from monitor.simulation.questions import Question
from monitor.simulation.replies import Reply
from monitor.simulation.server import Simulation
from monitor.wire import results

MODEL = "v1"
ACCURACY = 0.8
ENDPOINT = EndpointName("endpoint")
# Nothing here is to be retried, to run out of time or to wait, but where a test says so.
NO_RETRIES: Mapping[str, Any] = {"attempt_margin": 0.0}
LIMITS: Mapping[str, float] = {"concurrency": 4, "gate_seconds": 0.1}

Replying = Callable[[int, Reply], Reply]


class Edited(Simulation):
    """A simulated endpoint of which a test edits the replies: given are their number and they."""

    replying: Replying | None = None

    async def _reply(self, question: Question, attempt: Attempt, request: Any) -> Reply:  # noqa: ANN401
        self._number = getattr(self, "_number", count())
        reply = await super()._reply(question, attempt, request)
        return reply if self.replying is None else self.replying(next(self._number), reply)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """An evaluation to be run.

    model: that the endpoint is asked for. api_key: that it wants, and that nobody has.
    policy, limits: over what is said above. groups: of the configuration, besides. history: whether
    there is any. down: nobody listens.
    """

    suite: Suite
    budget: int = 40
    knobs: Knobs = field(default_factory=Knobs)
    replying: Replying | None = None
    model: str = MODEL
    api_key: str | None = None
    policy: Mapping[str, Any] = field(default_factory=dict)
    limits: Mapping[str, float] = field(default_factory=dict)
    groups: Mapping[str, Any] = field(default_factory=dict)
    history: bool = False
    down: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What came of an evaluation.

    asked: requests by item, as the endpoint counted them. right: what each item's outcome is.
    """

    completed: results.CompletedEvaluation
    asked: Mapping[str, int]
    right: Mapping[str, bool | None]

    @property
    def findings(self) -> Findings:
        return self.completed.findings()

    @property
    def estimate(self) -> Estimate:
        estimate = self.findings.estimate
        assert isinstance(estimate, Estimate)
        return estimate

    @property
    def verdict(self) -> tuple[Outcome, Reason]:
        return self.findings.verdict.outcome, self.findings.verdict.reason

    @property
    def requests(self) -> int:
        """Requests that reached the endpoint."""
        return sum(self.asked.values())

    @property
    def attempts(self) -> int:
        """Requests that the result owns up to."""
        return self.completed.data.spend.attempts

    @property
    def allowed(self) -> int:
        """Requests that the plan allows."""
        plan = self.completed.data.statistics.plan
        assert plan is not None
        return plan.attempts_allowed

    def share_right(self, items: Collection[str], *, of: int) -> float:
        return sum(bool(self.right[item]) for item in items) / of


def on(items: Collection[str], fault: Fault, *, first: int | None = None, **knobs: Any) -> Knobs:  # noqa: ANN401
    """Knobs by which a fault happens on these items, or only on their first attempts."""
    return Knobs(faults={fault: Trigger(items=frozenset(items), first=first)}, **knobs)


async def run(setting: Setting, folder: Path, *, event: str = "event") -> Seen:
    """Run an evaluation to its end; `event` settles which items are drawn."""
    items = [str(item.id) for item in setting.suite.items]
    model = answers.SimulatedModel(name=MODEL, accuracy=ACCURACY)
    book = answers.item_response_book([model], items=items)
    simulated = Edited(setting.suite, book, knobs=setting.knobs, api_key=setting.api_key)
    simulated.replying = setting.replying
    async with serving.serving_async(simulated) as base_url:
        settings = _settings(setting, folder, base_url)
        if not setting.down:
            return _seen(await _evaluate(setting, settings, event), simulated, book)
    return _seen(await _evaluate(setting, settings, event), simulated, book)


async def _evaluate(setting: Setting, settings: Settings, event: str) -> bytes:
    wanted = EvaluationWanted(
        identity=EventIdentity(
            source="/registry", id=event, time=dt.datetime(2026, 11, 29, tzinfo=dt.UTC)
        ),
        variant=VariantName("support-chat"),
        version=VersionName("1"),
        endpoint=ENDPOINT,
        suites=(setting.suite.name,),
    )
    return (await evaluate_once(settings, wanted)).result


def _seen(result: bytes, simulated: Simulation, book: answers.AnswerBook) -> Seen:
    right = dict(zip(book.items, book.rows()[MODEL], strict=True))
    completed = results.decode(result)
    return Seen(completed=completed, asked=simulated.ledger.asked(MODEL), right=right)


def _settings(setting: Setting, folder: Path, base_url: str) -> Settings:
    write_suite(setting.suite, folder / "suite")
    history = [{"file": _write_history(setting.suite, folder)}] if setting.history else []
    return Settings.model_validate(
        {
            "suites": [{"path": folder / "suite", "history": history}],
            "endpoints": {ENDPOINT: {"base_url": base_url, "model": setting.model}},
            "state": {"directory": folder / "state"},
            "policies": [{"budget": setting.budget, **NO_RETRIES, **setting.policy}],
            "limits": {"max_event_age_hours": 800_000, **LIMITS, **setting.limits},
            "http": {"port": None},
            **setting.groups,
        }
    )


def _write_history(suite: Suite, folder: Path) -> Path:
    made_up = suites.synthetic_history([str(item.id) for item in suite.items])
    matrix = outcomes.OutcomeMatrix(
        outcomes=made_up.outcomes,
        models=made_up.models,
        items=made_up.items,
        dates=made_up.dates,
        groups=None,
    )
    outcomes.write_outcomes(folder / "history.npz", matrix)
    return folder / "history.npz"
