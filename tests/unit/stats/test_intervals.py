import dataclasses

import numpy as np
import pytest

from monitor.stats import (
    estimators,
    hypergeometric,
    intervals,
    quantiles,
    stratified,
    variances,
)
from monitor.stats.arrays import FloatArray
from monitor.stats.estimators import PointEstimate
from monitor.stats.intervals import Bounds, Refusal, RefusalReason
from monitor.stats.samples import Sample
from tests.unit.stats import evaluations

ESTIMATORS = {
    "mixed_t": "active_mean",
    "wald": "proactive_mean",
    "stratified_wilson": "stratified_mean",
}


def bounds_of(
    sample: Sample, *, kind: str, level: float = 0.95, quantile: float | None = None
) -> Bounds | Refusal:
    estimator = ESTIMATORS.get(kind, "sample_mean")
    estimate = estimators.ESTIMATORS[estimator](sample)
    assert isinstance(estimate, PointEstimate)
    return intervals.INTERVALS[kind](sample, estimate, level=level, quantile=quantile)


def given(found: Bounds | Refusal) -> Bounds:
    assert isinstance(found, Bounds)
    return found


def guided(right: int, wrong: int, *, prediction: float = 0.6, score: float = 1.0) -> Sample:
    """That many answers, in random order, drawn from 400 items with equal predictions."""
    scores = np.repeat([score, 0.0], [200 + right, 200 - right])
    setting = evaluations.Setting(
        scores=scores, predict=evaluations.fixed(np.full(400, prediction)), sizes=(right + wrong,)
    )
    sample = evaluations.run(setting, np.random.default_rng(0))
    answers = np.random.default_rng(1).permutation(np.repeat([score, 0.0], [right, wrong]))
    return dataclasses.replace(sample, scores=answers)


def with_missing(sample: Sample, count: int) -> Sample:
    """The last `count` answers lost."""
    kept = np.arange(sample.size) < sample.size - count
    return dataclasses.replace(sample, answered=kept, scores=np.where(kept, sample.scores, 0.0))


def test_mixed_t_is_student_on_the_mixed_variance() -> None:
    sample = guided(24, 16)
    found = given(bounds_of(sample, kind="mixed_t"))
    spread = variances.mixed(sample)
    estimate = estimators.active_mean(sample)
    assert isinstance(estimate, PointEstimate)
    assert spread.variance is not None
    reach = quantiles.student_quantile(spread.degrees, level=0.95) * spread.variance**0.5
    assert (found.lower, found.upper) == (estimate.value - reach, estimate.value + reach)
    assert (found.degrees, found.gate) == (spread.degrees, spread.gate)


def test_a_stored_quantile_is_used_as_it_is() -> None:
    sample = guided(24, 16)
    first = given(bounds_of(sample, kind="mixed_t"))
    again = given(bounds_of(sample, kind="mixed_t", quantile=first.quantile))
    wider = given(bounds_of(sample, kind="mixed_t", quantile=4.0))
    assert again == first
    assert wider.upper - wider.lower > first.upper - first.lower


@pytest.mark.parametrize("wrong", [0, 1, 2])
def test_few_failures_extend_the_lower_bound_to_the_floor_bound(wrong: int) -> None:
    found = given(bounds_of(guided(60 - wrong, wrong, prediction=0.9), kind="mixed_t"))
    chance = quantiles.binomial_upper_bound(wrong, 60, tail=0.025)
    assert found.lower == pytest.approx(1 - min(1.0, wrong / 400 + chance / 0.1))


def test_no_failure_gives_the_closed_form() -> None:
    found = given(bounds_of(guided(60, 0, prediction=0.9), kind="mixed_t"))
    assert found.lower == pytest.approx(1 - (1 - 0.025 ** (1 / 60)) / 0.1, abs=1e-4)


def test_few_successes_extend_the_upper_bound() -> None:
    found = given(bounds_of(guided(1, 59, prediction=0.1), kind="mixed_t"))
    chance = quantiles.binomial_upper_bound(1, 60, tail=0.025)
    assert found.upper == pytest.approx(min(1.0, 1 / 400 + chance / 0.1))


@pytest.mark.parametrize("seen", [0, 1, 2])
def test_few_seen_may_be_all_there_are(seen: int) -> None:
    upper = given(bounds_of(guided(12 - seen, seen, prediction=0.1), kind="mixed_t")).upper
    lower = given(bounds_of(guided(seen, 12 - seen, prediction=0.9), kind="mixed_t")).lower
    assert upper >= 1 - seen / 400
    assert lower <= seen / 400


def test_three_failures_are_enough() -> None:
    found = given(bounds_of(guided(57, 3, prediction=0.9), kind="mixed_t"))
    assert found.lower > 0.8


@pytest.mark.parametrize(
    ("right", "prediction", "reason"),
    [
        (0, 0.1, RefusalReason.TOO_FEW_SUCCESSES),
        (30, 0.9, RefusalReason.TOO_FEW_FAILURES),
    ],
)
def test_few_fractional_failures_or_successes_are_refused(
    right: int, prediction: float, reason: RefusalReason
) -> None:
    sample = guided(right, 30 - right, prediction=prediction, score=0.999)
    almost = dataclasses.replace(sample, scores=np.maximum(sample.scores, 0.001))
    assert bounds_of(almost, kind="mixed_t") == Refusal(reason=reason)


def test_an_interval_outside_the_range_is_refused() -> None:
    sample = guided(24, 16)
    shifted = dataclasses.replace(sample, rest_prediction_sums=sample.rest_prediction_sums + 400.0)
    assert bounds_of(shifted, kind="mixed_t") == Refusal(reason=RefusalReason.OUTSIDE_RANGE)


def test_one_draw_is_refused() -> None:
    found = bounds_of(guided(1, 0), kind="mixed_t")
    assert found == Refusal(reason=RefusalReason.TOO_FEW_DRAWS)


def test_no_spread_is_refused() -> None:
    scores = np.full(40, 0.5)
    setting = evaluations.Setting(scores=scores, predict=evaluations.fixed(scores), sizes=(20,))
    sample = evaluations.run(setting, np.random.default_rng(0))
    frozen = dataclasses.replace(sample, model_variances=np.zeros(20))
    assert bounds_of(frozen, kind="mixed_t") == Refusal(reason=RefusalReason.NO_SPREAD)


def test_missing_answers_widen_by_their_shifts() -> None:
    sample = with_missing(guided(24, 16), 4)
    estimate = estimators.active_mean(sample)
    assert isinstance(estimate, PointEstimate)
    found = given(bounds_of(sample, kind="mixed_t"))
    assert found.worst_lower == pytest.approx(found.lower + estimate.lower_shift)
    assert found.worst_upper == pytest.approx(found.upper + estimate.upper_shift)


def test_missing_answers_may_all_be_the_failures_not_seen() -> None:
    sample = with_missing(guided(100, 0, prediction=0.9), 2)
    found = given(bounds_of(sample, kind="mixed_t"))
    chance = quantiles.binomial_upper_bound(2, 100, tail=0.025)
    assert found.worst_lower <= 1 - (2 / 400 + chance / 0.1)


def test_the_exact_interval_is_in_shares_of_the_pool() -> None:
    sample = evaluations.plain_sample([1.0] * 15 + [0.0] * 5, population=100)
    found = given(bounds_of(sample, kind="hypergeometric"))
    low, high = hypergeometric.success_bounds(15, 20, 100, level=0.95)
    assert (found.lower, found.upper) == (low / 100, high / 100)


def test_the_exact_worst_case_counts_missing_answers_both_ways() -> None:
    sample = evaluations.plain_sample([1.0] * 15 + [0.0] * 3 + [None] * 2, population=100)
    found = given(bounds_of(sample, kind="hypergeometric"))
    assert found.worst_lower == hypergeometric.success_bounds(15, 20, 100, level=0.95)[0] / 100
    assert found.worst_upper == hypergeometric.success_bounds(17, 20, 100, level=0.95)[1] / 100


def test_fractions_have_no_exact_interval() -> None:
    sample = evaluations.plain_sample([1.0, 0.5], population=10)
    assert bounds_of(sample, kind="hypergeometric") == Refusal(reason=RefusalReason.NOT_BINARY)


def test_a_census_is_as_wide_as_its_missing_answers() -> None:
    sample = evaluations.plain_sample([1.0, 0.5, None, 0.0], population=4)
    found = given(bounds_of(sample, kind="census"))
    assert (found.lower, found.upper) == (1.5 / 4, 2.5 / 4)


def test_a_part_is_no_census() -> None:
    sample = evaluations.plain_sample([1.0, 0.5], population=4)
    with pytest.raises(ValueError, match="2 draws of 4 items"):
        bounds_of(sample, kind="census")


def repeating(scores: FloatArray, *, n: int = 40, missing: int = 0) -> Sample:
    """Draws with replacement by a guide that sees little."""
    setting = evaluations.Setting(
        scores=scores,
        predict=evaluations.fixed(np.linspace(0.2, 0.8, len(scores))),
        sizes=(n,),
        design="with_replacement",
    )
    return with_missing(evaluations.run(setting, np.random.default_rng(2)), missing)


HALF_RIGHT = np.tile([0.0, 1.0], 50)


def test_wald_is_normal_on_the_estimates_own_variance() -> None:
    sample = repeating(HALF_RIGHT)
    found = given(bounds_of(sample, kind="wald", level=0.9))
    estimate = estimators.proactive_mean(sample)
    assert isinstance(estimate, PointEstimate)
    assert estimate.variance is not None
    assert found.quantile == quantiles.normal_quantile(level=0.9)
    reach = found.quantile * estimate.variance**0.5
    assert (found.lower, found.upper) == (estimate.value - reach, estimate.value + reach)
    assert (found.degrees, found.gate) == (None, None)


@pytest.mark.parametrize("quantile", [50.0, 1.0])
def test_wald_is_clipped_at_the_right_ends(quantile: float) -> None:
    found = given(bounds_of(repeating(HALF_RIGHT), kind="wald", quantile=quantile))
    assert (found.lower == 0.0, found.upper == 1.0) == (quantile == 50.0,) * 2
    assert found.quantile == quantile


def test_wald_widens_by_the_shifts_of_missing_answers() -> None:
    sample = repeating(HALF_RIGHT, missing=3)
    estimate = estimators.proactive_mean(sample)
    assert isinstance(estimate, PointEstimate)
    found = given(bounds_of(sample, kind="wald"))
    assert found.worst_lower == pytest.approx(found.lower + estimate.lower_shift)
    assert found.worst_upper == pytest.approx(found.upper + estimate.upper_shift)


@pytest.mark.parametrize(
    ("sample", "reason"),
    [
        (repeating(HALF_RIGHT, n=1), RefusalReason.TOO_FEW_DRAWS),
        (repeating(np.linspace(0.2, 0.8, 100)), RefusalReason.NO_SPREAD),
    ],
)
def test_wald_is_refused_without_a_variance(sample: Sample, reason: RefusalReason) -> None:
    assert bounds_of(sample, kind="wald") == Refusal(reason=reason)


@pytest.mark.parametrize("shift", [-100.0, 100.0])
def test_wald_outside_the_range_is_refused(shift: float) -> None:
    sample = repeating(HALF_RIGHT)
    estimate = estimators.proactive_mean(sample)
    assert isinstance(estimate, PointEstimate)
    moved = dataclasses.replace(estimate, value=estimate.value + shift)
    found = intervals.wald(sample, moved, level=0.95)
    assert found == Refusal(reason=RefusalReason.OUTSIDE_RANGE)


def from_strata(scores: FloatArray, *, n: int = 30, missing: int = 0) -> Sample:
    setting = evaluations.Setting(
        scores=scores,
        predict=evaluations.blind(len(scores)),
        sizes=(n,),
        design="stratified",
        missing=np.arange(len(scores)) < missing,
    )
    return evaluations.run(setting, np.random.default_rng(2))


def test_wilson_bounds_are_as_far_as_their_own_variance_allows() -> None:
    sample = from_strata(np.repeat([1.0, 0.0], [200, 100]))
    found = given(bounds_of(sample, kind="stratified_wilson"))
    worth, value = stratified.spread(sample), stratified.mean(sample)
    for bound in (found.lower, found.upper):
        variance = worth.per_product * bound * (1.0 - bound)
        assert abs(value - bound) / variance**0.5 == pytest.approx(found.quantile)
    assert found.quantile == quantiles.student_quantile(13.5, level=0.95)


def test_without_a_failure_wilson_leaves_room_below() -> None:
    found = given(bounds_of(from_strata(np.ones(300)), kind="stratified_wilson"))
    assert found.upper == 1.0
    assert 0.8 < found.lower < 0.95


def test_missing_answers_of_strata_may_be_right_or_wrong() -> None:
    sample = from_strata(np.repeat([1.0, 0.0], [150, 150]), missing=40)
    found = given(bounds_of(sample, kind="stratified_wilson"))
    shares = 1 / 30 * sample.missing
    assert found.worst_upper >= found.upper
    assert found.worst_lower < found.lower - 0.5 * shares


def test_a_stratum_each_with_one_answer_shows_no_spread() -> None:
    sample = from_strata(np.ones(6), n=3)
    assert bounds_of(sample, kind="stratified_wilson") == Refusal(
        reason=RefusalReason.TOO_FEW_DRAWS
    )
