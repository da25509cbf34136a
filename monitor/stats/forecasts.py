"""How many failures and successes a plan will see, before anything is bought.

An interval rests on both. Where too few of either are expected, plain random sampling with its
exact interval is the better plan.
"""

import math
from typing import Final

import numpy as np
from scipy import optimize, special

from monitor.stats import predictions as guesses, sampling
from monitor.stats.arrays import FloatArray

FEWEST_EXPECTED: Final = 6.0
LARGEST_SHIFT: Final = 20.0


def expected_counts(
    predictions: FloatArray,
    *,
    size: int,
    mean: float | None = None,
    floor: float = sampling.FLOOR,
) -> tuple[float, float]:
    """Return the expected (failures, successes) among draws by the guide's uncertainty.

    An item is drawn by the time T of the clocks with probability 1 - exp(-s T); T is the time at
    which `size` draws are expected.

    Args:
        predictions: (N,) of the guide before any answer.
        size: number of draws.
        mean: earlier estimate of the variant; the logits are shifted by one constant to it.
        floor: share of every draw that is spread evenly.

    Raises:
        ValueError: `size` is below 1.
    """
    if size < 1:
        raise ValueError(f"size: a forecast of {size} draws")
    likely = predictions if mean is None else _shifted(predictions, mean)
    shares = sampling.floored_shares(
        np.sqrt(likely * (1.0 - likely)), np.ones(len(likely), dtype=np.bool_), floor=floor
    )
    drawn = -np.expm1(-shares * _duration(shares, size))
    return float(drawn @ (1.0 - likely)), float(drawn @ likely)


def expected_counts_simple(size: int, mean: float) -> tuple[float, float]:
    """Return the expected (failures, successes) among `size` plain random draws."""
    return size * (1.0 - mean), size * mean


def _shifted(predictions: FloatArray, mean: float) -> FloatArray:
    low, high = guesses.LIMITS
    target = min(max(mean, low), high)
    logits = special.logit(guesses.limited(predictions))

    def excess(shift: float) -> float:
        return float(special.expit(logits + shift).mean()) - target

    shift = optimize.brentq(excess, -LARGEST_SHIFT, LARGEST_SHIFT)
    return guesses.limited(special.expit(logits + shift))


def _duration(shares: FloatArray, size: int) -> float:
    if size >= len(shares):
        return math.inf

    def excess(duration: float) -> float:
        return float(-np.expm1(-shares * duration).sum()) - size

    high = float(size)
    while excess(high) < 0.0:
        high *= 2.0
    return float(optimize.brentq(excess, 0.0, high))
