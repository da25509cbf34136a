import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest

from monitor.stats import sampling
from monitor.stats.arrays import FloatArray

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


def test_the_floor_is_spread_evenly() -> None:
    shares = sampling.floored_shares(np.array([1.0, 3.0]), np.full(2, fill_value=True), floor=0.5)
    assert shares == pytest.approx([0.375, 0.625])


def test_without_any_score_all_are_alike() -> None:
    assert sampling.floored_shares(np.zeros(4), np.full(4, fill_value=True)).tolist() == [0.25] * 4


@pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf])
def test_bad_scores_are_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="scores"):
        sampling.floored_shares(np.array([1.0, bad]), np.full(2, fill_value=True))


def opened(*clocks: float) -> sampling.Pool:
    """A pool whose clocks stand so."""
    return dataclasses.replace(sampling.open_pool(range(len(clocks))), clocks=np.array(clocks))


def test_the_first_clock_to_run_out_comes_first() -> None:
    pool = opened(3.0, 1.0, 2.0)
    shares = np.array([4.0, 1.0, 1.0])
    assert sampling.first_arrivals(pool, shares, size=2).tolist() == [0, 1]


def test_clocks_go_on_from_where_the_round_ended() -> None:
    pool = opened(3.0, 1.0, 2.0)
    after = sampling.advance(pool, np.array([4.0, 1.0, 1.0]), items=np.array([0, 1]))
    assert after.clocks.tolist() == [0.0, 0.0, 1.0]
    assert after.undrawn.tolist() == [False, False, True]


@pytest.mark.parametrize("size", [0, 3])
def test_a_round_takes_what_is_there(size: int) -> None:
    pool = dataclasses.replace(opened(1.0, 1.0, 1.0), times_drawn=np.array([0, 1, 0]))
    with pytest.raises(ValueError, match="from 2 undrawn items"):
        sampling.first_arrivals(pool, np.ones(3), size=size)


def replayed(pool: sampling.Pool, shares: FloatArray, size: int) -> list[int]:
    """One event after the other, each with the clocks as the one before left them."""
    items = []
    for _ in range(size):
        item = int(np.argmin(pool.clocks / shares))
        pool = sampling.advance_renewed(pool, shares, items=np.array([item]))
        items.append(item)
    return items


@pytest.mark.parametrize("size", [1, 3, 50])
def test_renewed_clocks_run_out_in_the_order_of_their_events(size: int) -> None:
    pool, shares = opened(3.0, 1.0, 2.0, 0.5), np.array([0.4, 0.3, 0.2, 0.1])
    found = sampling.renewed_arrivals(pool, shares, size=size)
    assert found.tolist() == replayed(pool, shares, size)


def test_a_renewed_clock_is_new_each_time() -> None:
    """An item alone in its pool comes at the sums of its clocks."""
    pool, one = opened(0.5), np.ones(1)
    clocks = []
    for _ in range(200):
        pool = sampling.advance_renewed(pool, one, items=np.array([0]))
        clocks.append(float(pool.clocks[0]))
    assert len(set(clocks)) == 200
    assert pool.times_drawn.tolist() == [200]


def test_fresh_clocks_do_not_forget_how_often_items_were_drawn() -> None:
    drawn = sampling.advance_renewed(opened(1.0, 2.0), np.full(2, 0.5), items=np.array([0, 0]))
    fresh = sampling.renew(drawn, [7, 8])
    assert fresh.times_drawn.tolist() == [2, 0]
    assert fresh.bits.tolist() == [7, 8]
    assert fresh.clocks.tolist() == sampling.exponential_clocks([7, 8]).tolist()
