"""`variant-monitor evaluate`: one evaluation from the shell, for gates and for trying out."""

import asyncio
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, replace
from pathlib import Path

from monitor.adapters import structured_logs
from monitor.adapters.suite_files import read_suite
from monitor.adapters.system_clock import SystemClock
from monitor.app import checks, forecasts, surrogates
from monitor.app.single import evaluate_once
from monitor.cli import kept_answers, passes, places
from monitor.cli.events import Wanted, event_from
from monitor.cli.exits import ExitCode, code_for
from monitor.cli.output import print_json, print_line, print_result, say
from monitor.cli.places import Place
from monitor.cli.progress import ProgressTelemetry
from monitor.domain.errors import HistoryError, StateError, UsageError
from monitor.domain.events import EvaluationWanted
from monitor.domain.identifiers import EvaluationId, digest
from monitor.domain.results import Reason
from monitor.domain.suites import Suite
from monitor.engine import planning
from monitor.ports import Published
from monitor.settings import LogSettings, Settings, read_variable
from monitor.wire import records, results


def evaluate(
    place: Place, wanted: Wanted, *, as_json: bool, show_ungraded: bool = False
) -> ExitCode:
    """Evaluate, print the result, and return the verdict's exit code.

    Args:
        place: what a configuration would say.
        wanted: what an event would say.
        as_json: print the result as JSON, and nothing else on standard output.
        show_ungraded: print the answers without a score, too.

    Raises:
        UsageError, ProblemsFound, StateError: it cannot be done as asked.
    """
    suite = read_suite(place.suite)
    event = _event(place, wanted, suite)
    with ExitStack() as stack:
        state = place.state or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        settings = places.settings(place, state, budget=wanted.budget)
        _check_history(settings, suite)
        _configure_logs(place)
        progress = ProgressTelemetry()
        stack.callback(progress.close)
        stack.enter_context(_telling_what_is_kept(place.state))
        published = asyncio.run(_evaluate(settings, event, progress))
        ungraded = _ungraded(state, published.evaluation_id) if show_ungraded else ()
    completed = results.decode(published.result)
    for remark in _remarks(place, event, completed):
        say(remark)
    print_result(published.result, completed, as_json=as_json)
    tell = say if as_json else print_line
    for line in ungraded:
        tell(line)
    return code_for(completed.data.statistics.verdict.outcome)


async def _evaluate(
    settings: Settings, event: EvaluationWanted, progress: ProgressTelemetry
) -> Published:
    """Evaluate; a surrogate that has not been asked yet is asked first."""
    bought = None
    if settings.suites[0].surrogate is not None:
        bought = await surrogates.prepare(
            settings,
            buyer=event.identity.id,
            telemetry=progress,
            tell=lambda *found: progress.say(passes.forecast_line(*found)),
        )
    return await evaluate_once(settings, event, [progress], surrogates=bought)


def forecast(place: Place, wanted: Wanted, *, as_json: bool) -> None:
    """Print what an evaluation from its beginning would buy; nothing is asked.

    Raises:
        UsageError, ProblemsFound, StateError: it cannot be done as asked.
    """
    suite = read_suite(place.suite)
    event = _event(place, wanted, suite)
    with tempfile.TemporaryDirectory() as folder:
        settings = places.settings(place, place.state or Path(folder), budget=wanted.budget)
        asked = asyncio.run(passes.forecasts(settings)) if place.surrogate else ()
    policy = planning.apply_wishes(settings.policy_for(event.variant, suite.name), event)
    price = settings.endpoints[place.endpoint].price
    own = forecasts.of_version(suite, policy, price=None if price is None else price.price())
    if as_json:
        documents = [passes.forecast_document(of, each) for of, each in asked]
        print_json({"version": asdict(own), "surrogates": documents})
        return
    for of, each in asked:
        print_line(passes.forecast_line(of, each))
    print_line(f"version {event.version!r}: {passes.forecast_text(own)}")


def _ungraded(state: Path, identity: EvaluationId) -> Sequence[str]:
    try:
        return kept_answers.lines(kept_answers.find(state, identity))
    except StateError as error:
        return [f"the answers without a score cannot be shown: {error}"]


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
    question: list[object] = [
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
    surrogate = place.surrogate
    if surrogate is not None:
        question.append([surrogate.base_url, surrogate.model, surrogate.samples])
    return digest(question)[:32]


def _configure_logs(place: Place) -> None:
    variables = {"--credential-env": place.credential_env}
    if place.surrogate is not None:
        variables["--surrogate-credential-env"] = place.surrogate.credential_env
    secrets = [
        read_variable(variable, where=option).get_secret_value()
        for option, variable in variables.items()
        if variable
    ]
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
