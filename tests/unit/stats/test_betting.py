import numpy as np
import pytest

from monitor.stats import betting


def test_a_known_sum_bounds_what_is_left() -> None:
    lower, upper = betting.mean_bounds(np.array([1.0, 1.0, 1.0, 0.0]), 5, level=0.95)
    assert 0.599 <= lower <= 0.6
    assert 0.8 <= upper <= 0.801


def test_equal_scores_leave_room() -> None:
    lower, upper = betting.mean_bounds(np.ones(50), 1000, level=0.95)
    assert 0.93 > lower > 0.9
    assert upper == 1.0


def test_the_interval_mirrors_with_the_scores() -> None:
    scores = np.random.default_rng(0).random(40)
    lower, upper = betting.mean_bounds(scores, 200, level=0.9)
    mirrored = betting.mean_bounds(1.0 - scores, 200, level=0.9)
    assert np.allclose(mirrored, (1.0 - upper, 1.0 - lower), atol=2e-6)


def test_bounds_lie_on_the_grid() -> None:
    lower, upper = betting.mean_bounds(np.linspace(0.2, 0.9, 30), 300, level=0.95)
    assert (lower * betting.GRID).is_integer()
    assert (upper * betting.GRID).is_integer()


def test_a_higher_level_is_wider() -> None:
    scores = np.random.default_rng(1).random(60)
    narrow = betting.mean_bounds(scores, 400, level=0.8)
    wide = betting.mean_bounds(scores, 400, level=0.99)
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


def test_it_starts_from_nothing_and_ends_with_the_pool() -> None:
    scores = np.random.default_rng(2).random(60)
    assert betting.mean_bounds(scores[:1], 60, level=0.95) == pytest.approx((0.0, 1.0), abs=0.02)
    lower, upper = betting.mean_bounds(scores, 60, level=0.95)
    assert lower <= scores.mean() <= upper
    assert upper - lower < 0.05


def test_bounds_are_the_same_whatever_the_error_settings_of_numpy() -> None:
    with np.errstate(all="raise"):
        betting.mean_bounds(np.repeat([0.0, 1.0], 20), 40, level=0.95)
