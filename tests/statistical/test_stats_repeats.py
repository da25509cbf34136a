"""Draws with replacement: each is independent given its round, and the estimate is unbiased."""

import itertools
import math
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from scipy import stats

from monitor.stats import draws, estimators, intervals, sampling
from monitor.stats.answers import Answers
from monitor.stats.arrays import FloatArray
from monitor.stats.designs import WithReplacement
from monitor.stats.draws import DrawRow, ItemView
from tests.unit.stats import evaluations

PREDICTIONS = np.array([0.02, 0.5, 0.9])
SCORES = np.array([0.0, 1.0, 0.3])
GROUPS = np.zeros(3, dtype=np.int64)
DESIGN = WithReplacement()
RUNS = 2_000
RARE = 0.01
SMALLEST_CHANCE = 1e-3


def predict(answered: Answers) -> FloatArray:
    """Another view of the items with each answer, a second one to the same item too."""
    if not len(answered.items):
        return PREDICTIONS
    seen = np.bincount(answered.items, weights=answered.scores - 0.4, minlength=3)
    return np.clip(PREDICTIONS + seen[::-1], 0.005, 0.995)


def view_after(items: tuple[int, ...]) -> ItemView:
    learnt = Answers.from_columns(items=items, scores=[float(SCORES[item]) for item in items])
    return ItemView.from_columns(predict(learnt), GROUPS, dispersion=1.0)


def sequences(sizes: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], tuple[DrawRow, ...]]]:
    """Every possible evaluation in rounds of these sizes, each learning from those before."""
    pool = sampling.open_pool(range(3))
    for items in itertools.product(range(3), repeat=sum(sizes)):
        rows: list[DrawRow] = []
        for size in sizes:
            known, came = items[: len(rows)], items[len(rows) : len(rows) + size]
            view = view_after(known)
            shares = DESIGN.shares(pool, view)
            rows += draws.describe_independent(np.array(came), shares=shares, view=view).rows()
        yield items, tuple(rows)


def probability(rows: tuple[DrawRow, ...]) -> float:
    return math.prod(row.probability for row in rows)


def setting(sizes: tuple[int, ...]) -> evaluations.Setting:
    return evaluations.Setting(
        scores=SCORES, predict=predict, sizes=sizes, design=DESIGN.name, lag=0
    )


@pytest.mark.parametrize("sizes", [(3,), (1, 2), (2, 1), (1, 1, 1)])
def test_the_mean_over_every_possible_evaluation_is_the_truth(sizes: tuple[int, ...]) -> None:
    total, expected = 0.0, 0.0
    for _, rows in sequences(sizes):
        found = estimators.proactive_mean(evaluations.sample(setting(sizes), rows))
        assert isinstance(found, estimators.PointEstimate)
        total += probability(rows)
        expected += probability(rows) * found.value
    assert total == pytest.approx(1.0, abs=1e-12)
    assert expected == pytest.approx(SCORES.mean(), abs=1e-12)


@pytest.mark.parametrize("sizes", [(3,), (1, 2), (2, 1)])
def test_rounds_are_independent_draws_with_the_stored_probabilities(sizes: tuple[int, ...]) -> None:
    rng = np.random.default_rng(len(sizes) + sizes[0])
    seen: Counter[tuple[int, ...]] = Counter()
    for _ in range(RUNS):
        rounds = evaluations.run_rounds(setting(sizes), rng)
        seen[tuple(row.item for drawn in rounds for row in drawn)] += 1
    chances = {items: probability(rows) for items, rows in sequences(sizes)}
    rare = {items for items in chances if chances[items] < RARE}
    assert seen.keys() <= chances.keys()
    merged = [sum(counts[items] for items in rare) for counts in (seen, chances)]
    common = sorted(chances.keys() - rare)
    test = stats.chisquare(
        [merged[0], *(seen[items] for items in common)],
        [RUNS * merged[1], *(RUNS * chances[items] for items in common)],
    )
    assert test.pvalue > SMALLEST_CHANCE


def test_renewed_clocks_are_exponential_and_forget_the_first() -> None:
    rng = np.random.default_rng(11)
    bits = rng.integers(0, 2**53, 4_000)
    pool, alone = sampling.open_pool(bits), np.ones(1)
    renewed = np.array([after_one(int(each), alone) for each in bits])
    assert stats.kstest(renewed, "expon").pvalue > SMALLEST_CHANCE
    assert stats.spearmanr(pool.clocks, renewed).pvalue > SMALLEST_CHANCE


def after_one(bits: int, alone: FloatArray) -> float:
    """The clock of an item after its first draw, alone in its pool."""
    pool = sampling.open_pool([bits])
    after = sampling.advance_renewed(pool, alone, items=np.array([0]))
    return float(after.clocks[0])


def test_clocks_left_over_are_exponential_again() -> None:
    rng = np.random.default_rng(12)
    view = ItemView.from_columns(np.full(200, 0.3), np.zeros(200, dtype=np.int64), dispersion=1.0)
    left = []
    for _ in range(40):
        pool = sampling.open_pool(rng.integers(0, 2**53, 200))
        _, after = DESIGN.draw(pool, view, size=300)
        left.append(after.clocks)
    assert stats.kstest(np.concatenate(left), "expon").pvalue > SMALLEST_CHANCE


def test_wald_covers_with_many_draws_of_a_calibrated_guide() -> None:
    """As published it is for large samples; .93 is its floor here, not the product's."""
    rng = np.random.default_rng(13)
    hits, runs = 0, 300
    for _ in range(runs):
        chances = rng.uniform(0.2, 0.9, 1000)
        scores = (rng.random(1000) < chances).astype(np.float64)
        known = evaluations.Setting(
            scores=scores, predict=evaluations.fixed(chances), sizes=(150,), design=DESIGN.name
        )
        sample = evaluations.run(known, rng)
        estimate = estimators.proactive_mean(sample)
        assert isinstance(estimate, estimators.PointEstimate)
        bounds = intervals.wald(sample, estimate, level=0.95)
        assert isinstance(bounds, intervals.Bounds)
        hits += bounds.lower <= scores.mean() <= bounds.upper
    assert stats.binom.cdf(hits, runs, 0.93) > SMALLEST_CHANCE
    assert stats.binom.sf(hits, runs, 0.97) > SMALLEST_CHANCE
