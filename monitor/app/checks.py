"""Everything that can be known to be wrong before the daemon starts, and what will surprise."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from monitor.adapters.embedded.archive import SqliteArchive
from monitor.adapters.embedded.state import FILE
from monitor.adapters.grader_processes import GraderProcesses
from monitor.adapters.kafka.topics import check_topics
from monitor.adapters.openai_endpoint import OpenAIEndpoint
from monitor.adapters.suite_files import read_suite
from monitor.app import histories
from monitor.app.buses import cluster
from monitor.app.catalog import LoadedSuite, read_suites
from monitor.domain.answers import Exchange, Fault, Refused
from monitor.domain.errors import ConfigError, Problem, ProblemsFound, StateError, SuiteError
from monitor.domain.identifiers import CredentialName
from monitor.domain.suites import ImagePart, Item, Suite, TextPart
from monitor.grading.graders import self_check
from monitor.history import outcomes, selection
from monitor.history.artefacts import Artefact, read_artefact
from monitor.prompting import templates
from monitor.service import gate
from monitor.settings import (
    EmbeddedBus,
    EndpointSettings,
    HistoryFile,
    KafkaBus,
    LimitSettings,
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a check found: what is wrong, what works but may surprise, what is fine."""

    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, other: "Report") -> None:
        """Take over what another check found."""
        self.problems.extend(other.problems)
        self.warnings.extend(other.warnings)
        self.notes.extend(other.notes)


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


async def check_suite(path: Path) -> Report:
    """Check a suite; each target must score 1 against itself."""
    report = Report()
    try:
        suite = read_suite(path)
    except SuiteError as error:
        report.problems.extend(error.problems)
        return report
    await _check_suite(suite, report, seconds=LimitSettings().grader_seconds)
    return report


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
    report.notes.append(f"{where}: history of {_count(len(chosen.models), 'model')}")
    if chosen.items_covered < len(suite.items):
        what = f"history covers {chosen.items_covered} of {len(suite.items)} items"
        todo = "the others are predicted from the answers alone: wider intervals"
        report.warnings.append(Problem(where=where, what=what, todo=todo))
    return report


async def _check_suite(suite: Suite, report: Report, *, seconds: float) -> None:
    graders = GraderProcesses(seconds=seconds, workers=1)
    try:
        report.problems.extend(await self_check(suite, graders.grade))
    finally:
        await graders.close()
    hidden = [item.id for item in suite.items if _hides_choices(suite, item)]
    if hidden:
        what = f"{_count(len(hidden), 'item')} with choices that the model is not shown"
        todo = "name `choices` in prompt.user, or repeat them in the item's input"
        where = f"suite {suite.name!r}"
        first = f"{what}, the first is {hidden[0]!r:.80}"
        report.warnings.append(Problem(where=where, what=first, todo=todo))
    groups = {item.group for item in suite.items if item.group is not None}
    report.notes.append(
        f"suite {suite.name!r}: {_count(len(suite.items), 'item')}"
        + (f" in {_count(len(groups), 'group')}" if groups else "")
    )


async def _check_suites(settings: Settings, report: Report) -> None:
    suites, problems = read_suites(settings)
    report.problems.extend(problems)
    for loaded in suites.values():
        await _check_suite(loaded.suite, report, seconds=settings.limits.grader_seconds)
        _check_learning(loaded, settings, report)
    usable = [loaded.settings for loaded in suites.values()]
    for unusable in (each for each in settings.suites if each not in usable):
        for file in unusable.history:
            _read_outcomes(file, report)


def _hides_choices(suite: Suite, item: Item) -> bool:
    """Whether the words of a choice stand nowhere in what is asked; a picture may show them."""
    text = ""
    for message in templates.render(suite, item) if item.choices else ():
        parts = message.content
        for part in (TextPart(text=parts),) if isinstance(parts, str) else parts:
            if isinstance(part, ImagePart):
                return False
            text += part.text
    return not all(choice in text for choice in item.choices)


def _check_learning(loaded: LoadedSuite, settings: Settings, report: Report) -> None:
    suite, source = loaded.suite, loaded.settings
    if not source.history and source.guide is None:
        what = "has no history, so it is sampled plainly and its intervals are wider"
        where = f"suite {suite.name!r}"
        report.warnings.append(Problem(where=where, what=what, todo="give it `history`"))
    report.add(check_history(suite, source.history))
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
    models = _count(len(artefact.origin.models), "model")
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


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
