"""`variant-monitor evaluate`: one evaluation from the shell, for gates and for trying out."""

import asyncio
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from monitor.adapters import structured_logs
from monitor.adapters.suite_files import read_suite
from monitor.adapters.system_clock import SystemClock
from monitor.app.single import evaluate_once
from monitor.cli.events import Wanted, event_from
from monitor.cli.exits import ExitCode, code_for
from monitor.cli.output import print_result
from monitor.cli.progress import ProgressTelemetry
from monitor.domain.errors import UsageError
from monitor.domain.events import EvaluationWanted
from monitor.domain.identifiers import digest
from monitor.domain.suites import Suite
from monitor.settings import LogSettings, Settings
from monitor.wire import results

ENDPOINT = "endpoint"
CREDENTIAL = "key"


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
    concurrency: int
    item_seconds: float
    state: Path | None


def evaluate(place: Place, wanted: Wanted, *, as_json: bool) -> ExitCode:
    """Evaluate, print the result, and return the verdict's exit code.

    Raises:
        UsageError, ProblemsFound, StateError: it cannot be done as asked.
    """
    structured_logs.configure(LogSettings(format="console", level="error"))
    suite = read_suite(place.suite)
    wanted = replace(wanted, suites=(suite.name,), event_id=_event_id(wanted, place, suite))
    event = event_from(wanted, now=SystemClock().now())
    if not isinstance(event, EvaluationWanted):
        raise UsageError("a withdrawn version cannot be evaluated")
    progress = ProgressTelemetry()
    with ExitStack() as stack:
        stack.callback(progress.close)
        state = place.state or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        settings = Settings.model_validate(_document(place, state))
        published = asyncio.run(evaluate_once(settings, event, [progress]))
    completed = results.decode(published.result)
    print_result(published.result, completed, as_json=as_json)
    return code_for(completed.data.statistics.verdict.outcome)


def _event_id(wanted: Wanted, place: Place, suite: Suite) -> str:
    """The same question asked again is the same event: nothing is bought twice."""
    question = [
        wanted.variant,
        wanted.version,
        wanted.previous_version,
        wanted.budget,
        wanted.method,
        wanted.tolerance,
        wanted.at_least,
        place.model,
        suite.digest,
    ]
    return digest(question)[:32]


def _document(place: Place, state: Path) -> dict[str, object]:
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
    return {
        "suites": [{"path": place.suite.absolute(), "history": history}],
        "state": {"directory": state.absolute()},
        "endpoints": {ENDPOINT: endpoint},
        "credentials": credentials,
        "limits": {"concurrency": place.concurrency, "item_seconds": place.item_seconds},
        "http": {"port": None},
    }
