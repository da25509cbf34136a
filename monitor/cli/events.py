"""A version event from the options of a command."""

import uuid
from dataclasses import dataclass, replace
from datetime import datetime

from monitor.domain.errors import UsageError
from monitor.domain.events import (
    EndpointRef,
    EvaluationWanted,
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
from monitor.domain.policies import AtLeast, Budget, Method, NotWorse, Objective
from monitor.wire import policies

SOURCE = "/variant-monitor/cli"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The options as they were given; empty where they were not."""

    variant: str = ""
    version: str = ""
    endpoint: str = ""
    base_url: str = ""
    model: str = ""
    credential: str = ""
    previous_version: str = ""
    suites: tuple[str, ...] = ()
    budget: str = ""
    method: Method | None = None
    tolerance: float | None = None
    at_least: float | None = None
    event_id: str = ""
    requested: bool = False
    withdrawn: bool = False


def event_from(wanted: Wanted, *, now: datetime) -> EvaluationWanted | VersionWithdrawn:
    """The event that the options describe.

    Raises:
        UsageError: they contradict each other, or leave out what is needed.
    """
    if not wanted.variant or not wanted.version:
        raise UsageError("--variant and --version are needed, or --file")
    identity = EventIdentity(source=SOURCE, id=wanted.event_id or str(uuid.uuid4()), time=now)
    variant, version = VariantName(wanted.variant), VersionName(wanted.version)
    if wanted.withdrawn:
        if replace(wanted, withdrawn=False) != Wanted(
            variant=variant, version=version, event_id=wanted.event_id
        ):
            raise UsageError("--withdrawn goes with --variant, --version and --event-id alone")
        return VersionWithdrawn(identity=identity, variant=variant, version=version)
    return EvaluationWanted(
        identity=identity,
        variant=variant,
        version=version,
        endpoint=_endpoint(wanted),
        previous_version=VersionName(wanted.previous_version) or None,
        suites=tuple(SuiteName(name) for name in wanted.suites),
        method=wanted.method,
        budget=_budget(wanted.budget),
        objective=_objective(wanted),
        is_deployment=not wanted.requested,
    )


def _endpoint(wanted: Wanted) -> EndpointRef:
    written_out = wanted.base_url or wanted.model or wanted.credential
    if wanted.endpoint and written_out:
        raise UsageError("give either --endpoint, or --base-url with --model and --credential")
    if wanted.endpoint:
        return EndpointName(wanted.endpoint)
    if not wanted.base_url or not wanted.model:
        raise UsageError("--endpoint is needed, or --base-url with --model")
    return InlineEndpoint(
        base_url=wanted.base_url,
        model=wanted.model,
        credential=CredentialName(wanted.credential) if wanted.credential else None,
    )


def _budget(text: str) -> Budget | None:
    try:
        return policies.budget(text) if text else None
    except ValueError as error:
        raise UsageError(f"--budget {text!r} {error}") from None


def _objective(wanted: Wanted) -> Objective | None:
    if wanted.tolerance is not None and wanted.at_least is not None:
        raise UsageError("give either --tolerance or --at-least")
    if wanted.at_least is not None:
        return AtLeast(threshold=wanted.at_least)
    return None if wanted.tolerance is None else NotWorse(tolerance=wanted.tolerance)
