"""Draws in rounds have the law of one draw after the other, and of the stored probabilities."""

import itertools
from collections import Counter

import numpy as np
import pytest
from scipy import stats

from monitor.stats import designs, sampling
from monitor.stats.answers import Answers
from monitor.stats.arrays import FloatArray
from monitor.stats.draws import ItemView
from tests.unit.stats import evaluations

PREDICTIONS = np.array([0.02, 0.2, 0.5, 0.9])
RUNS = 5_000
SMALLEST_CHANCE = 1e-3


def predict(answered: Answers) -> FloatArray:
    """Another view of the items once something has been answered."""
    return PREDICTIONS[::-1] if len(answered.items) else PREDICTIONS


def sequence_probability(order: tuple[int, ...], first_round: int) -> float:
    """The chance of an order of draws: shares are fixed in a round, then made anew."""
    undrawn = np.ones(4, dtype=np.bool_)
    shares: FloatArray = np.zeros(4)
    probability = 1.0
    for step, item in enumerate(order):
        if step in {0, first_round}:
            known = PREDICTIONS if step == 0 else PREDICTIONS[::-1]
            deviations = np.sqrt(known * (1 - known)) * undrawn
            shares = 0.9 * deviations / deviations.sum() + 0.1 * undrawn / undrawn.sum()
        probability *= shares[item] / shares[undrawn].sum()
        undrawn[item] = False
    return probability


@pytest.mark.parametrize("first_round", [1, 2, 3])
def test_rounds_are_the_sequential_draw(first_round: int) -> None:
    rng = np.random.default_rng(first_round)
    sizes = (first_round, 3 - first_round) if first_round < 3 else (3,)
    setting = evaluations.Setting(scores=np.zeros(4), predict=predict, sizes=sizes, lag=0)
    seen: Counter[tuple[int, ...]] = Counter()
    for _ in range(RUNS):
        rounds = evaluations.run_rounds(setting, rng)
        seen[tuple(row.item for drawn in rounds for row in drawn)] += 1
    orders = list(itertools.permutations(range(4), 3))
    expected = [RUNS * sequence_probability(order, first_round) for order in orders]
    test = stats.chisquare([seen[order] for order in orders], expected)
    assert test.pvalue > SMALLEST_CHANCE


def test_clocks_left_over_are_exponential_again() -> None:
    rng = np.random.default_rng(11)
    view = ItemView.from_columns(np.full(400, 0.3), np.zeros(400, dtype=np.int64), dispersion=1.0)
    left = []
    for _ in range(40):
        pool = sampling.open_pool(rng.integers(0, 2**53, 400).tolist())
        _, after = designs.DESIGNS["without_replacement"].draw(pool, view, size=200)
        left.append(after.clocks[after.undrawn])
    assert stats.kstest(np.concatenate(left), "expon").pvalue > SMALLEST_CHANCE
