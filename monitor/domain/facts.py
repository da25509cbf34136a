"""Things that happen and are told to logs and metrics; the class is the stable name."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from monitor.domain.answers import Status, Usage
from monitor.domain.errors import DeadLetterReason
from monitor.domain.identifiers import EvaluationId, SuiteName, VariantName, VersionName
from monitor.domain.plans import Plan
from monitor.domain.results import Findings, Purpose, Spend


class EventResult(StrEnum):
    """What became of an event; also a metric label."""

    ACCEPTED = "accepted"
    DUPLICATE = "duplicate"
    WITHDRAWAL = "withdrawal"
    TOO_OLD = "too_old"
    DEAD_LETTER = "dead_letter"


@dataclass(frozen=True, slots=True, kw_only=True)
class EventTaken:
    """An event was read and dealt with."""

    topic: str
    partition: int
    offset: int
    result: EventResult
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLettered:
    """An event was put aside, value and all."""

    topic: str
    partition: int
    offset: int
    reason: DeadLetterReason
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationStarted:
    """A plan was made, or an evaluation taken up where it stood (`resumed`)."""

    plan: Plan
    resumed: bool
    answered: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempted:
    """One request went out and this is how it ended; `retried` when another follows."""

    evaluation_id: EvaluationId
    variant: VariantName
    suite: SuiteName
    seconds: float
    retried: Status | None
    prompt_tokens: int
    completion_tokens: int
    purpose: Purpose = Purpose.TARGET


@dataclass(frozen=True, slots=True, kw_only=True)
class QuerySettled:
    """What an evaluation asked of another endpoint than the version's has ended."""

    evaluation_id: EvaluationId
    variant: VariantName
    suite: SuiteName
    purpose: Purpose
    endpoint: str
    status: Status
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSettled:
    """A draw has its final answer."""

    evaluation_id: EvaluationId
    variant: VariantName
    suite: SuiteName
    status: Status
    usage: Usage
    answered: int
    draws: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SurrogateAttempted:
    """One request of a surrogate pass went out; `retried` when another follows.

    purpose: whether the surrogate was asked, or the judge of what its answers mean.
    """

    suite: SuiteName
    surrogate: str
    purpose: Purpose
    seconds: float
    retried: Status | None
    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SurrogateAnswered:
    """A sample of a surrogate pass has its final answer, as one of `wanted` that were missing."""

    suite: SuiteName
    surrogate: str
    status: Status
    settled: int
    wanted: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SurrogateEnded:
    """A surrogate pass is through: so many of the items were answered, for `usage` more."""

    suite: SuiteName
    surrogate: str
    answered: int
    population: int
    usage: Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointAwaited:
    """The gate before the first draw is still closed."""

    evaluation_id: EvaluationId
    detail: str
    waited: float


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationEnded:
    """A result was published. `at` is when, `seconds` how long it took."""

    evaluation_id: EvaluationId
    variant: VariantName
    version: VersionName
    suite: SuiteName
    findings: Findings
    spend: Spend
    plan: Plan | None
    at: datetime
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationFailed:
    """An evaluation stopped on a defect of this program; its state is kept for a retry."""

    evaluation_id: EvaluationId
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswersNotKept:
    """Texts of answers could not be kept, or not be deleted; told once for each reason."""

    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionAssigned:
    """A partition is ours, with this many evaluations to continue."""

    partition: int
    open_evaluations: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionRevoked:
    """A partition is ours no longer."""

    partition: int


class TransactionOutcome(StrEnum):
    """What became of commits that were written together; also a metric label."""

    COMMITTED = "committed"
    REFUSED = "refused"
    LOST = "lost"


@dataclass(frozen=True, slots=True, kw_only=True)
class BusAwaited:
    """The brokers cannot be used at the moment; told once for each reason."""

    brokers: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionRestored:
    """The journal of a partition was read to its end, `rows` of it being in force."""

    partition: int
    rows: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionEnded:
    """So many commits to a partition were written together, after `seconds`, or were not."""

    partition: int
    outcome: TransactionOutcome
    commits: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LagMeasured:
    """So many events of a partition are not settled."""

    partition: int
    records: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceStarted:
    """The daemon is up; port: where its pages are, None where there are none."""

    software: str
    suites: int
    port: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceStopping:
    """A stop was asked for; what is in flight has this many seconds."""

    drain_seconds: float


Fact = (
    EventTaken
    | DeadLettered
    | EvaluationStarted
    | Attempted
    | QuerySettled
    | AnswerSettled
    | SurrogateAttempted
    | SurrogateAnswered
    | SurrogateEnded
    | EndpointAwaited
    | EvaluationEnded
    | EvaluationFailed
    | AnswersNotKept
    | PartitionAssigned
    | PartitionRevoked
    | BusAwaited
    | PartitionRestored
    | TransactionEnded
    | LagMeasured
    | ServiceStarted
    | ServiceStopping
)
