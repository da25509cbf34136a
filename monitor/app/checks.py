"""Everything that can be known to be wrong before the daemon starts."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from monitor.adapters.openai_endpoint import OpenAIEndpoint
from monitor.adapters.suite_files import read_suite
from monitor.app.catalog import LoadedSuite, load_suites
from monitor.domain.answers import Broken, Completed, Refused
from monitor.domain.errors import Problem, ProblemsFound, SuiteError
from monitor.domain.identifiers import CredentialName
from monitor.grading.graders import self_check
from monitor.history import outcomes, selection
from monitor.settings import EndpointSettings, Settings, load_settings, resolve_credentials

PROBE_SECONDS = 10.0


async def check(config: Path, *, offline: bool) -> tuple[Problem, ...]:
    """Everything that is wrong with a configuration and what it names.

    Args:
        config: the configuration file.
        offline: do not ask the endpoints.
    """
    try:
        settings = load_settings(config)
    except ProblemsFound as error:
        return error.problems
    problems = [*_check_suites(settings), *_check_credentials(settings)]
    if not offline and not problems:
        problems += [problem async for problem in _check_endpoints(settings)]
    return tuple(problems)


def check_suite(path: Path) -> tuple[Problem, ...]:
    """Everything that is wrong with a suite; each target must score 1 against itself."""
    try:
        return tuple(self_check(read_suite(path)))
    except SuiteError as error:
        return error.problems


def _check_suites(settings: Settings) -> Iterator[Problem]:
    try:
        suites = load_suites(settings)
    except SuiteError as error:
        yield from error.problems
        return
    for loaded in suites.values():
        yield from self_check(loaded.suite)
        yield from _check_history(loaded)


def _check_history(loaded: LoadedSuite) -> Iterator[Problem]:
    item_ids = [item.id for item in loaded.suite.items]
    for each in loaded.settings.history:
        try:
            matrix = outcomes.read_outcomes(each.file)
        except ProblemsFound as error:
            yield from error.problems
            continue
        chosen = selection.select(matrix, item_ids, before=each.before, exclude=each.exclude)
        if not chosen.models:
            yield Problem(
                where=str(each.file),
                what=f"holds no outcome for suite {loaded.suite.name!r} that may be used",
                todo="its `items` must be the suite's item ids; see also `before` and `exclude`",
            )


def _check_credentials(settings: Settings) -> tuple[Problem, ...]:
    try:
        resolve_credentials(settings)
    except ProblemsFound as error:
        return error.problems
    return ()


async def _check_endpoints(settings: Settings) -> AsyncIterator[Problem]:
    secrets = resolve_credentials(settings)
    for name, endpoint in settings.endpoints.items():
        key = None
        if endpoint.credential is not None:
            key = secrets[CredentialName(endpoint.credential)].get_secret_value()
        client = OpenAIEndpoint(endpoint.base_url, api_key=key)
        try:
            what = _obstacle(endpoint, await client.models(seconds=PROBE_SECONDS))
        finally:
            await client.close()
        if what is not None:
            yield Problem(where=f"endpoints.{name}", what=what, todo="or check with --offline")


def _obstacle(
    endpoint: EndpointSettings, reply: tuple[str, ...] | Completed | Refused | Broken
) -> str | None:
    match reply:
        case Broken():
            return f"{endpoint.base_url} does not answer ({reply.cause})"
        case Refused(http_status=401 | 403):
            return f"{endpoint.base_url} does not accept the credential"
        case tuple() if reply and endpoint.model not in reply:
            return f"serves {', '.join(reply[:5])}, not {endpoint.model}"
        case _:
            return None
