"""Everything that can be known to be wrong before the daemon starts, and what will surprise."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from monitor.adapters.embedded.archive import SqliteArchive
from monitor.adapters.embedded.state import FILE
from monitor.adapters.kafka.topics import check_topics
from monitor.adapters.openai_endpoint import OpenAIEndpoint
from monitor.app import histories, signals, suite_checks
from monitor.app.buses import cluster
from monitor.app.catalog import LoadedSuite, read_suites
from monitor.app.reports import Report, count
from monitor.domain.answers import Exchange, Fault, Refused
from monitor.domain.errors import ConfigError, Problem, ProblemsFound, StateError
from monitor.domain.identifiers import CredentialName
from monitor.domain.suites import Suite
from monitor.history import outcomes, selection
from monitor.history.artefacts import Artefact, read_artefact
from monitor.service import gate
from monitor.settings import (
    EmbeddedBus,
    EndpointSettings,
    HistoryFile,
    KafkaBus,
    Settings,
    SuiteSettings,
    load_settings,
    read_secret,
)

PROBE_SECONDS = 10.0
NOT_FOUND = 404
VERSIONED = "/v1"
ADVICE = {
    Fault.UNAUTHORIZED: "check its credential",
    Fault.FORBIDDEN: "check its credential",
    Fault.UNKNOWN_MODEL: "correct `model`, or deploy it",
    Fault.UNREACHABLE: "start it, correct `base_url`, or check with --offline",
}


async def check(config: Path, *, offline: bool) -> Report:
    """Check a configuration and everything that it names.

    Args:
        config: the configuration file.
        offline: ask neither brokers nor endpoints.
    """
    report = Report()
    try:
        settings = load_settings(config)
    except ProblemsFound as error:
        report.problems.extend(error.problems)
        return report
    await _check_suites(settings, report)
    secrets = _read_credentials(settings, report)
    if isinstance(settings.bus, EmbeddedBus):
        await _check_state(settings.state.directory, report)
    if not offline:
        await _check_brokers(settings, report)
        await _check_endpoints(settings, secrets, report)
    return report


async def _check_brokers(settings: Settings, report: Report) -> None:
    if not isinstance(settings.bus, KafkaBus) or report.problems:
        return
    try:
        found = await check_topics(cluster(settings, settings.bus))
    except StateError as error:
        todo = "start them, correct `bus`, or check with --offline"
        report.problems.append(Problem(where="bus", what=str(error), todo=todo))
        return
    report.problems.extend(found)
    if not found:
        report.notes.append("bus: the topics are as they must be")


def check_learning(suite: Suite, settings: SuiteSettings) -> Report:
    """Check what a suite is to learn from, be it files of outcomes or a fitted guide."""
    report = check_history(suite, settings.history)
    _read_guide(suite, settings, report)
    return report


def check_history(suite: Suite, files: Sequence[HistoryFile]) -> Report:
    """Check files of earlier outcomes against the suite that is to learn from them."""
    report = Report()
    parts = [
        part for each in files if (part := _select(each, suite=suite, report=report)) is not None
    ]
    if not parts:
        return report
    where, chosen = f"suite {suite.name!r}", selection.stack(parts)
    report.notes.append(f"{where}: history of {count(len(chosen.models), 'model')}")
    if chosen.items_covered < len(suite.items):
        what = f"history covers {chosen.items_covered} of {len(suite.items)} items"
        todo = "the others are predicted from the answers alone: wider intervals"
        report.warnings.append(Problem(where=where, what=what, todo=todo))
    return report


async def _check_suites(settings: Settings, report: Report) -> None:
    suites, problems = read_suites(settings)
    report.problems.extend(problems)
    for loaded in suites.values():
        found = await suite_checks.check(loaded.suite, seconds=settings.limits.grader_seconds)
        report.add(found)
        _check_learning(loaded, settings, report)
    usable = [loaded.settings for loaded in suites.values()]
    for unusable in (each for each in settings.suites if each not in usable):
        for file in unusable.history:
            _read_outcomes(file, report)


def _check_learning(loaded: LoadedSuite, settings: Settings, report: Report) -> None:
    suite, source = loaded.suite, loaded.settings
    if not source.history and source.guide is None and source.surrogate is None:
        what = "has no history, so it is sampled plainly and its intervals are wider"
        where = f"suite {suite.name!r}"
        report.warnings.append(Problem(where=where, what=what, todo="give it `history`"))
    report.add(check_history(suite, source.history))
    report.add(signals.check(suite, source, settings))
    artefact = _read_guide(suite, source, report)
    for name, endpoint in settings.endpoints.items():
        if artefact and histories.has_learnt_from(artefact.origin, endpoint.model):
            what = (
                f"the guide of suite {suite.name!r} has learnt from its model {endpoint.model!r}, "
                "so it is not used for it"
            )
            todo = "fit the guide without it: see --exclude of `history fit`"
            report.warnings.append(Problem(where=f"endpoints.{name}", what=what, todo=todo))


def _read_guide(suite: Suite, settings: SuiteSettings, report: Report) -> Artefact | None:
    if settings.guide is None:
        return None
    try:
        artefact = read_artefact(settings.guide, suite)
    except ProblemsFound as error:
        report.problems.extend(error.problems)
        return None
    models = count(len(artefact.origin.models), "model")
    report.notes.append(
        f"suite {suite.name!r}: guide {artefact.fit.guide.name!r}, fitted to {models}"
    )
    return artefact


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
    clients: dict[str, OpenAIEndpoint] = {}
    for name, endpoint in settings.endpoints.items():
        key = None if endpoint.credential is None else CredentialName(endpoint.credential)
        # Without its credential, which is reported already, an endpoint's answer says nothing.
        if key is not None and key not in secrets:
            continue
        try:
            clients[name] = OpenAIEndpoint(endpoint.base_url, api_key=key and secrets[key])
        except ConfigError as error:
            (problem,) = error.problems
            report.problems.append(replace(problem, where=f"endpoints.{name}, {problem.where}"))
    async with asyncio.TaskGroup() as group:
        asked = {name: group.create_task(_models(client)) for name, client in clients.items()}
    for name, task in asked.items():
        _check_reply(name, settings.endpoints[name], task.result(), report=report)


def _check_reply(
    name: str, endpoint: EndpointSettings, reply: tuple[str, ...] | Exchange, *, report: Report
) -> None:
    where, obstacle = f"endpoints.{name}", gate.obstacle(endpoint.model, reply)
    if obstacle is not None:
        what = f"{endpoint.base_url}: {obstacle.detail}"
        todo = ADVICE.get(obstacle.fault, "")
        report.problems.append(Problem(where=where, what=what, todo=todo))
        return
    report.notes.append(f"endpoint {name!r}: answers")
    not_found = isinstance(reply, Refused) and reply.http_status == NOT_FOUND
    if not_found and lacks_version(endpoint.base_url):
        what = f"{endpoint.base_url}: HTTP {NOT_FOUND} for its list of models"
        todo = f"does base_url lack {VERSIONED} at its end?"
        report.warnings.append(Problem(where=where, what=what, todo=todo))


def lacks_version(base_url: str) -> bool:
    """Whether a URL may end too early, which is worth a word where nothing was found there."""
    return not base_url.rstrip("/").endswith(VERSIONED)


async def _models(client: OpenAIEndpoint) -> tuple[str, ...] | Exchange:
    try:
        return await client.models(seconds=PROBE_SECONDS)
    finally:
        await client.close()
