"""A guided estimate is unbiased whatever the guide says, and its variance is as stated."""

import math

import numpy as np
import pytest
from scipy import special, stats

from monitor.stats import designs, effective, estimators, sampling, weights
from monitor.stats.answers import History
from monitor.stats.arrays import FloatArray
from monitor.stats.draws import ItemView
from monitor.stats.guides import GUIDES
from tests.unit.stats import evaluations

POPULATION = 200
SMALLEST_CHANCE = 1e-3


def pool(seed: int) -> tuple[FloatArray, FloatArray]:
    """Chances of success (N,) and one realisation of them."""
    rng = np.random.default_rng(seed)
    chances = special.expit(rng.normal(1.0, 1.5, POPULATION))
    return chances, (rng.random(POPULATION) < chances).astype(np.float64)


def estimate(setting: evaluations.Setting, rng: np.random.Generator) -> float:
    found = estimators.active_mean(evaluations.run(setting, rng))
    assert isinstance(found, estimators.PointEstimate)
    return found.value


def assert_mean_is(values: list[float], truth: float) -> None:
    deviation = np.std(values, ddof=1) / math.sqrt(len(values))
    chance = 2 * stats.norm.sf(abs(np.mean(values) - truth) / deviation)
    assert chance > SMALLEST_CHANCE


@pytest.mark.parametrize("wrong", [0.05, 0.7, 0.95])
def test_a_wrong_guide_biases_nothing(wrong: float) -> None:
    chances, scores = pool(1)
    rng = np.random.default_rng(2)
    predictions = np.where(np.arange(POPULATION) % 2 == 0, wrong, 1.0 - chances)
    setting = evaluations.Setting(
        scores=scores, predict=evaluations.fixed(np.clip(predictions, 0.005, 0.995)), sizes=(8, 22)
    )
    assert_mean_is([estimate(setting, rng) for _ in range(2000)], scores.mean())


@pytest.mark.parametrize("name", sorted(GUIDES))
@pytest.mark.parametrize("lag", [0, 1])
def test_a_guide_that_learns_from_answers_in_flight_biases_nothing(name: str, lag: int) -> None:
    chances, scores = pool(3)
    rng = np.random.default_rng(4)
    history = (rng.random((8, POPULATION)) < chances).astype(np.float64)
    guide = GUIDES[name].fit(History.from_matrix(history))
    setting = evaluations.Setting(
        scores=scores, predict=guide.predict, sizes=evaluations.planned(40), lag=lag
    )
    assert_mean_is([estimate(setting, rng) for _ in range(300)], scores.mean())


def test_squared_errors_are_the_exact_variance() -> None:
    chances, scores = pool(5)
    rng = np.random.default_rng(6)
    predictions = np.clip(special.expit(0.5 * special.logit(chances)), 0.005, 0.995)
    view = ItemView.from_columns(predictions, np.zeros(POPULATION, dtype=np.int64), dispersion=1.0)
    design = designs.DESIGNS["without_replacement"]
    setting = evaluations.Setting(
        scores=scores, predict=evaluations.fixed(predictions), sizes=(60,)
    )
    shared = np.array(weights.term_weights(60, POPULATION))
    errors, expected = [], []
    for _ in range(2000):
        opened = sampling.open_pool(rng.integers(0, 2**53, POPULATION).tolist())
        drawn, _ = design.draw(opened, view, size=60)
        found = estimators.active_mean(evaluations.sample(setting, drawn.rows()))
        assert isinstance(found, estimators.PointEstimate)
        errors.append((found.value - scores.mean()) ** 2)
        steps = effective.step_variances(
            scores,
            drawn.item,
            view=view,
            shares=design.shares(opened, view),
            undrawn=opened.undrawn,
        )
        expected.append(effective.exact_variance(shared, steps))
    # A mean of n squared normal errors scatters like a chi-square of n degrees over n.
    low, high = stats.chi2.interval(1 - SMALLEST_CHANCE, 2000)
    assert low < 2000 * np.mean(errors) / np.mean(expected) < high
