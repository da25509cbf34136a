"""The weight of each draw's term in the estimate, fixed in the plan before any answer.

Weights that looked at this evaluation's own variances would bias the estimate. Terms are
uncorrelated, so the best weights are the inverse variances: of the pool's part, which is known, and
of the guide's part, which replays of historical models have shown.
"""

import math
from collections.abc import Sequence
from typing import Final

from monitor.stats.profiles import Profile

TAIL_SHARE: Final = 0.1


def term_weights(n: int, population: int, profile: Profile | None = None) -> tuple[float, ...]:
    """Return W_t in draw order, summing to 1: W_t ~ 1/(f_t r_t), f_t = (max(N - t, .1 N) / N)^2.

    f_t is how the variance of a term shrinks as the pool empties; it is held constant over the
    last tenth, where a weight would otherwise rest on a handful of draws. r_t is how it shrinks as
    the guide learns.

    Args:
        n: number of draws, 1 to `population`.
        population: number of items N.
        profile: r_t; constant where None.

    Raises:
        ValueError: `n` out of range.
    """
    if not 1 <= n <= population:
        raise ValueError(f"weights: {n} draws of {population} items")
    levels = [1.0] * n if profile is None else profile.at(n).tolist()
    shrunk = (pool_share(t, population) for t in range(n))
    return normalised([1.0 / (f * r) for f, r in zip(shrunk, levels, strict=True)])


def pool_share(t: int, population: int) -> float:
    """Return f_t."""
    share = max(population - t, TAIL_SHARE * population) / population
    return share * share


def normalised(weights: Sequence[float]) -> tuple[float, ...]:
    """Return `weights` divided by their sum; they must be positive."""
    total = math.fsum(weights)
    return tuple(weight / total for weight in weights)
