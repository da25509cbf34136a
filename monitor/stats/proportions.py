"""The share of a pool that draws of unequal weight show, and whether two such shares differ.

Draws of unequal weight are taken for the fewer equal ones that would tell as much; so one exact
test serves every design, and on equal draws it is Fisher's own.
"""

import dataclasses
import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from monitor.stats import arrays, hypergeometric

LARGEST: Final = 1.0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Proportion:
    """A share as `size` equally weighted draws would show it, `found` of them having the property.

    Both are whole numbers where draws are equal, and may be fractions where they are not.
    """

    found: float
    size: float

    @property
    def share(self) -> float:
        """Estimated share of the pool, in [0, 1]."""
        return self.found / self.size


def weighted(found: Sequence[bool], weights: Sequence[float]) -> Proportion:
    """Return the weighted share p, with the number of equal draws that would tell as much.

    That number is the smaller of (sum w)^2 / sum w^2 (Kish, Survey Sampling, 1965, section 11.7)
    and p (1 - p) / var p (Korn and Graubard 1998), var p being that of the ratio sum w x / sum w:
    the former alone would overrate few finds of large weight.

    Args:
        found: (n,) whether the draw has the property.
        weights: (n,) positive, up to a common factor.

    Raises:
        ValueError: no draw, lengths differ, or a weight that is not positive.
    """
    size = len(found)
    if size == 0:
        raise ValueError("proportion: at least one draw is needed")
    shares = arrays.floats(weights, name="weights", size=size, within=(math.ulp(0.0), math.inf))
    if shares.min() == shares.max():
        return Proportion(found=float(sum(found)), size=float(size))
    shares = shares / arrays.exact_sum(shares)
    has = np.array(found)
    share = min(arrays.exact_sum(shares[has]), 1.0)
    fewest = 1.0 / arrays.exact_sum(shares**2)
    variance = arrays.exact_sum((shares * (has - share)) ** 2) * size / (size - 1)
    if variance > 0.0 and 0.0 < share < 1.0:
        fewest = min(fewest, share * (1.0 - share) / variance)
    return Proportion(found=share * fewest, size=fewest)


def p_value(first: Proportion, second: Proportion) -> float:
    """Return the two-sided p-value of Fisher's exact test that two pools have the same share.

    It is twice the smaller tail, at most 1 (Fisher, Statistical Methods for Research Workers, 5th
    edition 1934, section 21.02). Fractions are rounded towards no difference. Plain samples without
    replacement scatter less than the test assumes, so it keeps its level on finite pools.
    """
    low, high = sorted((first, second), key=lambda each: each.share)
    low_size, high_size = math.floor(low.size), math.floor(high.size)
    least = math.ceil(low.found * (low_size / low.size))
    most = math.floor(high.found * (high_size / high.size))
    tail = hypergeometric.upper_tail(
        most, least + most, draws=high_size, population=low_size + high_size
    )
    return min(LARGEST, 2.0 * tail)
