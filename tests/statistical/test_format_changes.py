"""How often a change of format is suspected: of versions without one, and of versions with one.

A version's unreadable answers are the same items each time; chance is in the draws alone. They may
lie where the guide draws often or hardly ever, which plain shares would take for a change.
"""

from collections import defaultdict
from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest
from scipy import stats

from monitor.engine import doubts
from monitor.stats import estimators, proportions
from monitor.stats.arrays import BoolArray
from monitor.stats.proportions import Proportion
from tests.statistical.repetitions import SMALLEST_CHANCE, assert_at_most
from tests.unit.stats import evaluations

POPULATION, DRAWS, RUNS = 400, 100, 150
ESTIMATORS = {
    "simple": "sample_mean",
    "without_replacement": "active_mean",
    "with_replacement": "proactive_mean",
}
SIZES = {"simple": [DRAWS], "without_replacement": [25] * 4, "with_replacement": [25] * 4}
EASINESS = np.random.default_rng(1).beta(2.0, 1.0, POPULATION).clip(0.02, 0.98)
ORDERS = {
    "anywhere": np.random.default_rng(2).permutation(POPULATION),
    "hard": np.argsort(EASINESS),
    "easy": np.argsort(-EASINESS),
}


def unreadable(where: str, share: float) -> BoolArray:
    """(N,) mask of so many items."""
    mask = np.zeros(POPULATION, dtype=np.bool_)
    mask[ORDERS[where][: round(share * POPULATION)]] = True
    return mask


def evaluate(design: str, mask: BoolArray, rng: np.random.Generator) -> Proportion:
    """What one evaluation shows of the unreadable answers."""
    setting = evaluations.Setting(
        scores=mask.astype(np.float64),
        predict=evaluations.fixed(EASINESS),
        sizes=SIZES[design],
        design=design,
    )
    sample = evaluations.run(setting, rng)
    point = estimators.ESTIMATORS[ESTIMATORS[design]](sample)
    assert isinstance(point, estimators.PointEstimate)
    weights: defaultdict[int, float] = defaultdict(float)
    for item, weight in zip(sample.items.tolist(), point.coefficients, strict=True):
        weights[item] += weight
    return proportions.weighted([bool(mask[item]) for item in weights], list(weights.values()))


@cache
def repeated(design: str, where: str, share: float, seed: int = 0) -> Sequence[Proportion]:
    rng = np.random.default_rng([seed, *design.encode(), *where.encode(), round(1000 * share)])
    mask = unreadable(where, share)
    return [evaluate(design, mask, rng) for _ in range(RUNS)]


def suspected(first: Sequence[Proportion], second: Sequence[Proportion], level: float) -> int:
    pairs = zip(first, second, strict=True)
    return sum(proportions.p_value(*pair) <= level for pair in pairs)


@pytest.mark.parametrize("share", [0.05, 0.2])
@pytest.mark.parametrize("where", ORDERS)
@pytest.mark.parametrize("design", ESTIMATORS)
def test_versions_that_change_nothing_are_rarely_suspected(
    design: str, where: str, share: float
) -> None:
    """Also where only the design is another one than that of the version before."""
    new, before = repeated(design, where, share), repeated("simple", where, share, seed=1)
    assert_at_most(doubts.LEVEL, suspected(new, before, doubts.LEVEL), RUNS)
    assert_at_most(0.02, suspected(new, before, 0.02), RUNS)


@pytest.mark.parametrize("where", ORDERS)
@pytest.mark.parametrize("design", ESTIMATORS)
def test_shares_are_those_of_the_pool(design: str, where: str) -> None:
    """A ratio of two sums, so unbiased up to 1/n only."""
    shares = [each.share for each in repeated(design, where, 0.2)]
    error = float(stats.sem(shares))
    assert abs(np.mean(shares) - 0.2) < stats.norm.isf(SMALLEST_CHANCE) * error + 0.1 / DRAWS


@pytest.mark.parametrize("where", ["anywhere", "hard"])
@pytest.mark.parametrize(("design", "power"), [("simple", 0.95), ("without_replacement", 0.9)])
def test_twenty_points_on_a_hundred_draws_are_seen(design: str, power: float, where: str) -> None:
    new, before = repeated(design, where, 0.2), [Proportion(found=0.0, size=100.0)] * RUNS
    missed = RUNS - suspected(new, before, doubts.LEVEL)
    assert_at_most(1.0 - power, missed, RUNS)
