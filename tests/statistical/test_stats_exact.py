"""The intervals of plain random sampling keep their level on every pool."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from monitor.stats import betting, hypergeometric
from monitor.stats.arrays import FloatArray

RUNS = 400
SMALLEST_CHANCE = 1e-3


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("population", [1, 7, 20, 37])
def test_hypergeometric_covers_every_pool_at_every_size(population: int, level: float) -> None:
    for n in range(1, population + 1):
        bounds = np.array(
            [
                hypergeometric.success_bounds(right, n, population, level=level)
                for right in range(n + 1)
            ]
        )
        for total in range(population + 1):
            chances = stats.hypergeom.pmf(np.arange(n + 1), population, total, n)
            covered = (bounds[:, 0] <= total) & (total <= bounds[:, 1])
            assert chances[covered].sum() >= level - 1e-9


@pytest.mark.parametrize("n", [5, 30, 100])
@pytest.mark.parametrize(
    "make",
    [
        lambda rng: rng.random(300),
        lambda rng: np.round(rng.beta(9.0, 1.0, 300), 1),
        lambda rng: np.where(rng.random(300) < 0.03, 0.0, 0.9),
        lambda _: np.repeat([0.0, 1.0], 150),
    ],
    ids=["uniform", "mostly right", "rare failures", "binary"],
)
def test_betting_covers(make: Callable[[np.random.Generator], FloatArray], n: int) -> None:
    rng = np.random.default_rng(n)
    scores = make(rng)
    hits = 0
    for _ in range(RUNS):
        lower, upper = betting.mean_bounds(rng.permutation(scores)[:n], 300, level=0.95)
        hits += lower <= scores.mean() <= upper
    assert stats.binom.cdf(hits, RUNS, 0.95) > SMALLEST_CHANCE


@pytest.mark.parametrize(("n", "most"), [(30, 1.2), (400, 1.15)])
def test_betting_is_not_much_wider_than_a_normal_interval(n: int, most: float) -> None:
    rng = np.random.default_rng(3)
    scores = rng.random(2000)
    found = [betting.mean_bounds(rng.permutation(scores)[:n], 2000, level=0.95) for _ in range(20)]
    normal = 2 * 1.96 * scores.std() * np.sqrt((1 - n / 2000) / n)
    assert np.mean([upper - lower for lower, upper in found]) < most * normal
