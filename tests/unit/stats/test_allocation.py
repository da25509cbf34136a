import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from monitor.stats import allocation

STRATA = st.lists(
    st.tuples(st.integers(1, 60), st.floats(0.0, 2.0)), min_size=1, max_size=12
).flatmap(
    lambda strata: st.tuples(
        st.just([size for size, _ in strata]),
        st.just([spread for _, spread in strata]),
        st.integers(sum(min(2, size) for size, _ in strata), sum(size for size, _ in strata)),
    )
)


@hypothesis.given(STRATA)
def test_all_draws_are_given_inside_the_bounds(case: tuple[list[int], list[float], int]) -> None:
    sizes, spreads, n = case
    draws = allocation.allocate(sizes, spreads, n)
    assert draws.sum() == n
    assert (np.minimum(2, sizes) <= draws).all()
    assert (draws <= sizes).all()


@hypothesis.given(STRATA, st.data())
def test_a_larger_spread_never_costs_draws(
    case: tuple[list[int], list[float], int], data: st.DataObject
) -> None:
    sizes, spreads, n = case
    place = data.draw(st.integers(0, len(sizes) - 1))
    wider = [spread + 0.5 * (index == place) for index, spread in enumerate(spreads)]
    before, after = allocation.allocate(sizes, spreads, n), allocation.allocate(sizes, wider, n)
    assert after[place] >= before[place]


@pytest.mark.parametrize(
    ("sizes", "spreads", "n", "expected"),
    [
        ([100, 300], [1.0, 1.0], 40, [10, 30]),
        ([100, 100], [1.0, 3.0], 40, [10, 30]),
        ([10, 100], [9.0, 1.0], 50, [10, 40]),
        ([100, 100], [0.0, 1.0], 10, [2, 8]),
        ([10, 100], [1.0, 0.0], 40, [10, 30]),
        ([50, 50], [0.0, 0.0], 10, [5, 5]),
        ([10, 10, 10], [1.0, 1.0, 1.0], 10, [4, 3, 3]),
        ([20, 30, 50], [1.0, 1.0, 1.0], 11, [2, 3, 6]),
        ([1, 9], [1.0, 1.0], 10, [1, 9]),
    ],
)
def test_draws_follow_size_times_spread(
    sizes: list[int], spreads: list[float], n: int, expected: list[int]
) -> None:
    assert allocation.allocate(sizes, spreads, n).tolist() == expected


def test_no_other_allocation_has_a_smaller_variance() -> None:
    sizes, spreads, n = np.array([30, 50, 20]), np.array([0.5, 0.2, 0.45]), 30
    best = allocation.allocate(sizes, spreads, n)
    for first in range(2, 29):
        for second in range(2, min(50, 28 - first) + 1):
            other = np.array([first, second, n - first - second])
            if other[2] <= 20:
                assert variance(sizes, spreads, best) <= 1.001 * variance(sizes, spreads, other)


def variance(sizes: np.ndarray, spreads: np.ndarray, draws: np.ndarray) -> float:
    return float(((sizes * spreads) ** 2 * (1 / draws - 1 / sizes)).sum())


@pytest.mark.parametrize("n", [3, 41])
def test_draws_that_do_not_fit_are_refused(n: int) -> None:
    with pytest.raises(ValueError, match=r"n: must lie in \[4, 40\]"):
        allocation.allocate([20, 20], [1.0, 1.0], n)
