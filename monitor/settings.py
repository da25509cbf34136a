"""The configuration, `monitor.yaml`, checked as a whole before anything starts.

The environment is read here and nowhere else: `VARIANT_MONITOR_<GROUP>__<FIELD>` overrides a
field, deeper ones by further `__`; lists and mappings are written as YAML in brackets.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    ValidationInfo,
    model_validator,
)

from monitor.domain.endpoints import host_allowed
from monitor.domain.errors import ConfigError, Problem
from monitor.domain.identifiers import CredentialName, SuiteName, VariantName
from monitor.domain.policies import Policy
from monitor.domain.results import Price
from monitor.wire import overrides, yaml_documents
from monitor.wire.policies import PolicySettings
from monitor.wire.texts import BaseUrl, Currency, HostPattern, Name, VariableName
from monitor.wire.yaml_documents import Location

PREFIX = "VARIANT_MONITOR_"
LOOPBACK = ("localhost:*", "127.0.0.1:*", "[::1]:*")


def _beside_config(path: Path, info: ValidationInfo) -> Path:
    """Paths count from the folder of the configuration, wherever the process was started."""
    folder: Path = (info.context or {}).get("folder", Path())
    return folder / path


ConfigPath = Annotated[Path, AfterValidator(_beside_config)]
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1)]
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Group(BaseModel):
    """What every group of settings has in common."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        hide_input_in_errors=True,
        use_attribute_docstrings=True,
        validate_default=True,
    )


class StateSettings(Group):
    directory: ConfigPath = Path("state")
    """Folder of the journal and the published results; it must survive restarts."""


class TopicSettings(Group):
    versions: Name = "model-versions"
    """Version events are read from here."""
    evaluations: Name = "model-evaluations"
    """Results are published here."""
    outcomes: Name = "model-outcomes"
    """Records from which results can be replayed."""
    dead_letter: Name = "model-versions-dead-letter"
    """Events that can never be processed."""


class EmbeddedBus(Group):
    """A bus inside the state directory: one replica, no broker."""

    kind: Literal["embedded"] = "embedded"
    topics: TopicSettings = TopicSettings()


Bus = EmbeddedBus


class HistoryFile(Group):
    file: ConfigPath
    """Outcomes of earlier models."""
    before: date | None = None
    """Only models dated before this day; null takes all."""
    exclude: tuple[str, ...] = ()
    """Glob patterns of model names to leave out, such as the lineage that is watched."""


class SuiteSettings(Group):
    path: ConfigPath
    """Folder of the suite, or its suite.yaml."""
    history: tuple[HistoryFile, ...] = ()
    """Without history every evaluation is a plain random sample."""


class PriceSettings(Group):
    input_per_million: Amount
    """Money for a million prompt tokens."""
    output_per_million: Amount
    """Money for a million completion tokens."""
    currency: Currency = "USD"
    """ISO 4217 code; amounts in different currencies are never added up."""

    def price(self) -> Price:
        return Price(
            input_per_million=self.input_per_million,
            output_per_million=self.output_per_million,
            currency=self.currency,
        )


class EndpointSettings(Group):
    base_url: BaseUrl
    """Up to and including /v1, as OpenAI clients take it; http or https, no user, no query."""
    model: Annotated[str, Field(min_length=1)]
    """Name that requests carry."""
    credential: Name | None = None
    """Name under `credentials`; null sends none."""
    limit_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """Name of the token limit in requests; some servers refuse the older one."""
    price: PriceSettings | None = None
    """Without a price the cost of an evaluation is unknown."""
    concurrency: Count | None = None
    """Requests in flight at once; null takes limits.concurrency."""
    item_seconds: Seconds | None = None
    """Seconds for one item; null takes limits.item_seconds."""
    attempt_seconds: Seconds | None = None
    """Seconds for one request; null takes limits.attempt_seconds."""


class CredentialSource(Group):
    """Where a secret is found; the secret itself never stands in the configuration."""

    env: VariableName | None = None
    """Name of an environment variable, in capitals."""
    file: ConfigPath | None = None
    """A file that holds the secret alone, as mounted by Kubernetes."""
    hosts: tuple[HostPattern, ...] = ()
    """Hosts to which events may have it sent besides the `endpoints` that name it, written as in
    allowed_hosts; end them in `:443` to rule out http."""

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        if (self.env is None) == (self.file is None):
            raise ValueError("needs either env or file, and not both")
        return self


class LimitSettings(Group):
    item_seconds: Seconds = 120.0
    """For one item, retries and waits included; then its answer is missing."""
    attempt_seconds: Seconds = 60.0
    """For one request, so that a hung connection cannot hold its place."""
    gate_seconds: Seconds = 600.0
    """How long a new version may take to answer at all before it is FAULTED."""
    grader_seconds: Seconds = 2.0
    """For grading one answer; a pattern can run for ever."""
    drain_seconds: Seconds = 20.0
    """For what is in flight at a stop; keep it well below the grace period of the pod."""
    concurrency: Count = 8
    """Requests in flight to one endpoint; it serves production at the same time."""
    evaluations_at_once: Count = 4
    """More wait their turn, so that a burst of events does not slow down every one."""
    read_ahead: Count = 100
    """Events read before their turn, so that a newer version is seen in time to supersede."""
    supersede: bool = True
    """A newer version of a variant ends the open evaluations of the older one."""
    max_event_bytes: Count = 256 * 1024
    """A larger event is a dead letter."""
    max_event_age_hours: Annotated[float, Field(gt=0)] = 24.0
    """An older event is recorded, but nothing is bought for it."""


class HttpSettings(Group):
    host: str = "127.0.0.1"
    """Address to listen on; 0.0.0.0 for all, which shows the results to whoever can connect."""
    port: Annotated[int, Field(ge=0, le=65535)] | None = 9464
    """Port of /metrics, /livez, /readyz and the status page; 0 takes a free one, null none."""


class LogSettings(Group):
    format: Literal["json", "console"] = "json"
    """One JSON object a line, or lines for people."""
    level: Literal["debug", "info", "warning", "error"] = "info"
    """debug tells of every request."""


class MetricSettings(Group):
    max_variants: Count = 200
    """Further variants are counted together as `other`: labels must not grow without bound."""
    retire_days: Annotated[float, Field(gt=0)] = 30.0
    """A variant disappears from the metrics this long after its last result."""


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
    http: HttpSettings = HttpSettings()
    logs: LogSettings = LogSettings()
    metrics: MetricSettings = MetricSettings()

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
    for name, endpoint in settings.endpoints.items():
        place = ("endpoints", name)
        if endpoint.credential is not None and endpoint.credential not in settings.credentials:
            todo = yaml_documents.hint(endpoint.credential, settings.credentials)
            what = "is not among `credentials`"
            yield Problem(where=where((*place, "credential")), what=what, todo=todo)
        if not host_allowed(endpoint.base_url, settings.host_patterns):
            what, todo = "its host is not allowed or oddly written", "see allowed_hosts"
            yield Problem(where=where((*place, "base_url")), what=what, todo=todo)


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


def read_secret(
    source: CredentialSource, environ: Mapping[str, str] | None = None, *, where: str = "credential"
) -> SecretStr:
    """Fetch one secret.

    Raises:
        ConfigError: naming the variable or file that is missing or unfit, never its content.
    """
    if source.file is not None:
        return _fit(_read_secret(source.file), f"file {source.file}", where=where)
    return read_variable(str(source.env), environ, where=where)


def read_variable(name: str, environ: Mapping[str, str] | None = None, *, where: str) -> SecretStr:
    """Fetch one secret from an environment variable.

    Raises:
        ConfigError: naming the variable that is missing or unfit, never its content.
    """
    variables = os.environ if environ is None else environ
    return _fit(variables.get(name), f"environment variable {name}", where=where)


def _fit(secret: str | None, place: str, *, where: str) -> SecretStr:
    if secret is None:
        what = f"{place} is not there or cannot be read"
        raise ConfigError([Problem(where=where, what=what)])
    secret = secret.strip()
    # It becomes part of an HTTP header.
    if not secret or not secret.isascii() or not secret.isprintable():
        what = f"{place} must hold one line of printable ASCII characters"
        raise ConfigError([Problem(where=where, what=what)])
    return SecretStr(secret)


def _read_secret(file: Path) -> str | None:
    try:
        return file.read_bytes().decode("utf-8", errors="replace")
    except OSError:
        return None
