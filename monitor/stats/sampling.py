"""The only place where chance enters: clocks, the floor under every probability, the draw.

A design proposes scores. Sampling mixes in the floor, so no design can make an item unreachable
and every weight 1/q stays bounded; it lets the exponential clocks run, so the draws are a pure
function of the clocks and the shares.

Each item of the pool holds an exponential clock E; with shares s fixed, the item with the smallest
E/s comes first, which draws it with probability s / (sum of s), and what is left of the others'
clocks after the round is exponential again. So a round of many draws is in law the sequential draw.
"""

import dataclasses
from collections.abc import Sequence
from typing import Final

import numpy as np

from monitor.stats import arrays
from monitor.stats.arrays import BoolArray, FloatArray, IntArray

FLOOR: Final = 0.1
CLOCK_BITS: Final = 53


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pool:
    """The state of the pool between rounds.

    clocks: (N,) what is left of each item's exponential clock.
    times_drawn: (N,) how often each item has been drawn.
    """

    clocks: FloatArray
    times_drawn: IntArray

    @property
    def undrawn(self) -> BoolArray:
        """(N,) mask of the items never drawn."""
        return np.equal(self.times_drawn, 0)


def open_pool(bits: Sequence[int] | IntArray) -> Pool:
    """Return the pool before the first round.

    Args:
        bits: (N,) one number in [0, 2^53) per item, uniform; hashing is the caller's.

    Raises:
        ValueError: no item, or a number out of range.
    """
    if not len(bits):
        raise ValueError("bits: a pool needs at least one item")
    return Pool(clocks=exponential_clocks(bits), times_drawn=np.zeros(len(bits), dtype=np.int64))


def renew(pool: Pool, bits: Sequence[int] | IntArray) -> Pool:
    """Return the pool with fresh clocks; by lack of memory they are as good as what was left."""
    return Pool(clocks=exponential_clocks(bits), times_drawn=pool.times_drawn)


def exponential_clocks(bits: Sequence[int] | IntArray) -> FloatArray:
    """Return E = -ln((k + 1/2) / 2^53) for each number k, shape (N,), always positive.

    k + 1/2 does not fit into a float64 from 2^52 on; there the distance to 2^53 does.

    Raises:
        ValueError: a number outside [0, 2^53).
    """
    numbers = arrays.integers(bits, name="bits", below=2**CLOCK_BITS)
    scale = float(2**CLOCK_BITS)
    low = numbers < 2 ** (CLOCK_BITS - 1)
    clocks = np.empty(len(numbers))
    clocks[low] = -np.log((numbers[low] + 0.5) / scale)
    clocks[~low] = -np.log1p(-((2**CLOCK_BITS - numbers[~low]) - 0.5) / scale)
    return clocks


def floored_shares(scores: FloatArray, undrawn: BoolArray) -> FloatArray:
    """Return .9 of the scores' shares plus .1 of equal ones over R, 0 elsewhere, shape (N,).

    Args:
        scores: (N,) a design's wish, not negative, on any scale.
        undrawn: (N,) mask of R.

    Raises:
        ValueError: a score that is negative or not finite.
    """
    wishes: FloatArray = arrays.floats(scores, name="scores", within=(0.0, np.inf)) * undrawn
    equal: FloatArray = undrawn / max(int(np.count_nonzero(undrawn)), 1)
    total = float(wishes.sum())
    return equal if total == 0.0 else (1.0 - FLOOR) / total * wishes + FLOOR * equal


def first_arrivals(pool: Pool, shares: FloatArray, *, size: int) -> IntArray:
    """Return the `size` undrawn items whose clocks run out first, in that order.

    Args:
        pool: state before the round.
        shares: (N,) positive where undrawn.
        size: number of draws, at least 1.

    Raises:
        ValueError: fewer than `size` items are left, or `size` is below 1.
    """
    candidates = np.flatnonzero(pool.undrawn)
    if not 1 <= size <= len(candidates):
        raise ValueError(f"size: a round of {size} from {len(candidates)} undrawn items")
    arrivals = pool.clocks[candidates] / shares[candidates]
    return candidates[np.argsort(arrivals, kind="stable")[:size]]


def advance(pool: Pool, shares: FloatArray, *, items: IntArray) -> Pool:
    """Return the pool after a round that drew `items` with these shares."""
    elapsed = float(np.max(pool.clocks[items] / shares[items]))
    times_drawn = pool.times_drawn.copy()
    times_drawn[items] += 1
    left = np.where(times_drawn == 0, pool.clocks - shares * elapsed, 0.0)
    # Rounding may take the next item's clock a hair below zero.
    return Pool(clocks=np.maximum(left, 0.0), times_drawn=times_drawn)
