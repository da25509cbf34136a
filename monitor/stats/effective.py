"""How much an evaluation is worth: its variance beside that of plain random sampling.

The yardstick is the sample mean of n items drawn at random without replacement, which is what a
user would otherwise do.
"""

import numpy as np

from monitor.stats import arrays, draws
from monitor.stats.arrays import BoolArray, FloatArray, IntArray
from monitor.stats.draws import ItemView
from monitor.stats.estimators import PointEstimate
from monitor.stats.samples import Sample


def ess_ratio(sample: Sample, estimate: PointEstimate) -> float | None:
    """Return [S^2 (N - n)/(N n)] / variance: n times it is the effective sample size.

    S^2 = N/(N-1) [ sum a z^2 / sum a - (sum a z / sum a)^2 ] over the answered draws, a the
    estimate's coefficients. Exactly 1 for plain random sampling. From strata the variance is added
    in the brackets, by which the square of the mean is too large (Cochran 1977, equation 5A.44).

    Returns:
        None for a census, and where either variance is unknown or 0.
    """
    population, size = sample.population, sample.size
    if size == population:
        return None
    if estimate.is_baseline:
        return 1.0
    slopes = np.array(estimate.coefficients)[sample.answered]
    total = arrays.exact_sum(slopes)
    mean = arrays.exact_sum(slopes * sample.answers) / total
    square = arrays.exact_sum(slopes * sample.answers**2) / total - mean * mean
    if not estimate.variance or square <= 0.0:
        return None
    if sample.strata is not None:
        square += estimate.variance
    spread = population / (population - 1) * square
    return spread * (population - size) / (population * size) / estimate.variance


def srs_variance(scores: FloatArray, n: int) -> float:
    """Return S^2 (N - n)/(N n), the variance of plain random sampling, from all known scores.

    Args:
        scores: (N,) of the whole pool.
        n: number of draws, 1 to N; N draws leave nothing to chance.
    """
    population = len(scores)
    if n == population:
        return 0.0
    return float(np.var(scores, ddof=1)) * (population - n) / (population * n)


def step_variances(
    scores: FloatArray,
    items: IntArray,
    *,
    view: ItemView,
    shares: FloatArray,
    undrawn: BoolArray,
) -> FloatArray:
    """Return the exact conditional variance of each term of a round without repeats, (size,).

    V_t = (1/N^2) [ sum_R e^2/q - (sum_R e)^2 ], e = z - p; the variance of the estimate is then
    sum W_t^2 V_t over all rounds (see `exact_variance`).

    Args:
        scores: (N,) of the whole pool, known in back-tests only.
        items: (size,) drawn in this order.
        view: what the round was drawn by.
        shares: (N,) draw weights of the round.
        undrawn: (N,) mask of R at its start.
    """
    errors = scores - view.predictions
    scaled = np.divide(errors**2, shares, out=np.zeros_like(errors), where=undrawn)
    columns = np.where(undrawn, np.stack([shares, errors, scaled]), 0.0)
    left = undrawn.copy()
    left[items] = False
    mass, error, square = draws.suffix_sums(columns[:, items], columns[:, left].sum(axis=1))
    return np.asarray((mass * square - error**2) / len(scores) ** 2)


def exact_variance(weights: FloatArray, variances: FloatArray) -> float:
    """Return sum W_t^2 V_t.

    Args:
        weights: (n,) summing to 1.
        variances: (n,) as of `step_variances`, in draw order.
    """
    return arrays.exact_sum(weights * weights * variances)
