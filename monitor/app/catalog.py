"""The service's catalog, filled from the configuration."""

import asyncio
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass

from monitor.adapters.openai_endpoint import OpenAIEndpoint, checked_host
from monitor.adapters.suite_files import read_suite
from monitor.app import grading, signals
from monitor.app.histories import Histories
from monitor.domain.endpoints import host_allowed
from monitor.domain.errors import (
    ConfigError,
    DeadLetterReason,
    InvalidEvent,
    Problem,
    SuiteError,
)
from monitor.domain.events import EndpointRef, InlineEndpoint
from monitor.domain.identifiers import CredentialName, EndpointName, SuiteName, VariantName
from monitor.domain.policies import Policy
from monitor.domain.results import Price
from monitor.domain.suites import Suite
from monitor.engine import planning
from monitor.ports import Clock
from monitor.service.asking import Patience
from monitor.service.catalog import Judge, Target
from monitor.service.lanes import Lane
from monitor.settings import EndpointSettings, Settings, SuiteSettings

# Places that are remembered, those in use aside: events may name any number of them.
MOST_CONNECTIONS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedSuite:
    """A suite with the settings that name it."""

    suite: Suite
    settings: SuiteSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """One endpoint, shared by everything that asks it."""

    endpoint: OpenAIEndpoint
    lane: Lane


class ConfiguredCatalog:
    """Implements `service.catalog.Catalog`."""

    def __init__(
        self,
        settings: Settings,
        suites: Mapping[SuiteName, LoadedSuite],
        *,
        secrets: Mapping[CredentialName, str],
        histories: Histories,
        clock: Clock,
    ) -> None:
        """Open nothing yet.

        Raises:
            ConfigError: a credential cannot be sent.
        """
        self._settings = settings
        self._suites = suites
        self._secrets = secrets
        self._histories = histories
        self._clock = clock
        self._connections: dict[Hashable, Connection] = {}
        for endpoint in settings.endpoints.values():
            self._connection(endpoint)

    def suite(self, name: SuiteName) -> Suite:
        """A configured suite.

        Raises:
            InvalidEvent: there is none of this name.
        """
        return self._loaded(name).suite

    def suites_for(self, variant: VariantName) -> tuple[SuiteName, ...]:  # noqa: ARG002 - of the port
        """Every configured suite."""
        return tuple(self._suites)

    def policy(self, variant: VariantName, suite: SuiteName) -> Policy:
        """What is wanted of this variant on this suite."""
        return self._settings.policy_for(variant, suite)

    def target(self, ref: EndpointRef) -> Target:
        """The endpoint an event names or writes out.

        Raises:
            InvalidEvent: as `endpoint_settings`.
        """
        settings = endpoint_settings(ref, self._settings)
        try:
            return self._target(settings)
        except ConfigError as error:
            detail = "the endpoint cannot be asked: its address or credential is unusable"
            raise InvalidEvent(DeadLetterReason.INVALID_DATA, detail) from error

    def judges(self, suite: SuiteName) -> tuple[Judge, ...]:
        """Who judges the answers to a suite, as its settings name them."""
        return tuple(
            Judge(name=EndpointName(name), target=self._target(self._settings.endpoints[name]))
            for name in self._loaded(suite).settings.judges
        )

    async def history(self, suite: SuiteName, model: str) -> planning.History | None:
        """A guide fitted without any outcome of `model`, None where there is no history."""
        loaded = self._loaded(suite)
        return await self._histories.fit(loaded.suite, loaded.settings, model=model)

    def surrogates(self, suite: SuiteName) -> tuple[str, ...]:
        """Names of the surrogates of a suite, as its settings name them."""
        configured = self._loaded(suite).settings.surrogate
        return () if configured is None else configured.endpoints

    async def signal(self, suite: SuiteName) -> planning.Surrogate | None:
        """What their answers tell by now: they may be asked while the daemon runs."""
        loaded = self._loaded(suite)
        return await asyncio.to_thread(
            signals.combined, loaded.suite, loaded.settings, self._settings
        )

    async def close(self) -> None:
        """Close every connection."""
        for connection in self._connections.values():
            await connection.endpoint.close()

    def _loaded(self, name: SuiteName) -> LoadedSuite:
        require_suite(name, self._suites)
        return self._suites[name]

    def _target(self, settings: EndpointSettings) -> Target:
        limits = self._settings.limits_of(settings)
        connection = self._connection(settings)
        return Target(
            model=settings.model,
            base_url=settings.base_url,
            endpoint=connection.endpoint,
            lane=connection.lane,
            concurrency=limits.concurrency,
            patience=Patience(
                item_seconds=limits.item_seconds,
                attempt_seconds=limits.attempt_seconds,
            ),
            gate_seconds=limits.gate_seconds,
            price=_price(settings),
        )

    def _connection(self, settings: EndpointSettings) -> Connection:
        """The one connection for everything that is asked at a place in the same way."""
        concurrency = self._settings.limits_of(settings).concurrency
        place = settings.base_url, settings.credential
        key = *place, settings.limit_field, concurrency
        connection = self._connections.pop(key, None) or Connection(
            endpoint=self._endpoint(settings),
            lane=Lane(concurrency=concurrency, clock=self._clock),
        )
        self._forget_idle()
        self._connections[key] = connection
        return connection

    def _endpoint(self, settings: EndpointSettings) -> OpenAIEndpoint:
        secret = None
        if settings.credential is not None:
            secret = self._secrets[CredentialName(settings.credential)]
        return OpenAIEndpoint(settings.base_url, api_key=secret, limit_field=settings.limit_field)

    def _forget_idle(self) -> None:
        """Make room, beginning with what was not named for longest."""
        for key, connection in list(self._connections.items()):
            if len(self._connections) < MOST_CONNECTIONS:
                return
            if not connection.endpoint.is_open:
                del self._connections[key]


def load_suites(settings: Settings) -> Mapping[SuiteName, LoadedSuite]:
    """Read every configured suite.

    Raises:
        SuiteError: with the findings of all of them.
    """
    loaded, problems = read_suites(settings)
    if problems:
        raise SuiteError(problems)
    return loaded


def read_suites(settings: Settings) -> tuple[Mapping[SuiteName, LoadedSuite], Sequence[Problem]]:
    """The configured suites that can be used, and what is wrong with the others."""
    loaded: dict[SuiteName, LoadedSuite] = {}
    problems: list[Problem] = []
    for each in settings.suites:
        try:
            suite = read_suite(each.path)
        except SuiteError as error:
            problems += error.problems
            continue
        if suite.name in loaded:
            what = f"is a second suite named {suite.name!r}"
            problems.append(Problem(where=str(each.path), what=what, todo="give it another name"))
            continue
        unready = grading.problems(suite, each, settings.graders)
        problems += unready
        if not unready:
            loaded[suite.name] = LoadedSuite(suite=suite, settings=each)
    return loaded, problems


def require_suite(name: SuiteName, known: Collection[SuiteName]) -> None:
    """Make sure that an event names a suite that there is.

    Raises:
        InvalidEvent: there is none of this name.
    """
    if name not in known:
        raise InvalidEvent(
            DeadLetterReason.UNKNOWN_SUITE,
            f"suite {name!r} is not configured; there are: {', '.join(known)}",
        )


def endpoint_settings(ref: EndpointRef, settings: Settings) -> EndpointSettings:
    """Settings of the endpoint that an event names or writes out.

    Raises:
        InvalidEvent: unknown name, unknown credential, or a host that may not be asked, or not be
            sent this credential.
    """
    if isinstance(ref, InlineEndpoint):
        return _written_out(ref, settings)
    known = settings.endpoints.get(ref)
    if known is None:
        raise InvalidEvent(
            DeadLetterReason.UNKNOWN_ENDPOINT,
            f"endpoint {ref!r} is not configured; there are: "
            f"{', '.join(settings.endpoints) or 'none'}",
        )
    return known


def _written_out(ref: InlineEndpoint, settings: Settings) -> EndpointSettings:
    if not host_allowed(ref.base_url, settings.host_patterns):
        raise InvalidEvent(
            DeadLetterReason.HOST_NOT_ALLOWED,
            "the host of endpoint.base_url is not among allowed_hosts",
        )
    if ref.credential is not None:
        _require_sendable(ref.credential, ref.base_url, settings)
    try:
        checked_host(ref.base_url)
        return EndpointSettings(base_url=ref.base_url, model=ref.model, credential=ref.credential)
    except (ConfigError, ValueError) as error:
        detail = "endpoint.base_url must be http(s)://host/path without user, query or fragment"
        raise InvalidEvent(DeadLetterReason.INVALID_DATA, detail) from error


def _require_sendable(credential: CredentialName, base_url: str, settings: Settings) -> None:
    """Whoever may write events must not learn a secret by naming a host of their own."""
    if credential not in settings.credentials:
        raise InvalidEvent(
            DeadLetterReason.UNKNOWN_CREDENTIAL,
            f"endpoint.credential {credential!r} is not among the configured credentials",
        )
    if not settings.may_send(credential, base_url):
        raise InvalidEvent(
            DeadLetterReason.HOST_NOT_ALLOWED,
            f"endpoint.credential {credential!r} may not be sent to the host of endpoint.base_url:"
            f" no configured endpoint uses it there, and credentials.{credential}.hosts does not"
            " list it",
        )


def _price(settings: EndpointSettings) -> Price | None:
    return None if settings.price is None else settings.price.price()
