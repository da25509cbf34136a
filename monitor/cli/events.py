"""A version event from the options of a command."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
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

SOURCE = "/variant-monitor/cli"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The options as they were given; empty where they were not."""

    variant: str
    version: str
    endpoint: str = ""
    base_url: str = ""
    model: str = ""
    credential: str = ""
    previous_version: str = ""
    suites: tuple[str, ...] = ()
    budget: str = ""
    method: str = ""
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
        return VersionWithdrawn(identity=identity, variant=variant, version=version)
    return EvaluationWanted(
        identity=identity,
        variant=variant,
        version=version,
        endpoint=_endpoint(wanted),
        previous_version=VersionName(wanted.previous_version) or None,
        suites=tuple(SuiteName(name) for name in wanted.suites),
        method=_method(wanted.method),
        budget=_budget(wanted.budget),
        objective=_objective(wanted),
    )


def _endpoint(wanted: Wanted) -> EndpointRef:
    if wanted.endpoint and (wanted.base_url or wanted.model):
        raise UsageError("give either --endpoint, or --base-url with --model")
    if wanted.endpoint:
        return EndpointName(wanted.endpoint)
    if not wanted.base_url or not wanted.model:
        raise UsageError("--endpoint is needed, or --base-url with --model")
    return InlineEndpoint(
        base_url=wanted.base_url,
        model=wanted.model,
        credential=CredentialName(wanted.credential) if wanted.credential else None,
    )


def _method(text: str) -> Method | None:
    known: Mapping[str, Method] = {str(method): method for method in Method}
    if text and text not in known:
        raise UsageError(f"--method {text!r} is none of {', '.join(known)}")
    return known.get(text)


def _budget(text: str) -> Budget | None:
    if not text:
        return None
    try:
        if text.endswith("%"):
            return Budget(share=float(text.removesuffix("%")) / 100)
        return Budget(count=int(text))
    except ValueError:
        raise UsageError(f'--budget {text!r} is neither a count nor a share as "10%"') from None


def _objective(wanted: Wanted) -> Objective | None:
    if wanted.tolerance is not None and wanted.at_least is not None:
        raise UsageError("give either --tolerance or --at-least")
    if wanted.at_least is not None:
        return AtLeast(threshold=wanted.at_least)
    return None if wanted.tolerance is None else NotWorse(tolerance=wanted.tolerance)
