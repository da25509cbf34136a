"""What a plan will see and gain, before anything is bought.

An interval rests on failures and successes. Where too few of either are expected, plain random
sampling with its exact interval is the better plan.
"""

import math
from typing import Final

import numpy as np
from scipy import optimize

from monitor.stats import predictions as guesses, sampling, stratification
from monitor.stats.arrays import FloatArray
from monitor.stats.signals import Signal
from monitor.stats.stratification import Layout

FEWEST_EXPECTED: Final = 6.0
# What other models kept of the variance that strata explain of the surrogate's own chances: least
# squares over 3,472 pairs of recorded models (n = 80, 160, 400) gave .32 where answers were graded
# and .65 to .71 where only their agreement was known. A forecast counts on a little less.
TRANSFER_OF_SCORES: Final = 0.3
TRANSFER_OF_AGREEMENT: Final = 0.6


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
    likely = predictions if mean is None else guesses.shifted(predictions, mean)
    shares = sampling.floored_shares(
        np.sqrt(likely * (1.0 - likely)), np.ones(len(likely), dtype=np.bool_), floor=floor
    )
    drawn = -np.expm1(-shares * _duration(shares, size))
    return float(drawn @ (1.0 - likely)), float(drawn @ likely)


def expected_counts_simple(size: int, mean: float) -> tuple[float, float]:
    """Return the expected (failures, successes) among `size` plain random draws."""
    return size * (1.0 - mean), size * mean


def expected_gain(signal: Signal, layout: Layout) -> float:
    """Return the `ess_ratio` to expect of draws from strata, before any answer.

    1 / (1 - c E), where E is the share of the variance of plain sampling that the strata would
    take away if the signal's scores were the chances of the model under evaluation, and c how much
    of that other models were seen to keep.

    Args:
        signal: of the N items.
        layout: strata and draws.

    Returns:
        1 where the signal says the same of all items, below 1 where the strata do harm.
    """
    chances = stratification.expected_scores(signal)
    everything = Layout(labels=np.zeros_like(layout.labels), draws=layout.draws.sum(keepdims=True))
    plain = _expected_variance(chances, everything)
    if plain == 0.0:
        return 1.0
    kept = TRANSFER_OF_AGREEMENT if signal.pass_rate is None else TRANSFER_OF_SCORES
    return 1.0 / (1.0 - kept * (1.0 - _expected_variance(chances, layout) / plain))


def _expected_variance(chances: FloatArray, layout: Layout) -> float:
    """Return sum (N_h/N)^2 (1 - n_h/N_h) S_h^2 / n_h with the S_h^2 expected of 0/1 scores.

    S_h^2 = mean of p (1 - p) + sum (p - mean)^2 / (N_h - 1), p the chances of stratum h.
    """
    sizes = layout.sizes
    means = np.bincount(layout.labels, chances) / sizes
    noise = np.bincount(layout.labels, chances * (1.0 - chances)) / sizes
    spread = np.bincount(layout.labels, (chances - means[layout.labels]) ** 2)
    squares = noise + spread / np.maximum(sizes - 1, 1)
    factors = (sizes / sizes.sum()) ** 2 * (1.0 / layout.draws - 1.0 / sizes)
    return float(factors @ squares)


def _duration(shares: FloatArray, size: int) -> float:
    if size >= len(shares):
        return math.inf

    def excess(duration: float) -> float:
        return float(-np.expm1(-shares * duration).sum()) - size

    high = float(size)
    while excess(high) < 0.0:
        high *= 2.0
    return float(optimize.brentq(excess, 0.0, high))
