from math import isclose

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from monitor.stats import proportions
from monitor.stats.proportions import Proportion

COUNTS = st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
DRAWS = st.lists(st.tuples(st.booleans(), st.floats(1e-3, 1e3)), min_size=1, max_size=50)


def counted(found: float, size: float) -> Proportion:
    return Proportion(found=found, size=size)


def test_equal_draws_are_counted() -> None:
    found = [True, False, False, True, False, False, False]
    assert proportions.weighted(found, [0.1] * 7) == counted(2.0, 7.0)


def test_a_weight_is_that_of_so_many_draws() -> None:
    """By hand: w = 1/2, 1/4, 1/4 and x = 1, 0, 0, so p = 1/2, sum w^2 = 3/8, var p = 9/64."""
    found = proportions.weighted([True, False, False], [2.0, 1.0, 1.0])
    assert found.share == 0.5
    assert found.size == pytest.approx(min(8 / 3, 0.25 / (9 / 64)))


def test_few_finds_of_large_weight_are_worth_less_than_the_weights_say() -> None:
    weights = [10.0] * 3 + [1.0] * 97
    rare = proportions.weighted([True] + [False] * 99, weights)
    common = proportions.weighted([False] * 99 + [True], weights)
    by_weights = sum(weights) ** 2 / sum(weight**2 for weight in weights)
    assert rare.size < 0.5 * by_weights
    assert common.size == pytest.approx(by_weights)


@given(DRAWS)
def test_draws_are_worth_at_most_their_number(draws: list[tuple[bool, float]]) -> None:
    found, weights = [each for each, _ in draws], [weight for _, weight in draws]
    worth = proportions.weighted(found, weights)
    assert 0.0 <= worth.found <= worth.size * (1 + 1e-9)
    assert worth.size <= len(draws) * (1 + 1e-9)
    scaled = proportions.weighted(found, [3.0 * weight for weight in weights])
    assert isclose(scaled.share, worth.share, abs_tol=1e-9)


@pytest.mark.parametrize(("found", "weights"), [([], []), ([True], []), ([True], [0.0])])
def test_draws_without_weight_are_refused(found: list[bool], weights: list[float]) -> None:
    with pytest.raises(ValueError, match=r"proportion|weights"):
        proportions.weighted(found, weights)


@given(COUNTS, COUNTS)
def test_counts_are_tested_as_by_fisher(first: tuple[int, int], second: tuple[int, int]) -> None:
    table = np.array([[found, size - found] for found, size in (first, second)])
    tails = [stats.fisher_exact(table, alternative=side).pvalue for side in ("less", "greater")]
    p_value = proportions.p_value(counted(*first), counted(*second))
    assert p_value == pytest.approx(min(1.0, 2.0 * min(tails)))
    assert p_value == proportions.p_value(counted(*second), counted(*first))


def test_fractions_are_rounded_towards_no_difference() -> None:
    fractions = proportions.p_value(counted(1.2, 80.5), counted(20.9, 90.9))
    assert fractions == proportions.p_value(counted(2, 80), counted(20, 90))


def test_no_draw_to_speak_of_shows_nothing() -> None:
    assert proportions.p_value(counted(0.4, 0.5), counted(0.0, 100.0)) == 1.0
