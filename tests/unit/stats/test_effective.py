import dataclasses
import itertools

import numpy as np
import pytest

from monitor.stats import effective, estimators
from monitor.stats.draws import ItemView
from monitor.stats.estimators import PointEstimate
from monitor.stats.samples import Strata
from tests.unit.stats import evaluations

ESTIMATE = PointEstimate(
    value=0.5,
    variance=0.02,
    coefficients=(0.5, 0.25, 0.25),
    lower_shift=0.0,
    upper_shift=0.0,
    is_baseline=False,
)


def test_the_spread_is_weighted_by_the_coefficients() -> None:
    sample = evaluations.plain_sample([1.0, 0.0, 0.5], population=10)
    square = 0.5 + 0.25 * 0.25 - 0.625**2
    expected = 10 / 9 * square * 7 / 30 / 0.02
    assert effective.ess_ratio(sample, ESTIMATE) == pytest.approx(expected)


def test_only_answers_count() -> None:
    sample = evaluations.plain_sample([1.0, 0.0, None], population=10)
    square = 2 / 3 - (2 / 3) ** 2
    expected = 10 / 9 * square * 7 / 30 / 0.02
    assert effective.ess_ratio(sample, ESTIMATE) == pytest.approx(expected)


@pytest.mark.parametrize("variance", [None, 0.0])
def test_an_unknown_variance_gives_no_ratio(variance: float | None) -> None:
    sample = evaluations.plain_sample([1.0, 0.0, 0.5], population=10)
    unknown = dataclasses.replace(ESTIMATE, variance=variance)
    assert effective.ess_ratio(sample, unknown) is None


def test_equal_scores_give_no_ratio() -> None:
    sample = evaluations.plain_sample([1.0, 1.0, 1.0], population=10)
    assert effective.ess_ratio(sample, ESTIMATE) is None


@pytest.mark.parametrize(("population", "ratio"), [(10, 1.0), (3, None)])
def test_plain_sampling_is_the_yardstick_and_a_census_beyond_it(
    population: int, ratio: float | None
) -> None:
    sample = evaluations.plain_sample([1.0, 0.0, 1.0], population=population)
    found = estimators.sample_mean(sample)
    assert isinstance(found, PointEstimate)
    assert effective.ess_ratio(sample, found) == ratio


def test_one_stratum_is_worth_as_much_as_plain_sampling() -> None:
    plain = evaluations.plain_sample([1.0, 0.0, 1.0, 1.0], population=10)
    whole = Strata(labels=np.zeros(4, dtype=np.int64), sizes=np.array([10]), draws=np.array([4]))
    sample = dataclasses.replace(plain, strata=whole)
    found = estimators.stratified_mean(sample)
    assert isinstance(found, PointEstimate)
    assert effective.ess_ratio(sample, found) == pytest.approx(1.0)


def test_srs_variance_is_the_variance_over_all_samples() -> None:
    scores = np.array([0.0, 1.0, 0.5, 1.0, 0.2])
    means = [np.mean(chosen) for chosen in itertools.combinations(scores, 3)]
    assert effective.srs_variance(scores, 3) == pytest.approx(np.var(means))


def test_step_variances_are_the_definition() -> None:
    scores = np.array([0.0, 1.0, 1.0, 0.5])
    view = ItemView.from_columns(np.array([0.2, 0.7, 0.9, 0.5]), [0] * 4, dispersion=1.0)
    shares = np.array([1.0, 2.0, 3.0, 0.0])
    undrawn = np.array([True, True, True, False])
    found = effective.step_variances(
        scores, np.array([1, 0]), view=view, shares=shares, undrawn=undrawn
    )
    first = (0.04 / (1 / 6) + 0.09 / (2 / 6) + 0.01 / (3 / 6) - (-0.2 + 0.3 + 0.1) ** 2) / 16
    second = (0.04 / (1 / 4) + 0.01 / (3 / 4) - (-0.2 + 0.1) ** 2) / 16
    assert found == pytest.approx([first, second])


def test_exact_variance_weighs_the_steps() -> None:
    found = effective.exact_variance(np.array([0.25, 0.75]), np.array([0.4, 0.8]))
    assert found == pytest.approx(0.0625 * 0.4 + 0.5625 * 0.8)


@pytest.mark.parametrize("population", [1, 5])
def test_asking_everything_leaves_no_variance(population: int) -> None:
    assert effective.srs_variance(np.linspace(0.0, 1.0, population), population) == 0.0
