"""`variant-monitor evaluate`: one evaluation from the shell, for gates and for trying out."""

import asyncio
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from monitor.adapters import structured_logs
from monitor.adapters.suite_files import read_suite
from monitor.adapters.system_clock import SystemClock
from monitor.app import checks
from monitor.app.single import evaluate_once
from monitor.cli.events import Wanted, event_from
from monitor.cli.exits import ExitCode, code_for
from monitor.cli.output import print_result, say
from monitor.cli.progress import ProgressTelemetry
from monitor.domain.errors import HistoryError, UsageError
from monitor.domain.events import EvaluationWanted
from monitor.domain.identifiers import digest
from monitor.domain.results import Reason
from monitor.domain.suites import Suite
from monitor.settings import LogSettings, Settings, build_settings, read_variable
from monitor.wire import records, results
from monitor.wire.yaml_documents import Location, field_name

CREDENTIAL = "key"
OPTIONS = {"env": "--credential-env", "file": "--history", "directory": "--state"}
"""Options that are not called as the setting that they stand for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Settings of the same names."""

    concurrency: int
    item_seconds: float
    gate_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What a configuration file would say otherwise."""

    suite: Path
    base_url: str
    model: str
    credential_env: str
    history: tuple[Path, ...]
    before: str
    exclude: tuple[str, ...]
    guide: Path | None
    limits: Limits
    state: Path | None

    @property
    def endpoint(self) -> str:
        """Name of the endpoint: an open evaluation of another place must not go on here."""
        return digest([self.base_url, self.model])[:32]


def evaluate(place: Place, wanted: Wanted, *, as_json: bool) -> ExitCode:
    """Evaluate, print the result, and return the verdict's exit code.

    Raises:
        UsageError, ProblemsFound, StateError: it cannot be done as asked.
    """
    suite = read_suite(place.suite)
    event = _event(place, wanted, suite)
    with ExitStack() as stack:
        state = place.state or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        settings = _settings(place, state, budget=wanted.budget)
        _check_history(settings, suite)
        _configure_logs(place.credential_env)
        progress = ProgressTelemetry()
        stack.callback(progress.close)
        stack.enter_context(_telling_what_is_kept(place.state))
        published = asyncio.run(evaluate_once(settings, event, [progress]))
    completed = results.decode(published.result)
    for remark in _remarks(place, event, completed):
        say(remark)
    print_result(published.result, completed, as_json=as_json)
    return code_for(completed.data.statistics.verdict.outcome)


def _check_history(settings: Settings, suite: Suite) -> None:
    """Refuse history that has nothing to do with the suite, before anything is paid for."""
    (configured,) = settings.suites
    found = checks.check_learning(suite, configured)
    if found.problems:
        raise HistoryError(found.problems)
    for warning in found.warnings:
        say(f"warning: {warning}")


def _remarks(
    place: Place, event: EvaluationWanted, completed: results.CompletedEvaluation
) -> Iterator[str]:
    """What the result alone does not tell whoever reads it."""
    found, ended = completed.data.statistics, completed.data.times.ended
    if event.identity.time is not None and ended < event.identity.time:
        yield (
            f"this was evaluated before, at {ended:%Y-%m-%d %H:%M:%S} UTC; nothing was asked, so "
            "options that were changed since, such as --history, were not used: another --version "
            "asks again"
        )
    objective = found.plan.objective if found.plan else None
    if isinstance(objective, records.NotWorse) and found.verdict.reason is Reason.ESTIMATED:
        todo = "the next version will be compared with this one"
        if place.state is None:
            todo = "give --state DIR to keep results, or --at-least"
        yield f"no earlier result to compare with, so any estimate is MET; {todo}"
    not_found = f"HTTP {checks.NOT_FOUND}" in found.verdict.sentence
    if not_found and checks.lacks_version(place.base_url):
        yield f"hint: does --base-url lack {checks.VERSIONED} at its end?"


def _event(place: Place, wanted: Wanted, suite: Suite) -> EvaluationWanted:
    wanted = replace(
        wanted,
        endpoint=place.endpoint,
        suites=(suite.name,),
        event_id=_event_id(wanted, place, suite),
    )
    event = event_from(wanted, now=SystemClock().now())
    if not isinstance(event, EvaluationWanted):
        raise UsageError("a withdrawn version cannot be evaluated")
    return event


def _event_id(wanted: Wanted, place: Place, suite: Suite) -> str:
    """The same question asked again is the same event: nothing is bought twice."""
    question = [
        wanted.variant,
        wanted.version,
        wanted.previous_version,
        wanted.budget,
        wanted.method or "",
        wanted.tolerance,
        wanted.at_least,
        place.model,
        suite.digest,
    ]
    return digest(question)[:32]


def _settings(place: Place, state: Path, *, budget: str) -> Settings:
    if place.history and place.guide:
        raise UsageError("give --history or --guide, not both")
    history = [
        {
            "file": path.absolute(),
            "before": place.before or None,
            "exclude": list(place.exclude),
        }
        for path in place.history
    ]
    endpoint: dict[str, object] = {"base_url": place.base_url, "model": place.model}
    credentials: dict[str, object] = {}
    if place.credential_env:
        endpoint["credential"] = CREDENTIAL
        credentials[CREDENTIAL] = {"env": place.credential_env}
    document = {
        "suites": [
            {
                "path": place.suite.absolute(),
                "history": history,
                "guide": place.guide and place.guide.absolute(),
            }
        ],
        "state": {"directory": state.absolute()},
        "endpoints": {place.endpoint: endpoint},
        "credentials": credentials,
        # A budget that was given is meant as it stands; the usual least goes with the usual one.
        "policies": [{"minimum": 1}] if budget else [],
        "limits": asdict(place.limits),
        "http": {"port": None},
    }
    return build_settings(document, where=_option)


def _option(location: Location) -> str:
    name = str(location[-1]) if location else ""
    if name in {"base_url", "model", "before", "guide", *Limits.__dataclass_fields__}:
        return f"--{name.replace('_', '-')}"
    return OPTIONS.get(name, field_name(location))


def _configure_logs(variable: str) -> None:
    secrets = []
    if variable:
        secrets = [read_variable(variable, where="--credential-env").get_secret_value()]
    logs = LogSettings(format="console", level="error")
    structured_logs.configure(logs, secrets=secrets)


@contextmanager
def _telling_what_is_kept(state: Path | None) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        if state is not None:
            say(f"interrupted; the answers so far are in {state}: the same command goes on there")
        raise
