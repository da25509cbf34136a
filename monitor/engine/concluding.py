"""From a finished evaluation to its findings, by stored numbers alone.

An evaluation that has just ended and a replay of its record years later run the same lines.
"""

from collections import Counter
from collections.abc import Sequence

from monitor.domain.answers import CAME, MISSING, Answer
from monitor.domain.errors import StateCorrupt
from monitor.domain.plans import Draw, Plan
from monitor.domain.results import (
    Baseline,
    Difference,
    Doubt,
    Estimate,
    Findings,
    Interval,
    NoBaseline,
    NoBaselineReason,
    NoEstimate,
    NoEstimateReason,
    Verdict,
)
from monitor.engine import deciding, doubts, strata
from monitor.stats import differences, effective, estimators, intervals, samples, variances

REFUSALS = {
    intervals.RefusalReason.NO_ANSWER: NoEstimateReason.NO_ANSWERS,
    intervals.RefusalReason.TOO_FEW_DRAWS: NoEstimateReason.TOO_FEW_DRAWS,
    intervals.RefusalReason.TOO_FEW_FAILURES: NoEstimateReason.TOO_FEW_FAILURES,
    intervals.RefusalReason.TOO_FEW_SUCCESSES: NoEstimateReason.TOO_FEW_SUCCESSES,
    intervals.RefusalReason.NO_SPREAD: NoEstimateReason.NO_SPREAD,
    intervals.RefusalReason.OUTSIDE_RANGE: NoEstimateReason.OUTSIDE_RANGE,
    intervals.RefusalReason.NOT_BINARY: NoEstimateReason.NOT_BINARY,
}


def conclude(
    plan: Plan,
    draws: Sequence[Draw],
    answers: Sequence[Answer],
    *,
    quantile: float | None = None,
) -> Findings:
    """Estimate, difference and verdict of an evaluation whose draws are all answered.

    Args:
        plan: the plan it followed.
        draws: all of them, in draw order.
        answers: one for each draw, in the same order.
        quantile: the Student quantile stored with an earlier result; computed where None.

    Raises:
        StateCorrupt: draws and answers do not add up to the plan.
    """
    steps = list(range(plan.draws))
    if [draw.step for draw in draws] != steps or [each.step for each in answers] != steps:
        raise StateCorrupt(
            f"evaluation {plan.subject.evaluation_id}: {len(draws)} draws and {len(answers)} "
            f"answers do not make up a plan of {plan.draws}"
        )
    scores = [answer.score for answer in answers]
    estimate = _estimate(plan, _sample(plan, draws, scores), quantile)
    comparison = _compare(estimate, plan)
    doubt = _doubt(plan, draws, answers)
    missing = sum(answer.status in MISSING for answer in answers)
    evidence = deciding.Evidence(
        estimate=estimate,
        comparison=comparison,
        answered=plan.draws - missing,
        missing_share=missing / plan.draws,
        missing_limit=plan.missing_limit,
        format_change=doubt.format_change if doubt else None,
    )
    return Findings(
        counts=count_by_status(answers),
        answered=plan.draws - missing,
        missing=missing,
        estimate=estimate,
        difference=comparison if isinstance(comparison, Difference) else None,
        verdict=deciding.decide(plan.objective, evidence),
        doubt=doubt,
    )


def stop(
    verdict: Verdict,
    answers: Sequence[Answer] = (),
    reason: NoEstimateReason = NoEstimateReason.STOPPED,
) -> Findings:
    """Findings of an evaluation that ends before its draws are all answered.

    Some answers give no estimate: which ones came first depends on how fast they were.
    """
    missing = sum(answer.status in MISSING for answer in answers)
    return Findings(
        counts=count_by_status(answers),
        answered=len(answers) - missing,
        missing=missing,
        estimate=NoEstimate(reason=reason),
        difference=None,
        verdict=verdict,
    )


def count_by_status(answers: Sequence[Answer]) -> dict[str, int]:
    """Number of answers by status, those that occur, in alphabetical order."""
    return dict(sorted(Counter(str(answer.status) for answer in answers).items()))


def _doubt(plan: Plan, draws: Sequence[Draw], answers: Sequence[Answer]) -> Doubt | None:
    if plan.format_level is None:
        return None
    # All of one score, and only what did not come is missing: what is wanted are the weights.
    came = [0.0 if answer.status in CAME else None for answer in answers]
    point = estimators.ESTIMATORS[plan.inference.estimator](_sample(plan, draws, came))
    if isinstance(point, estimators.NoValue):
        return None
    return doubts.assess(plan, draws, answers, weights=point.coefficients)


def _sample(plan: Plan, draws: Sequence[Draw], scores: Sequence[float | None]) -> samples.Sample:
    columns = samples.SampleColumns(
        items=[draw.item for draw in draws],
        probabilities=[draw.probability for draw in draws],
        predictions=[draw.prediction for draw in draws],
        rest_prediction_sums=[draw.rest_prediction_sum for draw in draws],
        model_variances=[draw.model_variance for draw in draws],
        scores=scores,
        weights=plan.weights,
    )
    layout = strata.restore(plan)
    return samples.Sample.from_columns(
        columns,
        population=plan.population,
        dispersion=plan.inference.dispersion,
        floor=plan.inference.floor,
        strata=None if layout is None else samples.Strata.of(layout, columns.items),
    )


def _estimate(plan: Plan, sample: samples.Sample, quantile: float | None) -> Estimate | NoEstimate:
    inference = plan.inference
    point = estimators.ESTIMATORS[inference.estimator](sample)
    if isinstance(point, estimators.NoValue):
        return NoEstimate(reason=NoEstimateReason.NO_ANSWERS)
    bounds = intervals.INTERVALS[inference.interval](
        sample, point, level=inference.level, quantile=quantile
    )
    if isinstance(bounds, intervals.Refusal):
        return NoEstimate(reason=REFUSALS[bounds.reason])
    return Estimate(
        value=point.value,
        interval=_interval(plan, bounds.lower, bounds.upper),
        worst_case=_interval(plan, bounds.worst_lower, bounds.worst_upper),
        worst_lower_shift=point.lower_shift,
        worst_upper_shift=point.upper_shift,
        variance=point.variance,
        quantile=bounds.quantile,
        degrees=bounds.degrees,
        ess_ratio=effective.ess_ratio(sample, point),
        overconfident_guide=bounds.gate is variances.Gate.TRIPPED_HARD,
    )


def _interval(plan: Plan, lower: float, upper: float) -> Interval:
    return Interval(
        lower=lower, upper=upper, level=plan.inference.level, method=plan.inference.interval
    )


def _compare(estimate: Estimate | NoEstimate, plan: Plan) -> Difference | NoBaseline:
    baseline = plan.baseline
    if isinstance(baseline, NoBaseline):
        return baseline
    if isinstance(estimate, NoEstimate):
        return NoBaseline(reason=NoBaselineReason.NO_ESTIMATE)
    found = differences.independent(
        _measured(estimate), _measured(baseline), population=plan.population
    )
    lowest, highest = (
        estimate.worst_lower_shift - baseline.worst_upper_shift,
        estimate.worst_upper_shift - baseline.worst_lower_shift,
    )
    method = "independent"
    return Difference(
        value=found.value,
        interval=Interval(
            lower=found.lower, upper=found.upper, level=plan.inference.level, method=method
        ),
        worst_case=Interval(
            lower=found.worst_lower,
            upper=found.worst_upper,
            level=plan.inference.level,
            method=method,
        ),
        worst_lower_shift=lowest,
        worst_upper_shift=highest,
        pairing=method,
        previous_version=baseline.version,
        previous_evaluation_id=baseline.evaluation_id,
    )


def _measured(known: Estimate | Baseline) -> differences.Measured:
    return differences.Measured(
        value=known.value,
        lower=known.interval.lower,
        upper=known.interval.upper,
        lower_shift=known.worst_lower_shift,
        upper_shift=known.worst_upper_shift,
        worst_lower=known.worst_case.lower,
        worst_upper=known.worst_case.upper,
    )
