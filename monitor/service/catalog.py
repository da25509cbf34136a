"""What the service knows of suites, endpoints and policies: filled in by the composition root."""

from dataclasses import dataclass
from typing import Protocol

from monitor.domain.events import EndpointRef
from monitor.domain.identifiers import SuiteName, VariantName
from monitor.domain.policies import Policy
from monitor.domain.results import Price
from monitor.domain.suites import Suite
from monitor.engine.planning import History
from monitor.ports import Endpoint
from monitor.service.asking import Patience
from monitor.service.lanes import Lane


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """An endpoint that may be asked, with what is agreed about it.

    gate_seconds: how long to wait, before the first draw, for it to be up with its model.
    """

    model: str
    endpoint: Endpoint
    lane: Lane
    concurrency: int
    patience: Patience
    gate_seconds: float
    price: Price | None


class Catalog(Protocol):
    """Look-ups by the names that events use."""

    def suite(self, name: SuiteName) -> Suite:
        """A configured suite.

        Raises:
            InvalidEvent: there is none of this name.
        """
        ...

    def suites_for(self, variant: VariantName) -> tuple[SuiteName, ...]:
        """Suites to evaluate where the event names none."""
        ...

    def policy(self, variant: VariantName, suite: SuiteName) -> Policy:
        """What is wanted of this variant on this suite."""
        ...

    def target(self, ref: EndpointRef) -> Target:
        """The endpoint an event names or writes out.

        Raises:
            InvalidEvent: unknown name, unknown credential, or a host that is not allowed.
        """
        ...

    async def history(self, suite: SuiteName, model: str) -> History | None:
        """A guide fitted without any outcome of `model`, None where there is no history."""
        ...
