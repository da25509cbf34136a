import math
from fractions import Fraction

import numpy as np
import pytest

from monitor.stats import sampling

TOP = 2**53 - 1


@pytest.mark.parametrize("number", [0, 1, 2**52 - 1, 2**52, 2**52 + 1, TOP - 1, TOP])
def test_a_clock_is_the_logarithm_of_its_bits(number: int) -> None:
    share = Fraction(2 * number + 1, 2**54)
    rest = float(1 - share)
    expected = -math.log1p(-rest) if rest < 0.5 else -math.log(share)
    assert sampling.exponential_clocks([number])[0] == pytest.approx(expected, rel=1e-14)


def test_clocks_are_positive_to_the_last_number() -> None:
    assert sampling.exponential_clocks([TOP])[0] > 0.0


@pytest.mark.parametrize("bits", [[], [2**53], [-1]])
def test_bits_out_of_range_are_refused(bits: list[int]) -> None:
    with pytest.raises(ValueError, match="bits"):
        sampling.open_pool(bits)


def test_no_score_takes_an_item_out_of_reach() -> None:
    undrawn = np.array([True, True, True, False])
    shares = sampling.floored_shares(np.array([0.0, 1.0, 3.0, 9.0]), undrawn)
    assert shares == pytest.approx([0.1 / 3, 0.9 / 4 + 0.1 / 3, 0.9 * 3 / 4 + 0.1 / 3, 0.0])


def test_without_any_score_all_are_alike() -> None:
    assert sampling.floored_shares(np.zeros(4), np.full(4, fill_value=True)).tolist() == [0.25] * 4


@pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf])
def test_bad_scores_are_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="scores"):
        sampling.floored_shares(np.array([1.0, bad]), np.full(2, fill_value=True))


def test_the_first_clock_to_run_out_comes_first() -> None:
    pool = sampling.Pool(clocks=np.array([3.0, 1.0, 2.0]), times_drawn=np.zeros(3, dtype=np.int64))
    shares = np.array([4.0, 1.0, 1.0])
    assert sampling.first_arrivals(pool, shares, size=2).tolist() == [0, 1]


def test_clocks_go_on_from_where_the_round_ended() -> None:
    pool = sampling.Pool(clocks=np.array([3.0, 1.0, 2.0]), times_drawn=np.zeros(3, dtype=np.int64))
    after = sampling.advance(pool, np.array([4.0, 1.0, 1.0]), items=np.array([0, 1]))
    assert after.clocks.tolist() == [0.0, 0.0, 1.0]
    assert after.undrawn.tolist() == [False, False, True]


@pytest.mark.parametrize("size", [0, 3])
def test_a_round_takes_what_is_there(size: int) -> None:
    pool = sampling.Pool(clocks=np.ones(3), times_drawn=np.array([0, 1, 0]))
    with pytest.raises(ValueError, match="from 2 undrawn items"):
        sampling.first_arrivals(pool, np.ones(3), size=size)
