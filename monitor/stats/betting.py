"""Interval for the mean of a pool of scores in [0, 1], from a plain random sample without repeats.

Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting" (JRSS B 2024),
section 5: a bettor against the mean m multiplies the capital by 1 + b (z_t - m_t) at each answer,
m_t = (N m - z_1 - ... - z_{t-1}) / (N - t + 1) being the mean of what is left if m is true. Then
the capital is a martingale and exceeds 1/a with probability at most a (Ville). Half of the error
goes to a bettor on a higher mean, half to one on a lower mean.

Only +, -, x, / and square roots on a grid of means: the same bounds on every machine.
"""

import math
from collections.abc import Callable
from typing import Final

import numpy as np

from monitor.stats.arrays import FloatArray

GRID: Final = 1_000_000
LARGEST_LOSS: Final = 0.5
PRIOR_MEAN: Final = 0.5
PRIOR_VARIANCE: Final = 0.25


def mean_bounds(scores: FloatArray, population: int, *, level: float) -> tuple[float, float]:
    """Return an interval that covers the mean of the pool with probability at least `level`.

    Args:
        scores: (n,) in [0, 1], in the order of the draws.
        population: number of items N, at least n.
        level: in (0, 1).

    Returns:
        Bounds inside [0, 1], rounded outward to 1 / `GRID`.
    """
    low = _ruled_out_below(scores, population, level=level)
    high = GRID - _ruled_out_below(1.0 - scores, population, level=level)
    # Both bettors win with probability below 1 - level only; the order is then of no consequence.
    return min(low, high) / GRID, max(low, high) / GRID


def _ruled_out_below(scores: FloatArray, population: int, *, level: float) -> int:
    """Return the largest grid point ruled out as too low a mean, 0 if none is.

    The capital falls as m rises, factor by factor, so the points ruled out are the lowest ones.
    """
    bets = _bets(scores, level=level)
    threshold = 2.0 / (1.0 - level)

    def is_ruled_out(point: int) -> bool:
        return _capital_reaches(threshold, scores, population, mean=point / GRID, bets=bets)

    return _last(is_ruled_out, 0, GRID)


def _bets(scores: FloatArray, *, level: float) -> FloatArray:
    """Return sqrt(2 ln(2/a) / (n V_{t-1})), their predictable plug-in bet for a fixed n.

    V_{t-1} is the regularised variance of the answers before t, so a bet sees only the past.
    """
    count = len(scores)
    steps = np.arange(1, count + 1)
    means = (PRIOR_MEAN + np.cumsum(scores)) / (steps + 1)
    squares = PRIOR_VARIANCE + np.cumsum((scores - means) ** 2)
    before = np.concatenate([[PRIOR_VARIANCE], (squares / (steps + 1))[:-1]])
    # Rounded, because logarithms differ between machines in the last bit and bets are free.
    stake = round(2.0 * math.log(2.0 / (1.0 - level)), 6)
    return np.sqrt(stake / (count * before))


def _capital_reaches(
    threshold: float, scores: FloatArray, population: int, *, mean: float, bets: FloatArray
) -> bool:
    """Whether betting on more than `mean` reaches the threshold at any answer."""
    steps = np.arange(len(scores))
    before = np.concatenate([[0.0], np.cumsum(scores)[:-1]])
    expected = (population * mean - before) / (population - steps)
    if (expected < 0.0).any() or (population * mean < before[-1] + scores[-1]):
        return True
    # A bet of LARGEST_LOSS / m_t loses at most that share of the capital.
    capped = np.minimum(bets, LARGEST_LOSS / np.maximum(expected, 1.0 / GRID))
    with np.errstate(over="ignore"):
        capital = np.cumprod(1.0 + capped * (scores - expected))
    return bool(capital.max() >= threshold)


def _last(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return the last number in [low, high] up to which `holds` is true; `low` if none."""
    while low < high:
        middle = (low + high + 1) // 2
        if holds(middle):
            low = middle
        else:
            high = middle - 1
    return low
