"""Groups of settings: each field with its unit, what null means, and why this default."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationInfo,
    model_validator,
)

from monitor.domain.results import Price
from monitor.wire.texts import BaseUrl, BrokerAddress, Currency, HostPattern, Name, VariableName

LONGEST_NAME = 255
LONGEST_PATH = 4000  # Linux allows 4096; the rest is for our own files in a folder
LONGEST_WAIT = 366 * 24 * 3600.0  # seconds: timers of some systems end there or soon after
MOST_DAYS = 36_500


def _beside_config(path: Path, info: ValidationInfo) -> Path:
    """Paths count from the folder of the configuration, wherever the process was started."""
    folder: Path = (info.context or {}).get("folder", Path())
    return _usable(folder / path)


def _usable(path: Path) -> Path:
    """Refuse here, with its line, what the first use would stumble over."""
    try:
        parts = [part.encode() for part in path.parts]
    except UnicodeEncodeError:
        raise ValueError("must be a path of characters that a file name can hold") from None
    if any(b"\0" in part or len(part) > LONGEST_NAME for part in parts):
        raise ValueError(f"must be a path of names without NUL, of at most {LONGEST_NAME} bytes")
    if sum(map(len, parts)) + len(parts) > LONGEST_PATH:
        raise ValueError(f"must be a path of at most {LONGEST_PATH} bytes")
    return path


ConfigPath = Annotated[Path, AfterValidator(_beside_config)]
Seconds = Annotated[float, Field(gt=0, le=LONGEST_WAIT, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1, le=10**9)]
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


class SaslSettings(Group):
    mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] = "SCRAM-SHA-512"
    """How the password is shown to the brokers; PLAIN only over TLS."""
    username: Annotated[str, Field(min_length=1)]
    """Who we are to the brokers."""
    credential: Name
    """Name under `credentials` of the password."""


class SecuritySettings(Group):
    """Encryption where `tls` is on, authentication where there is `sasl` or a client key."""

    tls: bool = False
    """Encrypt, and check the certificates of the brokers."""
    ca_file: ConfigPath | None = None
    """Certificates to trust, PEM; null takes those of the system."""
    cert_file: ConfigPath | None = None
    """Our own certificate, PEM, where brokers ask for one."""
    key_file: ConfigPath | None = None
    """The key of `cert_file`, PEM."""
    sasl: SaslSettings | None = None

    @model_validator(mode="after")
    def _key_and_certificate(self) -> Self:
        if (self.cert_file is None) != (self.key_file is None):
            raise ValueError("needs cert_file and key_file together")
        if not self.tls and (self.ca_file or self.cert_file):
            raise ValueError("has certificates, but tls is off")
        return self


class KafkaBus(Group):
    """Apache Kafka: any number of replicas up to the partitions of the request topic."""

    kind: Literal["kafka"] = "kafka"
    bootstrap_servers: Annotated[tuple[BrokerAddress, ...], Field(min_length=1)]
    """Brokers to ask for all others, as host:port."""
    group: Name = "model-variant-monitor"
    """Consumer group, and beginning of the transactional ids: all replicas share one."""
    client_id: Name = "model-variant-monitor"
    """Name in the logs and quotas of the brokers."""
    topics: TopicSettings = TopicSettings()
    journal: Name = "model-evaluations-journal"
    """Compacted topic of open evaluations, with as many partitions as the request topic."""
    session_seconds: Annotated[float, Field(ge=1, le=300)] = 10.0
    """A replica that is silent for so long loses its partitions to the others."""
    security: SecuritySettings = SecuritySettings()


def _bus_kind(given: object) -> object:
    if isinstance(given, Mapping):
        return given.get("kind", "embedded")
    return getattr(given, "kind", None)


Bus = Annotated[
    Annotated[EmbeddedBus, Tag("embedded")] | Annotated[KafkaBus, Tag("kafka")],
    Discriminator(_bus_kind),
]


class GraderSettings(Group):
    """Programs that suites may have their answers graded by; none but these are run or asked."""

    commands: Mapping[Name, Annotated[tuple[str, ...], Field(min_length=1)]] = {}
    """By the name that suites give it, a program with its arguments, by its whole path."""
    urls: Mapping[Name, BaseUrl] = {}
    """By the name that suites give it, a service to which each answer is sent."""
    seconds: Seconds = 30.0
    """For one answer; then the command is killed, and the answer is missing."""
    at_once: Count = 4
    """Answers that programs grade at the same time; they share the machine with the daemon."""


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
    max_event_age_hours: Annotated[float, Field(gt=0, le=24 * MOST_DAYS, allow_inf_nan=False)] = (
        24.0
    )
    """An older event is recorded, but nothing is bought for it."""


def _pattern(written: str) -> str:
    try:
        re.compile(written)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"is no regular expression: {error}") from None
    return written


class KeptAnswerSettings(Group):
    """The store of what `keep_answers` of the policies wants kept, in the state directory."""

    days: Annotated[float, Field(gt=0, le=MOST_DAYS, allow_inf_nan=False)] = 7.0
    """Kept answers are deleted after so many days: time enough to look into a verdict."""
    megabytes: Count = 100
    """Beyond this size of their file the oldest make room for new ones."""
    redact: tuple[Annotated[str, AfterValidator(_pattern)], ...] = ()
    """Python regular expressions; what they match is not kept but replaced by `[redacted]`."""


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
    """Further variants are counted together as `_other`: labels must not grow without bound."""
    retire_days: Annotated[float, Field(gt=0, le=MOST_DAYS, allow_inf_nan=False)] = 30.0
    """A variant disappears from the metrics this long after its last result."""
