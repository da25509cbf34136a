import itertools

import pytest
from scipy import stats

from monitor.stats import hypergeometric

TAIL = 0.025


@pytest.mark.parametrize(("population", "draws"), [(20, 5), (35, 12), (50, 30)])
def test_the_ends_are_the_last_pools_not_ruled_out(population: int, draws: int) -> None:
    for right in range(draws + 1):
        low, high = hypergeometric.success_bounds(right, draws, population, level=0.95)
        kept = [
            total
            for total in range(right, population - draws + right + 1)
            if stats.hypergeom.sf(right - 1, population, total, draws) > TAIL
            and stats.hypergeom.cdf(right, population, total, draws) > TAIL
        ]
        assert (low, high) == (kept[0], kept[-1])


def test_a_large_pool_takes_no_longer_than_a_page() -> None:
    assert hypergeometric.success_bounds(6000, 8000, 80_000, level=0.95) == (59_269, 60_718)


def test_a_census_is_exact() -> None:
    assert hypergeometric.success_bounds(7, 10, 10, level=0.95) == (7, 7)


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_short_of_a_census_something_stays_open(level: float) -> None:
    for population, right in itertools.product([2, 9, 60], [0, 1]):
        draws = population - 1
        low, high = hypergeometric.success_bounds(right, draws, population, level=level)
        assert right <= low < high <= right + 1


def test_successes_and_failures_are_alike() -> None:
    low, high = hypergeometric.success_bounds(3, 40, 200, level=0.9)
    assert hypergeometric.success_bounds(37, 40, 200, level=0.9) == (200 - high, 200 - low)


@pytest.mark.parametrize(("population", "k", "draws"), [(20, 4, 7), (35, 30, 12), (9, 0, 9)])
def test_the_upper_tail(population: int, k: int, draws: int) -> None:
    for successes in range(draws + 1):
        tail = hypergeometric.upper_tail(successes, k, draws=draws, population=population)
        expected = stats.hypergeom.sf(successes - 1, population, k, draws)
        assert tail == pytest.approx(expected, abs=1e-12)
