"""What happened to a variant, as the bus tells it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from monitor.domain.identifiers import (
    CredentialName,
    EndpointName,
    SuiteName,
    VariantName,
    VersionName,
)
from monitor.domain.policies import Budget, Method, Objective


@dataclass(frozen=True, slots=True, kw_only=True)
class InlineEndpoint:
    """An endpoint written out in an event; its host must be on the allow-list."""

    base_url: str
    model: str
    credential: CredentialName | None = None


EndpointRef = EndpointName | InlineEndpoint


@dataclass(frozen=True, slots=True, kw_only=True)
class EventIdentity:
    """CloudEvents `source` and `id`, which together name an event, and its `time`."""

    source: str
    id: str
    time: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationWanted:
    """A version to evaluate: it was deployed, or somebody asked for it again.

    suites: names of suites; empty means every suite that is configured for the variant.
    method, budget, objective: None leaves the policy's word.
    is_deployment: the version has just gone live; somebody merely asks for it where it is False.
    """

    identity: EventIdentity
    variant: VariantName
    version: VersionName
    endpoint: EndpointRef
    previous_version: VersionName | None = None
    suites: tuple[SuiteName, ...] = ()
    method: Method | None = None
    budget: Budget | None = None
    objective: Objective | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    is_deployment: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionWithdrawn:
    """A version is gone: its open evaluations end as CANCELLED."""

    identity: EventIdentity
    variant: VariantName
    version: VersionName


Event = EvaluationWanted | VersionWithdrawn
