"""Domain values for the tests of what is written: one of each, and strategies for any."""

from dataclasses import replace
from datetime import UTC, datetime

from hypothesis import strategies as st

from monitor.domain.answers import MISSING, Answer, Judged, Status, Usage
from monitor.domain.identifiers import (
    Digest,
    EvaluationId,
    SuiteName,
    VariantName,
    VersionName,
    clock_seed,
    digest,
    evaluation_id,
)
from monitor.domain.plans import (
    Answered,
    Draw,
    Drawn,
    Ended,
    Inference,
    Plan,
    Planned,
    Resumed,
    Row,
    Strata,
    Subject,
)
from monitor.domain.policies import AtLeast, EstimateOnly, Method, NotWorse
from monitor.domain.results import (
    Baseline,
    Difference,
    Doubt,
    Estimate,
    Findings,
    FormatChange,
    Interval,
    JudgeFigures,
    Money,
    NoBaseline,
    NoBaselineReason,
    NoEstimate,
    NoEstimateReason,
    Outcome,
    Purpose,
    Reason,
    Severity,
    Spend,
    SpendLine,
    Unreadable,
    Verdict,
)
from monitor.wire.outcomes import Outcomes
from monitor.wire.results import Times

SUITE = SuiteName("arithmetic")
EVALUATION = evaluation_id(source="/registry", event_id="42", suite=SUITE)
SUBJECT = Subject(
    evaluation_id=EVALUATION,
    variant=VariantName("support-chat"),
    version=VersionName("2026-11-29.1"),
    suite=SUITE,
    suite_digest=digest("suite"),
    model="meta-llama/Llama-3.1-8B-Instruct",
    event_source="/registry",
    event_id="42",
    topic="model-versions",
    partition=0,
    offset=17,
    labels={"team": "support"},
)
INFERENCE = Inference(
    design="without_replacement",
    guide="factor",
    guide_digest=digest("guide"),
    estimator="weighted",
    interval="student",
    dispersion=1.0,
    level=0.95,
)
BASELINE = Baseline(
    evaluation_id=evaluation_id(source="/registry", event_id="41", suite=SUITE),
    version=VersionName("2026-11-28.3"),
    value=0.875,
    interval=Interval(lower=0.8, upper=0.95, level=0.95, method="student"),
    worst_case=Interval(lower=0.79, upper=0.96, level=0.95, method="student"),
    worst_lower_shift=-0.01,
    worst_upper_shift=0.01,
)
PLAN = Plan(
    subject=SUBJECT,
    method=Method.AUTO,
    objective=NotWorse(tolerance=0.02),
    inference=INFERENCE,
    population=400,
    draws=6,
    round_sizes=(4, 2),
    weights=(0.1, 0.15, 0.2, 0.2, 0.2, 0.15),
    clock_seed=clock_seed(EVALUATION),
    attempts_allowed=7,
    missing_limit=0.05,
    baseline=BASELINE,
    reason="The history predicts well: active inference.",
    history_digest=digest("history"),
    software="0.1.0",
)
STRATIFIED_PLAN = replace(
    PLAN,
    method=Method.NEYMAN,
    inference=replace(
        INFERENCE, design="stratified", estimator="stratified_mean", interval="stratified_wilson"
    ),
    population=9,
    round_sizes=(6,),
    weights=(1 / 6,) * 6,
    reason="Drawn from strata.",
    strata=Strata(labels=(0, 1, 2, 0, 1, 2, 2, 0, 2), draws=(2, 1, 3)),
    signal_digest=digest("signal"),
)
DRAWS = tuple(
    Draw(
        step=step,
        round=step // 4,
        item=step * 61,
        probability=0.1 / (step + 3),
        prediction=0.7 + step / 30,
        rest_prediction_sum=300.0 - step,
        model_variance=0.01 / (step + 1),
        group_mass=0.3,
        group_rest_prediction_sum=90.0 - step,
        group_model_variance=0.02 / (step + 1),
    )
    for step in range(PLAN.draws)
)
ANSWERS = (
    Answer(step=0, status=Status.GRADED, score=1.0, usage=Usage(prompt_tokens=90)),
    Answer(step=1, status=Status.GRADED, score=0.0, usage=Usage(completion_tokens=12)),
    Answer(step=2, status=Status.TIMEOUT, score=None, usage=Usage(attempts=2)),
    Answer(step=3, status=Status.REFUSAL, score=0.0),
    Answer(step=4, status=Status.GRADED, score=0.5),
)
OUTCOMES = Outcomes(plan=PLAN, draws=DRAWS, answers=ANSWERS, quantile=2.13144954555978)
ESTIMATE = Estimate(
    value=1.0125,
    interval=Interval(lower=0.85, upper=1.0, level=0.95, method="student"),
    worst_case=Interval(lower=0.8, upper=1.0, level=0.95, method="student"),
    worst_lower_shift=-0.05,
    worst_upper_shift=0.0,
    variance=0.0004,
    quantile=2.13144954555978,
    degrees=15.0,
    ess_ratio=1.5,
)
DIFFERENCE = Difference(
    value=ESTIMATE.value - BASELINE.value,
    interval=Interval(lower=-0.1, upper=0.2, level=0.95, method="independent"),
    worst_case=Interval(lower=-0.15, upper=0.25, level=0.95, method="independent"),
    worst_lower_shift=-0.06,
    worst_upper_shift=0.01,
    pairing="independent",
    previous_version=BASELINE.version,
    previous_evaluation_id=BASELINE.evaluation_id,
)
FINDINGS = Findings(
    counts={"graded": 3, "refusal": 1, "timeout": 1},
    answered=4,
    missing=1,
    estimate=ESTIMATE,
    difference=DIFFERENCE,
    verdict=Verdict(
        outcome=Outcome.INCONCLUSIVE,
        reason=Reason.INTERVAL_TOO_WIDE,
        sentence="6 answers say too little about a drop of 2 points.",
    ),
)
DOUBTED_PLAN = replace(
    PLAN,
    baseline=replace(BASELINE, unreadable=Unreadable(found=1.5, answers=74.25)),
    format_level=0.001,
)
DOUBTED = replace(
    FINDINGS,
    doubt=Doubt(
        ungraded={"no_answer": 0.25, "refusal": 0.125},
        unreadable=Unreadable(found=1.0, answers=4.0),
        format_change=FormatChange(
            share=0.25, previous_share=0.02, previous_version=BASELINE.version, p_value=0.0005
        ),
    ),
)
CANCELLED = Findings(
    counts={},
    answered=0,
    missing=0,
    estimate=NoEstimate(reason=NoEstimateReason.NOT_STARTED),
    difference=None,
    verdict=Verdict(
        outcome=Outcome.CANCELLED,
        reason=Reason.TOO_OLD,
        sentence="The event is 30 hours old; nothing was asked.",
        severity=Severity.WARNING,
    ),
)
SPEND = Spend(
    attempts=6,
    maybe_repeated=1,
    prompt_tokens=540,
    completion_tokens=72,
    cost=Money(amount=0.0123, currency="EUR"),
)
JUDGED_ANSWER = Answer(
    step=0,
    status=Status.GRADED,
    score=0.75,
    judged=(
        Judged(judge="strict", calls=2, unusable=1, flipped=None, usage=Usage(attempts=3)),
        Judged(judge="kind", calls=2, unusable=0, flipped=True, usage=Usage(attempts=0)),
    ),
)
JUDGING = {"strict": JudgeFigures(model="judge-1", calls=12, comparisons=6, flips=2)}
JUDGED_SPEND = replace(
    SPEND,
    others={
        Purpose.JUDGE: SpendLine(attempts=12, prompt_tokens=900, completion_tokens=60, cost=None)
    },
)
TIMES = Times(
    started=datetime(2026, 11, 29, 12, 0, tzinfo=UTC),
    ended=datetime(2026, 11, 29, 12, 1, 30, tzinfo=UTC),
    seconds=90.25,
)

texts = st.text(max_size=20)
floats = st.floats(allow_nan=False, allow_infinity=False)
counts = st.integers(0, 2**31 - 1)
digests = st.binary(max_size=8).map(lambda seed: digest(seed.hex()))
moments = st.datetimes(timezones=st.just(UTC))


@st.composite
def intervals(draw: st.DrawFn) -> Interval:
    lower, upper = sorted((draw(floats), draw(floats)))
    level = draw(st.floats(0.01, 0.99))
    return Interval(lower=lower, upper=upper, level=level, method=draw(texts))


subjects = st.builds(
    Subject,
    evaluation_id=digests.map(EvaluationId),
    partition=counts,
    offset=st.integers(0, 2**63 - 1),
    labels=st.dictionaries(texts, texts, max_size=3),
)
baselines = st.builds(
    Baseline,
    value=floats,
    interval=intervals(),
    worst_case=intervals(),
    worst_lower_shift=floats,
    worst_upper_shift=floats,
) | st.builds(NoBaseline, reason=st.sampled_from(NoBaselineReason))
objectives = (
    st.builds(NotWorse, tolerance=floats)
    | st.builds(AtLeast, threshold=floats)
    | st.just(EstimateOnly())
)


@st.composite
def strata(draw: st.DrawFn) -> Strata:
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=300))
    labels = [label for label, size in enumerate(sizes) for _ in range(size)]
    return Strata(labels=tuple(draw(st.permutations(labels))), draws=tuple(sizes))


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    weights = draw(st.lists(floats, min_size=1, max_size=30))
    built = st.builds(
        Plan,
        subject=subjects,
        objective=objectives,
        inference=st.builds(Inference, dispersion=floats, level=floats, floor=floats),
        draws=st.just(len(weights)),
        weights=st.just(tuple(weights)),
        round_sizes=st.lists(counts, max_size=5).map(tuple),
        clock_seed=digests.map(Digest),
        missing_limit=floats,
        baseline=baselines,
        strata=st.none() | strata(),
        signal_digest=st.none() | digests,
        judges=st.sampled_from([(), ("judge-1", "judge-2")]),
    )
    return draw(built)


def draws_at(step: int) -> st.SearchStrategy[Draw]:
    return st.builds(
        Draw,
        step=st.just(step),
        round=counts,
        item=counts,
        probability=floats,
        prediction=floats,
        rest_prediction_sum=floats,
        model_variance=floats,
        group_mass=floats,
        group_rest_prediction_sum=floats,
        group_model_variance=floats,
    )


@st.composite
def answers_at(draw: st.DrawFn, step: int) -> Answer:
    status = draw(st.sampled_from(Status))
    score = None if status in MISSING else draw(st.floats(0, 1))
    usage = st.builds(Usage, attempts=counts, prompt_tokens=counts, completion_tokens=counts)
    return Answer(step=step, status=status, score=score, usage=draw(usage))


@st.composite
def outcomes(draw: st.DrawFn) -> Outcomes:
    plan = draw(plans())
    drawn = range(draw(st.integers(0, plan.draws)))
    answered = [step for step in drawn if draw(st.booleans())]
    return Outcomes(
        plan=plan,
        draws=tuple(draw(draws_at(step)) for step in drawn),
        answers=tuple(draw(answers_at(step)) for step in answered),
        quantile=draw(st.none() | floats),
    )


rows: st.SearchStrategy[Row] = (
    st.builds(Planned, plan=plans(), at=moments)
    | st.builds(Drawn, draws=st.lists(counts.flatmap(draws_at), max_size=9).map(tuple))
    | st.builds(Answered, answers=st.lists(counts.flatmap(answers_at), max_size=9).map(tuple))
    | st.builds(Resumed, pending=counts)
    | st.builds(Ended, statistics_digest=digests)
)
