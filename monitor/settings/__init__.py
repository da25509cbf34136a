"""The configuration, `monitor.yaml`, checked as a whole before anything starts.

The environment is read here and nowhere else: `VARIANT_MONITOR_<GROUP>__<FIELD>` overrides a
field, deeper ones by further `__`; lists and mappings are written as YAML in brackets.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import SecretStr, ValidationError

from monitor.domain.endpoints import host_allowed
from monitor.domain.errors import ConfigError, Problem
from monitor.domain.identifiers import CredentialName, SuiteName, VariantName
from monitor.domain.policies import Policy
from monitor.settings.groups import (
    Bus,
    CredentialSource,
    EmbeddedBus,
    EndpointSettings,
    GraderSettings,
    Group,
    HttpSettings,
    KafkaBus,
    KeptAnswerSettings,
    LimitSettings,
    LogSettings,
    MetricSettings,
    PriceSettings,
    SaslSettings,
    SecuritySettings,
    StateSettings,
    TopicSettings,
)
from monitor.settings.secrets import read_secret, read_variable
from monitor.settings.suites import (
    HistoryFile,
    SuiteSettings,
    SuiteSurrogateSettings,
    SurrogatesSettings,
)
from monitor.wire import overrides, yaml_documents
from monitor.wire.policies import PolicySettings
from monitor.wire.texts import HostPattern, Name
from monitor.wire.yaml_documents import Location

__all__ = [
    "CredentialSource",
    "EmbeddedBus",
    "EndpointSettings",
    "GraderSettings",
    "Group",
    "HistoryFile",
    "HttpSettings",
    "KafkaBus",
    "KeptAnswerSettings",
    "LimitSettings",
    "LogSettings",
    "MetricSettings",
    "PolicySettings",
    "PriceSettings",
    "SaslSettings",
    "SecuritySettings",
    "Settings",
    "StateSettings",
    "SuiteSettings",
    "SuiteSurrogateSettings",
    "SurrogatesSettings",
    "TopicSettings",
    "build_settings",
    "load_settings",
    "read_secret",
    "read_variable",
    "resolve_credentials",
]

PREFIX = "VARIANT_MONITOR_"
LOOPBACK = ("localhost:*", "127.0.0.1:*", "[::1]:*")


class Settings(Group):
    """Everything that can be configured; every group but `suites` may be left out."""

    suites: tuple[SuiteSettings, ...]
    state: StateSettings = StateSettings()
    bus: Bus = EmbeddedBus()
    endpoints: Mapping[Name, EndpointSettings] = {}
    allowed_hosts: tuple[HostPattern, ...] | None = None
    """Hosts that may be asked, as `host:port` or `*.suffix`, `:*` for any port and none for that
    of the scheme; null allows this machine and the hosts under `endpoints`."""
    credentials: Mapping[Name, CredentialSource] = {}
    policies: tuple[PolicySettings, ...] = ()
    """The first that matches counts."""
    limits: LimitSettings = LimitSettings()
    graders: GraderSettings = GraderSettings()
    surrogates: SurrogatesSettings = SurrogatesSettings()
    kept_answers: KeptAnswerSettings = KeptAnswerSettings()
    http: HttpSettings = HttpSettings()
    logs: LogSettings = LogSettings()
    metrics: MetricSettings = MetricSettings()

    @property
    def surrogates_directory(self) -> Path:
        """Where surrogates' answers are kept, and what they tell of the suites."""
        return self.surrogates.directory or self.state.directory / "surrogates"

    @property
    def host_patterns(self) -> tuple[str, ...]:
        """Hosts that may be asked, be it by the configuration or by an event."""
        if self.allowed_hosts is not None:
            return self.allowed_hosts
        configured = {urlsplit(endpoint.base_url).netloc for endpoint in self.endpoints.values()}
        return (*LOOPBACK, *sorted(configured))

    def may_send(self, credential: CredentialName, base_url: str) -> bool:
        """Whether an event may have a credential sent to an endpoint that it writes out.

        Where endpoints of the configuration use it, the scheme counts too: a secret that goes
        out over https must not be lured into http.
        """
        scheme = urlsplit(base_url).scheme
        users = (each for each in self.endpoints.values() if each.credential == credential)
        used = [urlsplit(each.base_url) for each in users]
        own = [parts.netloc for parts in used if parts.scheme == scheme]
        return host_allowed(base_url, [*own, *self.credentials[credential].hosts])

    def policy_for(self, variant: VariantName, suite: SuiteName) -> Policy:
        """The first policy whose patterns match; the defaults where none does."""
        matching = (entry for entry in self.policies if entry.matches(variant, suite))
        return next(matching, PolicySettings()).policy()

    def limits_of(self, endpoint: EndpointSettings) -> LimitSettings:
        """The limits, with what the endpoint says of its own."""
        own = endpoint.model_dump(include=set(LimitSettings.model_fields), exclude_none=True)
        return self.limits.model_copy(update=own)


def load_settings(path: Path, environ: Mapping[str, str] | None = None) -> Settings:
    """Read and check the configuration.

    Args:
        path: the YAML file; relative paths in it count from its folder.
        environ: variables that may override fields; None takes those of the process.

    Raises:
        ConfigError: with everything that is wrong, each with its file and line or its variable.
    """
    document, problems = yaml_documents.parse(_read(path), name=str(path))
    if document.content is None and problems:
        raise ConfigError(problems)
    variables = os.environ if environ is None else environ
    overridden = overrides.override(document, variables, prefix=PREFIX)
    content = overridden.content
    if isinstance(content, dict):
        content = _with_empty_groups(content)
    problems += overridden.problems
    return build_settings(content, where=overridden.where, folder=path.parent, problems=problems)


def build_settings(
    content: object,
    *,
    where: Callable[[Location], str],
    folder: Path = Path(),
    problems: Iterable[Problem] = (),
) -> Settings:
    """Check a configuration that is there as plain data.

    Args:
        content: what the file would say.
        where: turns the location of a value into words.
        folder: relative paths count from here.
        problems: what is known to be wrong already.

    Raises:
        ConfigError: with everything that is wrong.
    """
    found = list(problems)
    try:
        settings = Settings.model_validate(content, context={"folder": folder})
    except ValidationError as error:
        found += yaml_documents.explain(error, Settings, content=content, where=where)
        raise ConfigError(found) from None
    found += _contradictions(settings, where)
    if found:
        raise ConfigError(found)
    return settings


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        what = f"cannot be read: {error.strerror}"
        raise ConfigError([Problem(where=str(path), what=what, todo="check --config")]) from error


def _with_empty_groups(content: Mapping[str, object]) -> dict[str, object]:
    """A group whose every line is a comment says nothing; an unnamed state folder has a place."""
    return {"state": {}} | {key: value for key, value in content.items() if value is not None}


def _contradictions(settings: Settings, where: Callable[[Location], str]) -> Iterator[Problem]:
    """What is right field by field, but does not go together."""
    if not settings.suites:
        yield Problem(where=where(("suites",)), what="is empty", todo="name at least one suite")
    names = list(settings.bus.topics.model_dump().values())
    if len(set(names)) < len(names):
        what = "two topics have the same name"
        yield Problem(where=where(("bus", "topics")), what=what, todo="give each its own")
    for place, credential in _credentials_used(settings):
        if credential not in settings.credentials:
            todo = yaml_documents.hint(credential, settings.credentials)
            yield Problem(where=where(place), what="is not among `credentials`", todo=todo)
    yield from _judge_problems(settings, where)
    yield from _surrogate_problems(settings, where)
    for name, endpoint in settings.endpoints.items():
        if not host_allowed(endpoint.base_url, settings.host_patterns):
            what, todo = "its host is not allowed or oddly written", "see allowed_hosts"
            yield Problem(where=where(("endpoints", name, "base_url")), what=what, todo=todo)


def _judge_problems(settings: Settings, where: Callable[[Location], str]) -> Iterator[Problem]:
    for index, suite in enumerate(settings.suites):
        place = where(("suites", index, "judges"))
        yield from _unknown(suite.judges, settings, place)
        if len(set(suite.judges)) < len(suite.judges):
            todo = "name each once: asked again it says the same"
            yield Problem(where=place, what="names a judge twice", todo=todo)


def _surrogate_problems(settings: Settings, where: Callable[[Location], str]) -> Iterator[Problem]:
    for index, suite in enumerate(settings.suites):
        if suite.surrogate is None:
            continue
        named, group = suite.surrogate.endpoints, ("suites", index, "surrogate")
        yield from _unknown(named, settings, where((*group, "endpoints")))
        if len(set(named)) < len(named):
            todo = "name each once: its answers are the same"
            place = where((*group, "endpoints"))
            yield Problem(where=place, what="names a surrogate twice", todo=todo)
        if suite.surrogate.judge is not None:
            yield from _unknown([suite.surrogate.judge], settings, where((*group, "judge")))


def _unknown(names: Iterable[str], settings: Settings, place: str) -> Iterator[Problem]:
    for name in names:
        if name not in settings.endpoints:
            todo = yaml_documents.hint(name, settings.endpoints)
            yield Problem(where=place, what=f"{name} is not among `endpoints`", todo=todo)


def _credentials_used(settings: Settings) -> Iterator[tuple[Location, str]]:
    """Where a credential is named, and its name."""
    for name, endpoint in settings.endpoints.items():
        if endpoint.credential is not None:
            yield ("endpoints", name, "credential"), endpoint.credential
    if isinstance(settings.bus, KafkaBus) and settings.bus.security.sasl is not None:
        yield ("bus", "security", "sasl", "credential"), settings.bus.security.sasl.credential


def resolve_credentials(
    settings: Settings, environ: Mapping[str, str] | None = None
) -> Mapping[CredentialName, SecretStr]:
    """Fetch every secret from where the configuration says it is.

    Raises:
        ConfigError: naming the variables and files that are missing or unfit, never their content.
    """
    secrets: dict[CredentialName, SecretStr] = {}
    problems: list[Problem] = []
    for name, source in settings.credentials.items():
        try:
            secrets[CredentialName(name)] = read_secret(
                source, environ, where=f"credentials.{name}"
            )
        except ConfigError as error:
            problems += error.problems
    if problems:
        raise ConfigError(problems)
    return secrets
