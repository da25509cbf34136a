"""A version is called worse than itself no more often than the level says, in small pools too.

Enumerated, not simulated: two independent exact intervals on every pool of a size.
"""

from math import comb

import pytest

from monitor.stats import differences, hypergeometric
from monitor.stats.differences import Measured

LEVEL = 0.95
TOLERANCE = 0.02


def measured(successes: int, draws: int, population: int) -> Measured:
    low, high = hypergeometric.success_bounds(successes, draws, population, level=LEVEL)
    lower, upper = low / population, high / population
    return Measured(
        value=successes / draws, lower=lower, upper=upper, worst_lower=lower, worst_upper=upper
    )


def chances(draws: int, successes: int, population: int) -> dict[int, float]:
    """Probability of each number of successes among the draws."""
    failures, ways = population - successes, comb(population, draws)
    possible = range(max(0, draws - failures), min(draws, successes) + 1)
    return {x: comb(successes, x) * comb(failures, draws - x) / ways for x in possible}


def false_alarms(draws: int, successes: int, population: int) -> float:
    """Probability of NOT_MET for two versions with the same successes."""
    likely = chances(draws, successes, population)
    known = {x: measured(x, draws, population) for x in likely}
    total = 0.0
    for new, new_chance in likely.items():
        for old, old_chance in likely.items():
            found = differences.independent(known[new], known[old], population=population)
            if found.upper < 0.0 and found.value < -TOLERANCE:
                total += new_chance * old_chance
    return total


@pytest.mark.parametrize("population", [1, 2, 3, 5, 8, 12, 20, 30])
def test_every_budget_of_a_tiny_pool(population: int) -> None:
    worst = max(
        false_alarms(draws, successes, population)
        for draws in range(1, population + 1)
        for successes in range(population + 1)
    )
    assert worst <= (1.0 - LEVEL) / 2.0


@pytest.mark.parametrize(("population", "draws"), [(60, 30), (60, 54), (200, 50), (200, 180)])
def test_larger_pools(population: int, draws: int) -> None:
    shares = range(0, population + 1, population // 10)
    # Discreteness leaves variance recovery a little above its level.
    assert max(false_alarms(draws, share, population) for share in shares) <= 0.03
