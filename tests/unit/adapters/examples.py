"""Results and facts for the tests of whatever shows them."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from monitor.adapters.prometheus_metrics import LastResult
from monitor.domain import facts
from monitor.domain.answers import Status, Usage
from monitor.domain.identifiers import Digest, EvaluationId, SuiteName, VariantName, VersionName
from monitor.domain.plans import Inference, Plan, Subject
from monitor.domain.policies import Method, NotWorse
from monitor.domain.results import (
    Difference,
    Doubt,
    Estimate,
    Findings,
    Interval,
    Money,
    NoBaseline,
    NoBaselineReason,
    NoEstimate,
    NoEstimateReason,
    Outcome,
    Purpose,
    Reason,
    Spend,
    SpendLine,
    Unreadable,
    Verdict,
)

NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)
EVALUATION = EvaluationId("e1")
VARIANT = VariantName("support-chat")
SUITE = SuiteName("faq")
VERSION = VersionName("2026-11-29.1")
DIGEST = Digest("d" * 64)


class StoppedClock:
    """A clock that stands where it is put."""

    def __init__(self) -> None:
        self.time = NOON

    def now(self) -> datetime:
        return self.time

    def monotonic(self) -> float:
        return self.time.timestamp()

    async def sleep(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)


def interval(lower: float, upper: float) -> Interval:
    return Interval(lower=lower, upper=upper, level=0.95, method="test")


ESTIMATE = Estimate(
    value=0.8,
    interval=interval(0.75, 0.85),
    worst_case=interval(0.7, 0.9),
    worst_lower_shift=-0.05,
    worst_upper_shift=0.05,
    variance=0.001,
    quantile=1.96,
    degrees=100.0,
    ess_ratio=1.5,
)
DIFFERENCE = Difference(
    value=-0.1,
    interval=interval(-0.15, -0.05),
    worst_case=interval(-0.2, 0.0),
    worst_lower_shift=-0.05,
    worst_upper_shift=0.05,
    pairing="independent",
    previous_version=VersionName("2026-11-28.1"),
    previous_evaluation_id=EvaluationId("e0"),
)


def findings(outcome: Outcome = Outcome.NOT_MET) -> Findings:
    return Findings(
        counts={Status.GRADED: 95, Status.TIMEOUT: 5},
        answered=95,
        missing=5,
        estimate=ESTIMATE,
        difference=DIFFERENCE,
        verdict=Verdict(outcome=outcome, reason=Reason.WORSE, sentence="It is worse."),
        doubt=Doubt(
            ungraded={Status.NO_ANSWER: 0.25, Status.REFUSAL: 0.125},
            unreadable=Unreadable(found=25.0, answers=100.0),
        ),
    )


def nothing_found(outcome: Outcome = Outcome.FAULTED) -> Findings:
    verdict = Verdict(outcome=outcome, reason=Reason.ENDPOINT_FAULT, sentence="Key refused.")
    return Findings(
        counts={},
        answered=0,
        missing=0,
        estimate=NoEstimate(reason=NoEstimateReason.NO_ANSWERS),
        difference=None,
        verdict=verdict,
    )


def result(found: Findings | None = None, *, variant: VariantName = VARIANT) -> LastResult:
    return LastResult(
        variant=variant,
        suite=SUITE,
        version=VERSION,
        findings=found or findings(),
        draws=100,
        tolerance=0.02,
        at=NOON,
        seconds=60.0,
    )


PLAN = Plan(
    subject=Subject(
        evaluation_id=EVALUATION,
        variant=VARIANT,
        version=VERSION,
        suite=SUITE,
        suite_digest=DIGEST,
        model="m",
        event_source="ci",
        event_id="1",
        topic="model-versions",
        partition=3,
        offset=7,
    ),
    method=Method.AUTO,
    objective=NotWorse(tolerance=0.02),
    inference=Inference(
        design="without_replacement",
        guide="factors",
        guide_digest=DIGEST,
        estimator="weighted",
        interval="student",
        dispersion=1.0,
        level=0.95,
    ),
    population=1000,
    draws=100,
    round_sizes=(50, 50),
    weights=(0.01,) * 100,
    clock_seed=DIGEST,
    attempts_allowed=110,
    missing_limit=0.05,
    baseline=NoBaseline(reason=NoBaselineReason.FIRST_VERSION),
    reason="history promises a narrower interval",
    history_digest=None,
    software="0.1.0",
)
STARTED = facts.EvaluationStarted(plan=PLAN, resumed=False, answered=0)
ATTEMPTED = facts.Attempted(
    evaluation_id=EVALUATION,
    variant=VARIANT,
    suite=SUITE,
    seconds=0.7,
    retried=None,
    prompt_tokens=20,
    completion_tokens=5,
)
RETRIED = replace(ATTEMPTED, retried=Status.RATE_LIMITED, prompt_tokens=0, completion_tokens=0)
SETTLED = facts.AnswerSettled(
    evaluation_id=EVALUATION,
    variant=VARIANT,
    suite=SUITE,
    status=Status.GRADED,
    usage=Usage(attempts=2, prompt_tokens=20, completion_tokens=5),
    answered=1,
    draws=100,
)
JUDGED = facts.QuerySettled(
    evaluation_id=EVALUATION,
    variant=VARIANT,
    suite=SUITE,
    purpose=Purpose.JUDGE,
    endpoint="strict",
    status=Status.TIMEOUT,
    detail="no answer in 60 s",
)
JUDGE_LINE = SpendLine(
    attempts=3, prompt_tokens=60, completion_tokens=9, cost=Money(amount=0.5, currency="EUR")
)
SPEND = Spend(
    attempts=101,
    maybe_repeated=0,
    prompt_tokens=2000,
    completion_tokens=500,
    cost=Money(amount=0.25, currency="EUR"),
)
ENDED = facts.EvaluationEnded(
    evaluation_id=EVALUATION,
    variant=VARIANT,
    version=VERSION,
    suite=SUITE,
    findings=findings(),
    spend=SPEND,
    plan=PLAN,
    at=NOON,
    seconds=60.0,
)
FAILED = facts.EvaluationFailed(evaluation_id=EVALUATION, detail="IndexError")
EVENT = facts.EventTaken(
    topic="model-versions", partition=3, offset=7, result=facts.EventResult.ACCEPTED, at=NOON
)
