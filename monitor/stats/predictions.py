"""What all guides share: the limits of a prediction, and how far scores scatter around it."""

from collections.abc import Iterable
from typing import Final

import numpy as np
from scipy import optimize, special

from monitor.stats import arrays
from monitor.stats.arrays import FloatArray

LIMITS: Final = (0.005, 0.995)
LARGEST_SHIFT: Final = 20.0


def limited(predictions: FloatArray) -> FloatArray:
    """Return predictions no surer than `LIMITS`, so that no error is impossible."""
    return np.clip(predictions, *LIMITS)


def shifted(predictions: FloatArray, mean: float) -> FloatArray:
    """Return predictions within `LIMITS` whose logits are moved by one constant to this mean."""
    low, high = LIMITS
    target = min(max(mean, low), high)
    logits = special.logit(limited(predictions))

    def excess(shift: float) -> float:
        return float(special.expit(logits + shift).mean()) - target

    shift = optimize.brentq(excess, -LARGEST_SHIFT, LARGEST_SHIFT)
    return limited(special.expit(logits + shift))


def dispersion(foretold: Iterable[tuple[FloatArray, FloatArray]]) -> float:
    """Return how far scores scatter, over what 0/1 scores would: at most 1, 1 for 0/1 scores.

    The sum of squared residuals over the sum of p (1 - p).

    Args:
        foretold: scores and what was predicted of them by guides that had not seen them.
    """
    squares, products, is_binary = 0.0, 0.0, True
    for scores, predicted in foretold:
        likely = limited(predicted)
        squares += arrays.exact_sum((scores - likely) ** 2)
        products += arrays.exact_sum(likely * (1.0 - likely))
        is_binary = is_binary and bool(((scores == 0.0) | (scores == 1.0)).all())
    low, _ = LIMITS
    return 1.0 if is_binary else min(max(squares / products, low), 1.0)


def halves(size: int) -> tuple[tuple[slice, slice], tuple[slice, slice]]:
    """Return (what to learn from, what to predict) of `size` values, each half from the other."""
    even, odd = slice(0, size, 2), slice(1, size, 2)
    return (even, odd), (odd, even)
