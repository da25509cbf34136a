"""Estimate, interval, difference and verdict."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from monitor.domain.identifiers import EvaluationId, VersionName


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """Bounds at a level; `method` names how, `validity` when they hold."""

    lower: float
    upper: float
    level: float
    method: str
    validity: str = "fixed_n"

    def __post_init__(self) -> None:
        """Bounds in order, level inside (0, 1)."""
        if not self.lower <= self.upper:
            raise ValueError(f"interval bounds out of order: {self.lower} > {self.upper}")
        if not 0.0 < self.level < 1.0:
            raise ValueError(f"level {self.level} is outside (0, 1)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """Estimated pool mean.

    value: unclipped, exactly unbiased under the design; may leave [0, 1] by chance.
    interval: as if missing answers were missing by chance.
    worst_case: interval whatever the missing answers would have been.
    worst_lower_shift, worst_upper_shift: how far the value itself could move (<= 0, >= 0).
    variance: of the value; None where the interval does not rest on one.
    quantile, degrees: the Student quantile used, stored so that a replay agrees to the byte.
    ess_ratio: variance of plain sampling at the same n over this variance; None if unknown.
    overconfident_guide: the guide was so wrong that the next plan does without it.
    """

    value: float
    interval: Interval
    worst_case: Interval
    worst_lower_shift: float
    worst_upper_shift: float
    variance: float | None
    quantile: float | None
    degrees: float | None
    ess_ratio: float | None
    overconfident_guide: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """Answers that read as none: `found` of `answers` equally weighted ones.

    Whole numbers under plain sampling; where draws have unequal weights, the fewer equal ones that
    would tell as much.
    """

    found: float
    answers: float

    @property
    def share(self) -> float:
        """Share of the answers, in [0, 1]."""
        return self.found / self.answers


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatChange:
    """Shares of unreadable answers of two versions, too far apart for chance.

    p_value: two-sided, that of Fisher's exact test.
    """

    share: float
    previous_share: float
    previous_version: VersionName
    p_value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """Answers that came and got no score from their grader.

    ungraded: share of the answers that came, by status, those that occur; by the weights of the
    draws, so that it is of the pool, whatever the design preferred.
    format_change: None where none is shown, or nothing is there to compare with.
    """

    ungraded: Mapping[str, float]
    unreadable: Unreadable
    format_change: FormatChange | None = None


class NoEstimateReason(StrEnum):
    """Why there is no estimate."""

    NO_ANSWERS = "no_answers"
    TOO_FEW_FAILURES = "too_few_failures"
    TOO_FEW_SUCCESSES = "too_few_successes"
    TOO_FEW_DRAWS = "too_few_draws"
    NO_SPREAD = "no_spread"
    NOT_BINARY = "not_binary"
    OUTSIDE_RANGE = "outside_range"
    NOT_STARTED = "not_started"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True, kw_only=True)
class NoEstimate:
    """Unknown, with the reason: never written as 0 or NaN."""

    reason: NoEstimateReason


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """The version before, as it was published: what a difference is taken to.

    unreadable: None where it cannot be told from what was published.
    """

    evaluation_id: EvaluationId
    version: VersionName
    value: float
    interval: Interval
    worst_case: Interval
    worst_lower_shift: float
    worst_upper_shift: float
    overconfident_guide: bool = False
    unreadable: Unreadable | None = None

    @classmethod
    def of(
        cls,
        estimate: Estimate,
        *,
        evaluation_id: EvaluationId,
        version: VersionName,
        unreadable: Unreadable | None = None,
    ) -> "Baseline":
        """An estimate as the next version is compared with it."""
        return cls(
            evaluation_id=evaluation_id,
            version=version,
            value=estimate.value,
            interval=estimate.interval,
            worst_case=estimate.worst_case,
            worst_lower_shift=estimate.worst_lower_shift,
            worst_upper_shift=estimate.worst_upper_shift,
            overconfident_guide=estimate.overconfident_guide,
            unreadable=unreadable,
        )


class NoBaselineReason(StrEnum):
    """Why there is nothing to take a difference to."""

    FIRST_VERSION = "first_version"
    NOT_EVALUATED = "not_evaluated"
    SUITE_CHANGED = "suite_changed"
    JUDGES_CHANGED = "judges_changed"
    OTHER_LEVEL = "other_level"
    NO_ESTIMATE = "no_estimate"


@dataclass(frozen=True, slots=True, kw_only=True)
class NoBaseline:
    """No result of the version before that could be compared with."""

    reason: NoBaselineReason


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """New minus previous version; `pairing` says how the two were brought together."""

    value: float
    interval: Interval
    worst_case: Interval
    worst_lower_shift: float
    worst_upper_shift: float
    pairing: str
    previous_version: VersionName
    previous_evaluation_id: EvaluationId


class Outcome(StrEnum):
    """The verdict's word."""

    MET = "MET"
    NOT_MET = "NOT_MET"
    INCONCLUSIVE = "INCONCLUSIVE"
    FAULTED = "FAULTED"
    CANCELLED = "CANCELLED"


class Reason(StrEnum):
    """Why the verdict is what it is; a closed list."""

    NOT_WORSE = "not_worse"
    WORSE = "worse"
    ABOVE_THRESHOLD = "above_threshold"
    BELOW_THRESHOLD = "below_threshold"
    ESTIMATED = "estimated"
    NO_BASELINE = "no_baseline"
    INTERVAL_TOO_WIDE = "interval_too_wide"
    DROP_WITHIN_TOLERANCE = "drop_within_tolerance"
    TOO_MANY_MISSING = "too_many_missing"
    NO_ESTIMATE = "no_estimate"
    NO_ANSWERS = "no_answers"
    ENDPOINT_FAULT = "endpoint_fault"
    JUDGE_FAULT = "judge_fault"
    GRADER_FAULT = "grader_fault"
    INVALID_PLAN = "invalid_plan"
    SUITE_CHANGED = "suite_changed"
    JUDGES_CHANGED = "judges_changed"
    INTERNAL_ERROR = "internal_error"
    TOO_OLD = "too_old"
    WITHDRAWN = "withdrawn"
    SUPERSEDED = "superseded"


class Severity(StrEnum):
    """How loudly a NOT_MET should be told."""

    WARNING = "warning"
    CRITICAL = "critical"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A decision with its reason, and one sentence for whoever is woken by it."""

    outcome: Outcome
    reason: Reason
    sentence: str
    severity: Severity | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Money:
    """An amount, never added up across currencies."""

    amount: float
    currency: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Money for a million tokens, in and out."""

    input_per_million: float
    output_per_million: float
    currency: str

    def cost(self, *, prompt_tokens: int, completion_tokens: int) -> Money:
        """What so many tokens cost."""
        millionths = (
            prompt_tokens * self.input_per_million + completion_tokens * self.output_per_million
        )
        return Money(amount=millionths / 1e6, currency=self.currency)


class Purpose(StrEnum):
    """What a query is bought for; also a metric label."""

    TARGET = "evaluation"
    JUDGE = "judge"
    SURROGATE = "surrogate"


@dataclass(frozen=True, slots=True, kw_only=True)
class SpendLine:
    """What was newly bought for one purpose; cost is None where no price is configured."""

    attempts: int
    prompt_tokens: int
    completion_tokens: int
    cost: Money | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spend:
    """What the evaluation cost: the version's own answers, and beside them `others`.

    attempts: requests known to have been sent; maybe_repeated: of those in flight when an
    owner died, so possibly paid twice. cost is None where no price is configured.
    """

    attempts: int
    maybe_repeated: int
    prompt_tokens: int
    completion_tokens: int
    cost: Money | None
    others: Mapping[Purpose, SpendLine] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeFigures:
    """What one judge did in an evaluation; `model` is the one that it was asked for.

    calls: questions put to it; unusable: its replies that decided nothing.
    comparisons: pairs that it judged in both orders; flips: those decided by the order.
    """

    model: str
    calls: int = 0
    unusable: int = 0
    comparisons: int = 0
    flips: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """The statistical part of a result: a function of the journal alone.

    counts: answers by status; estimate: NoEstimate where there is none.
    doubt: None where no answer came, or the plan is from before it was looked for.
    """

    counts: Mapping[str, int]
    answered: int
    missing: int
    estimate: Estimate | NoEstimate
    difference: Difference | None
    verdict: Verdict
    doubt: Doubt | None = None
