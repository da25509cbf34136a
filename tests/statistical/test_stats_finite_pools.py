"""What is known of a pool needs no estimating: variance and interval shrink as it empties."""

import numpy as np
import pytest
from scipy import special, stats

from monitor.stats import effective, estimators, intervals, rehearsals, weights
from monitor.stats.answers import Answers, History
from monitor.stats.arrays import FloatArray, IntArray
from monitor.stats.designs import WithoutReplacement
from monitor.stats.guides import GUIDES
from monitor.stats.rehearsals import Pool, Rehearsal

POPULATION = 200
SMALLEST_CHANCE = 1e-3


def scores(seed: int) -> FloatArray:
    rng = np.random.default_rng(seed)
    chances = special.expit(rng.normal(1.0, 1.5, POPULATION))
    return (rng.random(POPULATION) < chances).astype(np.float64)


def earlier(seed: int) -> FloatArray:
    """Outcomes of eight models."""
    rng = np.random.default_rng(seed)
    return (rng.random((8, POPULATION)) < 0.7).astype(np.float64)


def bits(seed: int) -> IntArray:
    return np.random.default_rng(seed).integers(0, 2**53, POPULATION)


def rehearsed(name: str, outcomes: FloatArray, *, seed: int, size: int) -> Rehearsal:
    guide = GUIDES[name].fit(History.from_matrix(earlier(1)))
    return rehearsals.rehearse(
        Pool.of(outcomes), guide, design=WithoutReplacement(), bits=bits(seed), size=size
    )


@pytest.mark.parametrize("n", [20, 100, 180])
def test_a_guide_that_knows_nothing_is_worth_plain_sampling_at_every_size(n: int) -> None:
    found = [
        rehearsed("constant", scores(seed), seed=seed, size=n).exact_variance(
            weights.term_weights(n, POPULATION)
        )
        / effective.srs_variance(scores(seed), n)
        for seed in range(20)
    ]
    assert 0.97 < np.mean(found) < 1.06


def test_errors_at_the_end_of_a_pool_are_as_large_as_their_exact_variance_says() -> None:
    shares = weights.term_weights(190, POPULATION)
    outcomes = scores(3)
    errors, expected = [], []
    for seed in range(300):
        run = rehearsed("constant", outcomes, seed=seed, size=190)
        found = estimators.active_mean(run.sample(shares))
        assert isinstance(found, estimators.PointEstimate)
        errors.append((found.value - outcomes.mean()) ** 2)
        expected.append(run.exact_variance(shares))
    low, high = stats.chi2.interval(1 - SMALLEST_CHANCE, len(errors))
    assert low < len(errors) * np.mean(errors) / np.mean(expected) < high


def test_the_interval_closes_in_on_the_truth() -> None:
    outcomes = scores(4)
    run = rehearsed("item_mean", outcomes, seed=4, size=199)
    sample = run.sample(weights.term_weights(199, POPULATION))
    estimate = estimators.active_mean(sample)
    assert isinstance(estimate, estimators.PointEstimate)
    found = intervals.mixed_t(sample, estimate, level=0.95)
    assert isinstance(found, intervals.Bounds)
    assert 0.0 < found.upper - found.lower < 0.05


@pytest.mark.parametrize("name", sorted(GUIDES))
def test_new_labels_for_the_items_change_nothing(name: str) -> None:
    outcomes, numbers = scores(5), bits(5)
    order = np.random.default_rng(5).permutation(POPULATION)
    guide = GUIDES[name].fit(History.from_matrix(earlier(5)))
    design = WithoutReplacement()
    plain = rehearsals.rehearse(Pool.of(outcomes), guide, design=design, bits=numbers, size=60)
    relabelled = rehearsals.rehearse(
        Pool.of(outcomes[order]),
        guide.of_items(order),
        design=design,
        bits=numbers[order],
        size=60,
    )
    assert order[relabelled.items].tolist() == plain.items.tolist()
    shares = weights.term_weights(60, POPULATION)
    values = [estimators.active_mean(run.sample(shares)) for run in (plain, relabelled)]
    assert all(isinstance(each, estimators.PointEstimate) for each in values)
    first, second = (each.value for each in values if isinstance(each, estimators.PointEstimate))
    assert first == pytest.approx(second, abs=1e-9)


@pytest.mark.parametrize("name", sorted(GUIDES))
def test_a_guide_fitted_to_relabelled_items_predicts_the_same(name: str) -> None:
    outcomes = earlier(6)
    order = np.random.default_rng(6).permutation(POPULATION)
    nothing = Answers.from_columns(items=[], scores=[])
    plain = GUIDES[name].fit(History.from_matrix(outcomes)).predict(nothing)
    relabelled = GUIDES[name].fit(History.from_matrix(outcomes[:, order])).predict(nothing)
    assert relabelled == pytest.approx(plain[order], abs=1e-6)
