"""Everything that can be known to be wrong before the daemon starts, and what will surprise."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from monitor.adapters.embedded.archive import SqliteArchive
from monitor.adapters.embedded.state import FILE
from monitor.adapters.openai_endpoint import OpenAIEndpoint
from monitor.adapters.suite_files import read_suite
from monitor.app.catalog import LoadedSuite, read_suites
from monitor.domain.answers import Fault
from monitor.domain.errors import Problem, ProblemsFound, StateError, SuiteError
from monitor.domain.identifiers import CredentialName
from monitor.domain.suites import Suite
from monitor.engine.statuses import EndpointFault
from monitor.grading.graders import self_check
from monitor.history import outcomes, selection
from monitor.service import gate
from monitor.settings import EndpointSettings, HistoryFile, Settings, load_settings, read_secret

PROBE_SECONDS = 10.0
ADVICE = {
    Fault.UNAUTHORIZED: "check its credential",
    Fault.FORBIDDEN: "check its credential",
    Fault.UNKNOWN_MODEL: "correct `model`, or deploy it",
    Fault.UNREACHABLE: "start it, correct `base_url`, or check with --offline",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a check found: what is wrong, what works but may surprise, what is fine."""

    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


async def check(config: Path, *, offline: bool) -> Report:
    """Check a configuration and everything that it names.

    Args:
        config: the configuration file.
        offline: do not ask the endpoints.
    """
    report = Report()
    try:
        settings = load_settings(config)
    except ProblemsFound as error:
        report.problems.extend(error.problems)
        return report
    _check_suites(settings, report)
    secrets = _read_credentials(settings, report)
    await _check_state(settings.state.directory, report)
    if not offline:
        await _check_endpoints(settings, secrets, report)
    return report


def check_suite(path: Path) -> Report:
    """Check a suite; each target must score 1 against itself."""
    report = Report()
    try:
        suite = read_suite(path)
    except SuiteError as error:
        report.problems.extend(error.problems)
        return report
    _check_suite(suite, report)
    return report


def _check_suite(suite: Suite, report: Report) -> None:
    report.problems.extend(self_check(suite))
    groups = {item.group for item in suite.items if item.group is not None}
    report.notes.append(
        f"suite {suite.name!r}: {_count(len(suite.items), 'item')}"
        + (f" in {_count(len(groups), 'group')}" if groups else "")
    )


def _check_suites(settings: Settings, report: Report) -> None:
    suites, problems = read_suites(settings)
    report.problems.extend(problems)
    for loaded in suites.values():
        _check_suite(loaded.suite, report)
        _check_history(loaded, report)
    usable = [loaded.settings for loaded in suites.values()]
    for unusable in (each for each in settings.suites if each not in usable):
        for file in unusable.history:
            _read_outcomes(file, report)


def _check_history(loaded: LoadedSuite, report: Report) -> None:
    suite, files = loaded.suite, loaded.settings.history
    where = f"suite {suite.name!r}"
    if not files:
        what = "has no history, so it is sampled plainly and its intervals are wider"
        report.warnings.append(Problem(where=where, what=what, todo="give it `history`"))
    parts = [
        part for each in files if (part := _select(each, suite=suite, report=report)) is not None
    ]
    if not parts:
        return
    chosen = selection.stack(parts)
    report.notes.append(f"{where}: history of {_count(len(chosen.models), 'model')}")
    if chosen.items_covered < len(suite.items):
        what = f"history covers {chosen.items_covered} of {len(suite.items)} items"
        todo = "the others are predicted from the answers alone: wider intervals"
        report.warnings.append(Problem(where=where, what=what, todo=todo))


def _select(file: HistoryFile, *, suite: Suite, report: Report) -> selection.History | None:
    matrix = _read_outcomes(file, report)
    if matrix is None:
        return None
    item_ids = [item.id for item in suite.items]
    chosen = selection.select(matrix, item_ids, before=file.before, exclude=file.exclude)
    if chosen.models:
        return chosen
    report.problems.append(
        Problem(
            where=str(file.file),
            what=f"holds no outcome for suite {suite.name!r} that may be used",
            todo="its `items` must be the suite's item ids; see also `before` and `exclude`",
        )
    )
    return None


def _read_outcomes(file: HistoryFile, report: Report) -> outcomes.OutcomeMatrix | None:
    try:
        return outcomes.read_outcomes(file.file)
    except ProblemsFound as error:
        report.problems.extend(error.problems)
        return None


def _read_credentials(settings: Settings, report: Report) -> Mapping[CredentialName, str]:
    secrets: dict[CredentialName, str] = {}
    for name, source in settings.credentials.items():
        try:
            secret = read_secret(source, where=f"credentials.{name}")
        except ProblemsFound as error:
            report.problems.extend(error.problems)
            continue
        secrets[CredentialName(name)] = secret.get_secret_value()
        report.notes.append(f"credential {name!r}: found")
    return secrets


async def _check_state(directory: Path, report: Report) -> None:
    if not (directory / FILE).exists():
        return
    try:
        archive = await SqliteArchive.open(directory)
    except StateError as error:
        report.problems.append(Problem(where="state.directory", what=str(error)))
        return
    await archive.close()


async def _check_endpoints(
    settings: Settings, secrets: Mapping[CredentialName, str], report: Report
) -> None:
    # Without its credential, which is reported already, an endpoint's answer says nothing.
    askable = {
        name: endpoint
        for name, endpoint in settings.endpoints.items()
        if endpoint.credential is None or endpoint.credential in secrets
    }
    async with asyncio.TaskGroup() as group:
        asked = {
            name: group.create_task(_obstacle(endpoint, secrets))
            for name, endpoint in askable.items()
        }
    for name, task in asked.items():
        obstacle = task.result()
        if obstacle is None:
            report.notes.append(f"endpoint {name!r}: answers")
            continue
        what = f"{askable[name].base_url}: {obstacle.detail}"
        todo = ADVICE.get(obstacle.fault, "")
        report.problems.append(Problem(where=f"endpoints.{name}", what=what, todo=todo))


async def _obstacle(
    endpoint: EndpointSettings, secrets: Mapping[CredentialName, str]
) -> EndpointFault | None:
    key = None if endpoint.credential is None else secrets[CredentialName(endpoint.credential)]
    client = OpenAIEndpoint(endpoint.base_url, api_key=key)
    try:
        reply = await client.models(seconds=PROBE_SECONDS)
    finally:
        await client.close()
    return gate.obstacle(endpoint.model, reply)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
