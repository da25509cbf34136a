"""The only place where chance enters: clocks, the floor under every probability, the draw.

A design proposes scores. Sampling mixes in the floor, so no design can make an item unreachable
and every weight 1/q stays bounded; it lets the exponential clocks run, so the draws are a pure
function of the clocks and the shares.

Each item of the pool holds an exponential clock E; with shares s fixed, the item with the smallest
E/s comes first, which draws it with probability s / (sum of s), and what is left of the others'
clocks after the round is exponential again. So a round of many draws is in law the sequential draw.
Where items may come again, an item's clock is renewed as it runs out.
"""

import dataclasses
import hashlib
import heapq
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

    bits: (N,) number in [0, 2^53) behind each item's first clock; later ones are made from it.
    clocks: (N,) what is left of each item's exponential clock.
    times_drawn: (N,) how often each item has been drawn.
    """

    bits: IntArray
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
    numbers = arrays.integers(bits, name="bits", below=2**CLOCK_BITS)
    return Pool(
        bits=numbers,
        clocks=exponential_clocks(numbers),
        times_drawn=np.zeros(len(numbers), dtype=np.int64),
    )


def renew(pool: Pool, bits: Sequence[int] | IntArray) -> Pool:
    """Return the pool with fresh clocks; by lack of memory they are as good as what was left."""
    return dataclasses.replace(open_pool(bits), times_drawn=pool.times_drawn)


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


def floored_shares(scores: FloatArray, undrawn: BoolArray, *, floor: float = FLOOR) -> FloatArray:
    """Return 1 - `floor` of the scores' shares plus `floor` of equal ones over R, 0 elsewhere.

    Args:
        scores: (N,) a design's wish, not negative, on any scale.
        undrawn: (N,) mask of R.
        floor: share spread evenly, in (0, 1].

    Returns:
        (N,) summing to 1.

    Raises:
        ValueError: a score that is negative or not finite.
    """
    wishes: FloatArray = arrays.floats(scores, name="scores", within=(0.0, np.inf)) * undrawn
    equal: FloatArray = undrawn / max(int(np.count_nonzero(undrawn)), 1)
    total = float(wishes.sum())
    return equal if total == 0.0 else (1.0 - floor) / total * wishes + floor * equal


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
    return dataclasses.replace(pool, clocks=np.maximum(left, 0.0), times_drawn=times_drawn)


def renewed_arrivals(pool: Pool, shares: FloatArray, *, size: int) -> IntArray:
    """Return the items whose clocks run out in the first `size` events, in that order.

    A clock that has run out is renewed at once, so an item may come again, and each event is item
    j with probability s_j / (sum of s) whatever came before: a superposition of Poisson processes
    (Kingman 1993, section 2.2).

    Args:
        pool: state before the round.
        shares: (N,) positive.
        size: number of draws, at least 1.

    Raises:
        ValueError: `size` is below 1.
    """
    if size < 1:
        raise ValueError(f"size: a round of {size} draws")
    clocks, times_drawn = pool.clocks.copy(), pool.times_drawn.copy()
    first = clocks / shares
    # No other item can be among the first `size` events; sorted, the list is a heap.
    soonest = np.argsort(first, kind="stable")[:size].tolist()
    events = [(float(first[item]), item) for item in soonest]
    drawn = []
    for _ in range(size):
        _, item = events[0]
        drawn.append(item)
        _renew(item, clocks=clocks, times_drawn=times_drawn, bits=pool.bits)
        heapq.heapreplace(events, (float(clocks[item] / shares[item]), item))
    return np.array(drawn, dtype=np.int64)


def advance_renewed(pool: Pool, shares: FloatArray, *, items: IntArray) -> Pool:
    """Return the pool after a round of `renewed_arrivals` that drew `items` with these shares."""
    clocks, times_drawn, elapsed = pool.clocks.copy(), pool.times_drawn.copy(), 0.0
    for item in items.tolist():
        elapsed = max(elapsed, float(clocks[item] / shares[item]))
        _renew(item, clocks=clocks, times_drawn=times_drawn, bits=pool.bits)
    left = np.maximum(clocks - shares * elapsed, 0.0)
    return dataclasses.replace(pool, clocks=left, times_drawn=times_drawn)


def _renew(item: int, *, clocks: FloatArray, times_drawn: IntArray, bits: IntArray) -> None:
    """Count a draw of the item, and put a fresh clock, the same each time, behind its last."""
    times_drawn[item] += 1
    content = hashlib.sha256(f"{bits[item]}/{times_drawn[item]}".encode()).digest()
    number = int.from_bytes(content[:8], "big") >> (64 - CLOCK_BITS)
    clocks[item] += exponential_clocks([number])[0]
