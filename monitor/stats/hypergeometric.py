"""The hypergeometric distribution: its tail, and exact bounds for a pool from a plain sample of it.

All is decided in whole numbers, so it is the same on every machine; floating point only proposes
where to look.
"""

import functools
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from scipy import special


def success_bounds(successes: int, draws: int, population: int, *, level: float) -> tuple[int, int]:
    """Return the fewest and most successes K of the pool that the sample does not rule out.

    K is kept where P(X >= successes | K) and P(X <= successes | K) both exceed (1 - level)/2, X
    hypergeometric: inversion of two one-sided tests (Buonaccorsi 1987), coverage at least `level`.
    Short of a census the two differ, since an item never asked may be either.

    Args:
        successes: successes among the draws.
        draws: size of the sample, 1 to `population`.
        population: size of the pool.
        level: of the interval, in (0, 1).
    """
    tail = (1 - Fraction(level)) / 2
    failures = draws - successes
    low = _fewest_successes(successes, draws, population, tail=tail)
    high = population - _fewest_successes(failures, draws, population, tail=tail)
    if low == high and draws < population:
        return max(successes, low - 1), min(population - failures, high + 1)
    return low, high


def upper_tail(successes: int, k: int, *, draws: int, population: int) -> float:
    """Return P(X >= successes) for X successes in a plain sample of a pool that holds `k`."""
    total = _tail_sum(successes, k, draws=draws, population=population)
    return total / math.comb(population, draws)


def _fewest_successes(successes: int, draws: int, population: int, *, tail: Fraction) -> int:
    """Return the least K with P(X >= successes | K) > tail."""
    if successes == 0:
        return 0
    low, high = successes, population - draws + successes
    near = _first(
        lambda k: _float_tail(successes, k, draws=draws, population=population) > float(tail),
        low,
        high,
    )
    exceeds = functools.partial(
        _tail_exceeds, successes, draws=draws, population=population, tail=tail
    )
    while near > low and exceeds(near - 1):
        near -= 1
    while near < high and not exceeds(near):
        near += 1
    return near


def _first(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return the first number in [low, high] from which on `holds` is true; `high` if none."""
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low


def _float_tail(successes: int, k: int, *, draws: int, population: int) -> float:
    """Return P(X >= successes | K = k) in floating point."""
    counts = np.arange(successes, min(draws, k) + 1)
    counts = counts[draws - counts <= population - k]
    logs = (
        _log_choose(k, counts)
        + _log_choose(population - k, draws - counts)
        - _log_choose(population, np.array(draws))
    )
    return float(np.exp(logs).sum())


def _log_choose(n: int, k: np.ndarray) -> np.ndarray:
    return special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)


def _tail_exceeds(successes: int, k: int, *, draws: int, population: int, tail: Fraction) -> bool:
    """Decide P(X >= successes | K = k) > tail in whole numbers."""
    total = _tail_sum(successes, k, draws=draws, population=population)
    return total * tail.denominator > tail.numerator * math.comb(population, draws)


def _tail_sum(successes: int, k: int, *, draws: int, population: int) -> int:
    """Return sum_{i >= successes} C(k, i) C(N - k, n - i); each term follows from the one before.

    Over C(N, n) it is P(X >= successes | K = k).
    """
    others = population - k
    count = max(successes, draws - others)
    term = math.comb(k, count) * math.comb(others, draws - count)
    total = 0
    while term:
        total += term
        term = term * (k - count) * (draws - count) // ((count + 1) * (others - draws + count + 1))
        count += 1
    return total
