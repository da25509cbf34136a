"""The weight of each draw's term in the estimate, fixed in the plan before any answer.

Weights that looked at this evaluation's own variances would bias the estimate.
"""

import math
from collections.abc import Sequence
from typing import Final

TAIL_SHARE: Final = 0.1


def term_weights(n: int, population: int) -> tuple[float, ...]:
    """Return W_t in draw order, summing to 1: W_t ~ 1/f_t, f_t = (max(N - t, .1 N) / N)^2.

    f_t is how the variance of a term shrinks as the pool empties; it is held constant over the
    last tenth, where a weight would otherwise rest on a handful of draws.

    Args:
        n: number of draws, 1 to `population`.
        population: number of items N.

    Raises:
        ValueError: `n` out of range.
    """
    if not 1 <= n <= population:
        raise ValueError(f"weights: {n} draws of {population} items")
    remaining = (max(population - t, TAIL_SHARE * population) / population for t in range(n))
    return normalised([1.0 / (share * share) for share in remaining])


def normalised(weights: Sequence[float]) -> tuple[float, ...]:
    """Return `weights` divided by their sum; they must be positive."""
    total = math.fsum(weights)
    return tuple(weight / total for weight in weights)
