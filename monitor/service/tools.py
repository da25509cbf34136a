"""The ports an evaluation works with."""

from collections.abc import Callable
from dataclasses import dataclass

from monitor.ports import Bus, Clock, Compute, GraderRunner, PaidAnswers, Telemetry
from monitor.service.kept_answers import Keeper


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """What every evaluation of the process shares; `jitter` draws uniformly from [0, 1).

    paid_answers: where the replies of judges are kept, None where no suite has judges.
    keeper: of texts for people to look at.
    """

    bus: Bus
    clock: Clock
    compute: Compute
    graders: GraderRunner
    paid_answers: PaidAnswers | None
    keeper: Keeper
    telemetry: Telemetry
    jitter: Callable[[], float]
