"""Version events: what arrives on the request topic, and what `submit` puts there.

Anyone may write to that topic, and what an event names becomes a metric label, a file name or
a host to talk to. So names have an alphabet and a length here, and whatever breaks a rule is
refused with a text that helps its sender and repeats nothing that could be a secret.
"""

from collections.abc import Sequence
from dataclasses import asdict, replace
from decimal import Decimal
from typing import Annotated, Literal, assert_never
from urllib.parse import urlsplit

from pydantic import AfterValidator, Discriminator, Field, Tag, TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from monitor.domain import policies
from monitor.domain.errors import DeadLetterReason, InvalidEvent
from monitor.domain.events import (
    EndpointRef,
    EvaluationWanted,
    Event,
    EventIdentity,
    InlineEndpoint,
    VersionWithdrawn,
)
from monitor.domain.identifiers import (
    CredentialName,
    EndpointName,
    SuiteName,
    VariantName,
    VersionName,
)
from monitor.wire import envelopes, records

DEPLOYED = "model.version.deployed.v1"
WITHDRAWN = "model.version.withdrawn.v1"
REQUESTED = "model.version.evaluation.requested.v1"
HEADERS = envelopes.HEADERS
TYPES = (DEPLOYED, WITHDRAWN, REQUESTED)

# They become metric labels and file names.
NAME = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=100)
# Tags and digests of images and commits are versions too.
VERSION = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:+@=-]*$", max_length=200)
MODEL = Field(pattern=r"^[!-~]+$", max_length=300)
LABEL = Field(pattern=r"^[A-Za-z_][A-Za-z0-9_./-]*$", max_length=100)

# Steps in the path of a pydantic error that name a member of a union.
TAGS = frozenset({"by_name", "inline", "count", "share", "not_worse", "at_least", "estimate"})


def _check_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or not url.isprintable() or " " in url:
        raise PydanticCustomError("base_url", "must be an http or https URL with a host")
    if "@" in url or "?" in url or "#" in url:
        raise PydanticCustomError(
            "base_url", "must hold no user name, query or fragment; name a credential instead"
        )
    return url


def _check_distinct(names: tuple[SuiteName, ...]) -> tuple[SuiteName, ...]:
    if len(set(names)) != len(names):
        raise PydanticCustomError("distinct", "must not name a suite twice")
    return names


def _share(text: str) -> float:
    return float(Decimal(text.removesuffix("%")) / 100)


def _check_share(text: str) -> str:
    if not 0 < _share(text) <= 1:
        raise PydanticCustomError("share", "must be above 0% and at most 100%")
    return text


class InlineEndpointData(records.Record):
    """An endpoint written out; `credential` is the name of one in the daemon's configuration."""

    base_url: Annotated[str, Field(max_length=2000), AfterValidator(_check_url)]
    model: Annotated[str, MODEL]
    credential: Annotated[CredentialName, NAME] | None = None


class NotWorseData(records.NotWorse):
    tolerance: float = Field(gt=0, lt=1)


class AtLeastData(records.AtLeast):
    threshold: float = Field(ge=0, le=1)


EndpointData = Annotated[
    Annotated[EndpointName, NAME, Tag("by_name")] | Annotated[InlineEndpointData, Tag("inline")],
    Discriminator(lambda found: "by_name" if isinstance(found, str) else "inline"),
]
ObjectiveData = Annotated[
    NotWorseData | AtLeastData | records.EstimateOnly, Field(discriminator="kind")
]
BudgetData = Annotated[
    Annotated[int, Field(ge=1, le=10_000_000), Tag("count")]
    | Annotated[
        str,
        Field(pattern=r"^\d{1,3}(\.\d{1,30})?%$"),
        AfterValidator(_check_share),
        Tag("share"),
    ],
    Discriminator(lambda found: "share" if isinstance(found, str) else "count"),
]


class EvaluationData(records.Record):
    """Data of a deployment or of a request for an evaluation.

    suites: empty means all that are configured for the variant.
    budget: a number of draws, or a share of the pool such as "10%".
    method, budget, objective: left out, the daemon's policy decides.
    """

    variant: Annotated[VariantName, NAME]
    version: Annotated[VersionName, VERSION]
    endpoint: EndpointData
    previous_version: Annotated[VersionName, VERSION] | None = None
    suites: Annotated[
        tuple[Annotated[SuiteName, NAME], ...],
        Field(max_length=100),
        AfterValidator(_check_distinct),
    ] = ()
    method: policies.Method | None = None
    budget: BudgetData | None = None
    objective: ObjectiveData | None = None
    labels: Annotated[
        dict[Annotated[str, LABEL], Annotated[str, Field(max_length=256)]],
        Field(max_length=32, default_factory=dict),
    ]


class WithdrawalData(records.Record):
    """Data of a withdrawal."""

    variant: Annotated[VariantName, NAME]
    version: Annotated[VersionName, VERSION]


class Deployed(envelopes.Envelope):
    """A version went live."""

    type: Literal["model.version.deployed.v1"]
    data: EvaluationData


class Requested(envelopes.Envelope):
    """Somebody asks for a version to be evaluated (again)."""

    type: Literal["model.version.evaluation.requested.v1"]
    data: EvaluationData


class Withdrawn(envelopes.Envelope):
    """A version is gone."""

    type: Literal["model.version.withdrawn.v1"]
    data: WithdrawalData


VersionEvent = Annotated[Deployed | Requested | Withdrawn, Field(discriminator="type")]
VERSION_EVENT: TypeAdapter[Deployed | Requested | Withdrawn] = TypeAdapter(VersionEvent)


def decode(value: bytes, headers: Sequence[tuple[str, bytes]] = (), *, limit: int) -> Event:
    """Read a version event, in structured or binary mode.

    Args:
        value: the record's value.
        headers: the record's headers.
        limit: bytes above which a value is not looked at.

    Raises:
        InvalidEvent: TOO_LARGE, NOT_JSON, NOT_CLOUDEVENT, UNKNOWN_TYPE, NEWER_SCHEMA or
            INVALID_DATA, with a text for whoever sent it.
    """
    if len(value) > limit:
        raise InvalidEvent(
            DeadLetterReason.TOO_LARGE, f"{len(value)} bytes, at most {limit} are read"
        )
    try:
        return _decode(value, headers)
    except InvalidEvent:
        raise
    except Exception as error:
        # Whatever nobody has thought of: one odd event must not keep all others from being read.
        raise InvalidEvent(
            DeadLetterReason.INVALID_DATA, f"reading it fails on a defect: {type(error).__name__}"
        ) from error


def _decode(value: bytes, headers: Sequence[tuple[str, bytes]]) -> Event:
    envelope, data = envelopes.read(value, headers)
    _check_type(envelope.type)
    identity = EventIdentity(source=envelope.source, id=envelope.id, time=envelope.time)
    try:
        if envelope.type == WITHDRAWN:
            withdrawal = WithdrawalData.model_validate_json(data, strict=True)
            return VersionWithdrawn(
                identity=identity, variant=withdrawal.variant, version=withdrawal.version
            )
        wanted = _to_wanted(EvaluationData.model_validate_json(data, strict=True), identity)
        return replace(wanted, is_deployment=envelope.type == DEPLOYED)
    except ValidationError as error:
        detail = f"data: {records.describe(error, omit=TAGS)}"
        raise InvalidEvent(DeadLetterReason.INVALID_DATA, detail) from None


def encode(event: Event) -> bytes:
    """Write an event as a structured CloudEvent, to be sent with HEADERS.

    The minimum that belongs to a budget share is the policy's affair and is not written.

    Args:
        event: what to announce.

    Raises:
        InvalidEvent: `decode` would refuse this event.
    """
    try:
        name, data = _data(event)
        envelope = envelopes.Envelope(
            specversion="1.0",
            id=event.identity.id,
            source=event.identity.source,
            type=name,
            subject=event.variant,
            time=event.identity.time,
            datacontenttype="application/json",
        )
    except ValidationError as error:
        detail = records.describe(error, omit=TAGS)
        raise InvalidEvent(DeadLetterReason.INVALID_DATA, detail) from None
    return envelopes.write(envelope, data.model_dump(mode="json", exclude_none=True))


def _check_type(name: str) -> None:
    if name in TYPES:
        return
    if any(envelopes.is_newer(name, known) for known in TYPES):
        raise InvalidEvent(
            DeadLetterReason.NEWER_SCHEMA,
            f"type is {name[:100]!r}, this program reads version 1: run a newer one",
        )
    raise InvalidEvent(
        DeadLetterReason.UNKNOWN_TYPE,
        f"type is {name[:100]!r}, it must be one of {', '.join(TYPES)}",
    )


def _to_wanted(data: EvaluationData, identity: EventIdentity) -> EvaluationWanted:
    objective = data.objective
    return EvaluationWanted(
        identity=identity,
        variant=data.variant,
        version=data.version,
        endpoint=_to_endpoint(data.endpoint),
        previous_version=data.previous_version,
        suites=data.suites,
        method=data.method,
        budget=None if data.budget is None else _to_budget(data.budget),
        objective=None if objective is None else records.to_objective(objective),
        labels=data.labels,
    )


def _to_endpoint(data: EndpointName | InlineEndpointData) -> EndpointRef:
    if isinstance(data, InlineEndpointData):
        return InlineEndpoint(base_url=data.base_url, model=data.model, credential=data.credential)
    return data


def _to_budget(data: int | str) -> policies.Budget:
    if isinstance(data, int):
        return policies.Budget(count=data)
    return policies.Budget(share=_share(data))


def _data(event: Event) -> tuple[str, EvaluationData | WithdrawalData]:
    match event:
        case EvaluationWanted():
            return (DEPLOYED if event.is_deployment else REQUESTED), _from_wanted(event)
        case VersionWithdrawn():
            return WITHDRAWN, WithdrawalData(variant=event.variant, version=event.version)
        case _:
            assert_never(event)


def _from_wanted(event: EvaluationWanted) -> EvaluationData:
    endpoint, objective = event.endpoint, event.objective
    return EvaluationData.model_validate(
        {
            "variant": event.variant,
            "version": event.version,
            "endpoint": asdict(endpoint) if isinstance(endpoint, InlineEndpoint) else endpoint,
            "previous_version": event.previous_version,
            "suites": event.suites,
            "method": event.method,
            "budget": None if event.budget is None else _from_budget(event.budget),
            "objective": objective and records.from_objective(objective).document(),
            "labels": event.labels,
        }
    )


def _from_budget(budget: policies.Budget) -> int | str:
    if budget.count is not None:
        return budget.count
    percent = (Decimal(repr(budget.share)) * 100).normalize()
    return f"{percent:f}%"
