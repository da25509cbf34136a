import dataclasses
import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest

from monitor.stats import effective, estimators, stratified
from monitor.stats.estimators import PointEstimate
from monitor.stats.samples import Sample, Strata
from monitor.stats.stratification import Layout
from tests.unit.stats import evaluations

LAYOUT = Layout.from_columns(labels=[0, 0, 0, 0, 1, 1, 1], draws=[2, 2])
SCORES = (1.0, 0.0, 1.0, 1.0, 0.0, 0.5, 0.0)


def sampled(
    layout: Layout,
    items: Sequence[int],
    scores: Sequence[float | None],
    *,
    predictions: Sequence[float] | None = None,
) -> Sample:
    """These items with these answers."""
    return dataclasses.replace(
        evaluations.plain_sample(scores, population=len(layout.labels)),
        items=np.array(items),
        predictions=np.array(predictions or [0.5] * len(items)),
        strata=Strata.of(layout, items),
    )


def even(strata: int, size: int, draws: int) -> Layout:
    return Layout(
        labels=np.repeat(np.arange(strata), size), draws=np.full(strata, draws, dtype=np.int64)
    )


def answered(layout: Layout, scores: Sequence[float | None]) -> Sample:
    """The first items of each stratum, in the order of the strata."""
    firsts = np.cumsum(layout.sizes) - layout.sizes
    pairs = zip(firsts.tolist(), layout.draws.tolist(), strict=True)
    items = [first + place for first, draws in pairs for place in range(draws)]
    return sampled(layout, items, scores)


def test_over_all_samples_the_mean_is_that_of_the_pool() -> None:
    values = [
        stratified.mean(sampled(LAYOUT, items, [SCORES[item] for item in items]))
        for pair in itertools.combinations(range(4), 2)
        for other in itertools.combinations(range(4, 7), 2)
        for items in [(*pair, *other)]
    ]
    assert math.fsum(values) / len(values) == pytest.approx(sum(SCORES) / 7)


def test_each_stratum_counts_by_its_size() -> None:
    sample = sampled(LAYOUT, [0, 1, 4, 5], [1.0, 0.0, 0.0, 0.5])
    assert stratified.mean(sample) == pytest.approx(4 / 7 * 0.5 + 3 / 7 * 0.25)
    assert stratified.coefficients(sample) == pytest.approx([2 / 7, 2 / 7, 1.5 / 7, 1.5 / 7])


def test_a_missing_answer_is_as_the_others_of_its_stratum() -> None:
    sample = sampled(LAYOUT, [0, 1, 4, 5], [1.0, None, 0.0, 0.5])
    assert stratified.mean(sample) == pytest.approx(4 / 7 * 1.0 + 3 / 7 * 0.25)


def test_a_silent_stratum_lies_below_the_others_by_as_much_as_predicted() -> None:
    sample = sampled(LAYOUT, [0, 1, 4, 5], [1.0, 0.5, None, None], predictions=[0.8, 0.8, 0.3, 0.3])
    assert stratified.mean(sample) == pytest.approx(4 / 7 * 0.75 + 3 / 7 * (0.75 - 0.5))


def test_one_stratum_is_plain_random_sampling() -> None:
    scores = [1.0, 0.0, 1.0, 1.0, 0.0, 1.0]
    plain = estimators.sample_mean(evaluations.plain_sample(scores, population=20))
    found = estimators.stratified_mean(answered(even(1, 20, 6), scores))
    assert isinstance(plain, PointEstimate)
    assert isinstance(found, PointEstimate)
    assert found.value == pytest.approx(plain.value)
    assert found.variance == pytest.approx(plain.variance)
    sample = answered(even(1, 20, 6), scores)
    assert effective.ess_ratio(sample, found) == pytest.approx(1.0, abs=0.2)


def test_strata_that_differ_leave_less_variance() -> None:
    apart = answered(even(2, 50, 20), [1.0] * 19 + [0.0] + [0.0] * 19 + [1.0])
    mixed = answered(even(2, 50, 20), [1.0, 0.0] * 20)
    assert stratified.spread(apart).variance < 0.4 * stratified.spread(mixed).variance


def test_many_answers_have_the_textbook_variance() -> None:
    """Within 5 % of sum W^2 (1 - f) s^2 / n with s^2 = .3 (1 - .3), .9 (1 - .9)."""
    scores = [*([1.0] * 60 + [0.0] * 140), *([1.0] * 180 + [0.0] * 20)]
    found = stratified.spread(answered(even(2, 1000, 200), scores))
    textbook = 0.25 * 0.8 / 199 * (0.21 + 0.09)
    assert found.variance == pytest.approx(textbook, rel=0.05)
    assert found.degrees == 199


def test_without_a_failure_the_draws_count_as_they_are_spread() -> None:
    found = stratified.spread(answered(even(4, 50, 10), [1.0] * 40))
    assert found.variance == 0.0
    assert found.per_product == pytest.approx((1 - 0.2) / 40)


def test_one_failure_where_draws_are_dense_does_not_show_that_there_are_none_elsewhere() -> None:
    """The failure's own variance would be a third of that of an even spread."""
    layout = Layout(labels=np.repeat([0, 1], [50, 150]), draws=np.array([20, 20]))
    found = stratified.spread(answered(layout, [0.0] + [1.0] * 39))
    even_spread = 0.25**2 * (1 - 20 / 50) / 20 + 0.75**2 * (1 - 20 / 150) / 20
    assert 0.8 < found.per_product / even_spread < 1.0


def test_fractional_scores_scatter_less() -> None:
    fractions = answered(even(2, 50, 20), [0.4, 0.6] * 20)
    whole = answered(even(2, 50, 20), [0.0, 1.0] * 20)
    ratio = stratified.spread(fractions).per_product / stratified.spread(whole).per_product
    assert 0.04 < ratio < 0.1


def test_a_stratum_with_one_answer_borrows_the_spread_of_the_others() -> None:
    lost = [1.0, None, *([0.0, 1.0] * 9)]
    found = stratified.spread(answered(even(10, 20, 2), lost))
    assert found.degrees == 4.5
    assert found.variance > stratified.spread(answered(even(10, 20, 2), [0.0, 1.0] * 10)).variance


def test_a_pool_asked_in_full_leaves_nothing_open() -> None:
    assert stratified.spread(answered(even(2, 3, 3), [1.0, 0.0, 1.0] * 2)).per_product == 0.0


def test_only_strata_have_a_stratified_mean() -> None:
    with pytest.raises(ValueError, match="strata"):
        stratified.mean(evaluations.plain_sample([1.0, 0.0], population=4))
