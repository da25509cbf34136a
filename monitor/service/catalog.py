"""What the service knows of suites, endpoints and policies: filled in by the composition root."""

from dataclasses import dataclass
from typing import Protocol

from monitor.domain.events import EndpointRef
from monitor.domain.identifiers import EndpointName, SuiteName, VariantName
from monitor.domain.policies import Policy
from monitor.domain.results import Price
from monitor.domain.suites import Suite
from monitor.engine.planning import History, Surrogate
from monitor.ports import Endpoint
from monitor.service.asking import Patience
from monitor.service.lanes import Lane


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """An endpoint that may be asked, with what is agreed about it.

    base_url: where it is; what was paid for there is found again by it.
    gate_seconds: how long to wait, before the first draw, for it to be up with its model.
    """

    model: str
    base_url: str
    endpoint: Endpoint
    lane: Lane
    concurrency: int
    patience: Patience
    gate_seconds: float
    price: Price | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """A configured endpoint that judges answers of others."""

    name: EndpointName
    target: Target


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

    def judges(self, suite: SuiteName) -> tuple[Judge, ...]:
        """Who judges the answers to a suite; nobody where its graders need no judges."""
        ...

    async def history(self, suite: SuiteName, model: str) -> History | None:
        """A guide fitted without any outcome of `model`, None where there is no history."""
        ...

    def surrogates(self, suite: SuiteName) -> tuple[str, ...]:
        """Names of the surrogates of a suite, whether or not they have been asked."""
        ...

    async def signal(self, suite: SuiteName) -> Surrogate | None:
        """What their answers tell, None where there are none or they have not all been asked."""
        ...
