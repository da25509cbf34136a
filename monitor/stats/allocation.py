"""How many draws each stratum gets."""

import bisect
from collections.abc import Sequence
from typing import Final

import numpy as np

from monitor.stats import arrays
from monitor.stats.arrays import FloatArray, IntArray

FLOOR: Final = 2
"""A spread is seen between two answers, not in one."""

# A stratum expected to have no spread still takes what the others cannot.
SMALLEST_SPREAD: Final = 1e-9


def allocate(
    sizes: Sequence[int] | IntArray,
    spreads: Sequence[float] | FloatArray,
    n: int,
    *,
    floor: int = FLOOR,
) -> IntArray:
    """Return the draws of each stratum, (H,), summing to n: Neyman's, inside bounds.

    n_h = min(max(lambda N_h sigma_h, m_h), N_h) with m_h = min(floor, N_h) and lambda such that
    they sum to n (Neyman 1934; with bounds: Gabler, Ganninger and Muennich 2012), rounded by
    largest remainders, ties to the first stratum.

    Args:
        sizes: (H,) items N_h, at least 1 each.
        spreads: (H,) expected standard deviations sigma_h, on any scale.
        n: number of draws.
        floor: least number of draws of a stratum.

    Raises:
        ValueError: n below the sum of the floors or above that of the sizes, or lengths differ.
    """
    most = arrays.integers(sizes, name="sizes")
    least = np.minimum(floor, most)
    if not least.sum() <= n <= most.sum():
        raise ValueError(f"n: must lie in [{least.sum()}, {most.sum()}], not {n}")
    known = arrays.floats(spreads, name="spreads", size=len(most), within=(0.0, np.inf))
    least_known = SMALLEST_SPREAD * (float(known.max()) or 1.0)
    wishes = np.asarray(most * np.maximum(known, least_known), dtype=np.float64)
    return _rounded(_scaled(wishes, least, most, n=n), most, n=n)


def _scaled(wishes: FloatArray, least: IntArray, most: IntArray, *, n: int) -> FloatArray:
    """Return the wishes times lambda inside the bounds, summing to n.

    The sum grows with lambda along straight lines that meet where a stratum reaches a bound.
    """

    def total(scale: float) -> float:
        return float(np.clip(scale * wishes, least, most).sum())

    corners = np.sort(np.concatenate([least / wishes, most / wishes])).tolist()
    upper = bisect.bisect_left(range(len(corners) - 1), float(n), key=lambda i: total(corners[i]))
    ends = [corners[max(upper - 1, 0)], corners[upper]]
    scale = np.interp(n, [total(end) for end in ends], ends)
    return np.asarray(np.clip(scale * wishes, least, most))


def _rounded(ideal: FloatArray, most: IntArray, *, n: int) -> IntArray:
    # A whole number may come out a hair below itself.
    whole = np.floor(ideal + SMALLEST_SPREAD).astype(np.int64)
    remainders = np.where(whole < most, ideal - whole, -1.0)
    extra = np.argsort(-remainders, kind="stable")[: n - int(whole.sum())]
    whole[extra] += 1
    return whole
