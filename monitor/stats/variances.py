"""The variance of `active_mean`: what the answers show, mixed with what the guide expects.

With 98 % right answers 60 draws hold about one failure, so the observed variance alone is worth
far less than 60 degrees of freedom; nu is what it is worth. The guide's own expectation is worth
`MODEL_DEGREES`, unless its errors show that it is too sure of itself (the gate). Then what it is
sure of and wrong about may well not have been drawn yet, so that the observed variance is too small
with the estimate off to one side; what a line through its errors expects takes over.

symbol   name                                              shape
e        z - p at the draw, answered draws                 (answered,)
pp       p (1 - p)                                         (answered,)
phi      dispersion                                        ()
w        phi pp                                            (answered,)
kappa    fourth moment of an error over its variance^2     ()
"""

import dataclasses
import enum
import math
from typing import Final

import numpy as np

from monitor.stats import arrays
from monitor.stats.arrays import FloatArray
from monitor.stats.predictions import limited
from monitor.stats.samples import Sample

MODEL_DEGREES: Final = 12.0
RECALIBRATED_DEGREES: Final = 60.0
RECALIBRATION_PRIOR: Final = 1.0
GATE_DEVIATIONS: Final = 1.5
HARD_GATE_DEVIATIONS: Final = 4.0
NORMAL_KURTOSIS: Final = 3.0
SPREAD_LIMITS: Final = (1e-9, 0.25)


class Gate(enum.StrEnum):
    """Whether the guide's errors are larger than it expects."""

    CALM = "calm"
    TRIPPED = "tripped"
    TRIPPED_HARD = "tripped_hard"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class MixedVariance:
    """variance: of the weighted mean, None with fewer than two draws or without an answer.

    degrees: of Student's t that goes with it.
    gate: the guide's overconfidence.
    """

    variance: float | None
    degrees: float
    gate: Gate


def terms(sample: Sample) -> FloatArray:
    """Return phi_t = (1/N) [sum_D z + sum_R p + (z - p)/q], shape (n,); missing z := p."""
    scores = np.where(sample.answered, sample.scores, sample.predictions)
    # cumsum adds from left to right on every machine, unlike sum.
    before = np.concatenate([[0.0], np.cumsum(scores)[:-1]])
    corrections = (scores - sample.predictions) / sample.probabilities
    return (before + sample.rest_prediction_sums + corrections) / sample.population


def mixed(sample: Sample) -> MixedVariance:
    """Return (nu emp + 12 model)/(nu + 12) with nu + 12 degrees of freedom.

    emp = sum W^2 (phi - est)^2 / (1 - sum W^2), model = sum W^2 v, cap = 1 / sum W^2; nu = cap
    where kappa <= 3, else min(cap, 2 / (sum W^2 (kappa - 1))): the variance of a sample variance
    (Cramer 1946, section 27.4), as degrees of a chi-square of that variance.
    Where the gate trips, 12 model becomes 60 max(emp, model, recalibrated), see `_recalibrated`.

    Raises:
        ValueError: a prediction of exactly 0 or 1, as plain random sampling stores them.
    """
    if not ((sample.predictions > 0.0) & (sample.predictions < 1.0)).all():
        raise ValueError("predictions: a guide's lie strictly between 0 and 1")
    squared = sample.weights * sample.weights
    concentration = arrays.exact_sum(squared)
    gate = _gate(sample)
    if sample.size < 2 or not sample.answered.any():  # noqa: PLR2004 - one term has no spread
        return MixedVariance(variance=None, degrees=MODEL_DEGREES, gate=gate)
    phi = terms(sample)
    estimate = arrays.exact_sum(sample.weights * phi)
    empirical = arrays.exact_sum(squared * (phi - estimate) ** 2) / (1.0 - concentration)
    model = arrays.exact_sum(squared * sample.model_variances)
    weight = MODEL_DEGREES
    if gate is not Gate.CALM:
        model = max(empirical, model, _recalibrated(sample, phi))
        weight = RECALIBRATED_DEGREES
    worth = _empirical_degrees(_kurtosis(sample), concentration)
    return MixedVariance(
        variance=(worth * empirical + weight * model) / (worth + weight),
        degrees=worth + MODEL_DEGREES,
        gate=gate,
    )


def _gate(sample: Sample) -> Gate:
    """Compare the errors with what a calibrated guide would make, in two ways.

    The sum of their squares shows a guide that is too sure, their slope in p one whose order is
    too steep or upside down, so that the items it hardly ever draws are the ones it is wrong about.
    """
    products = _products(sample)
    spread = sample.dispersion * products
    excess = arrays.exact_sum(_squared_errors(sample)) - arrays.exact_sum(spread)
    fourth = arrays.exact_sum(spread * (1.0 - 3.0 * products) - spread * spread)
    deviation = math.sqrt(max(fourth, 0.0))
    if excess > HARD_GATE_DEVIATIONS * deviation:
        return Gate.TRIPPED_HARD
    is_tripped = excess > GATE_DEVIATIONS * deviation or _is_steep(sample, spread)
    return Gate.TRIPPED if is_tripped else Gate.CALM


def _is_steep(sample: Sample, spread: FloatArray) -> bool:
    """Whether scores rise with p by less than p does: sum e (p - mean) is too far below 0.

    The mean is weighted by w, so that an error common to all predictions does not count.
    """
    predictions = sample.predictions[sample.answered]
    total = arrays.exact_sum(spread)
    if total == 0.0:
        return False
    offsets = predictions - arrays.exact_sum(spread * predictions) / total
    covariance = arrays.exact_sum((sample.answers - predictions) * offsets)
    deviation = math.sqrt(arrays.exact_sum(spread * offsets * offsets))
    # Equal predictions leave offsets of rounding size.
    return covariance < -GATE_DEVIATIONS * deviation - SPREAD_LIMITS[0]


def _recalibrated(sample: Sample, phi: FloatArray) -> float:
    """Return what the empirical variance is expected to be if scores follow p' instead of p.

    sum W^2 [ w'/(N q)^2 + (phi' - est')^2 ], phi' and est' with p' for z in the last term of phi,
    w' = dispersion p' (1 - p'). One failure among the sure predictions speaks for all of them here.
    """
    scores = np.where(sample.answered, sample.scores, sample.predictions)
    expected = np.where(sample.answered, _recalibrate(sample), sample.predictions)
    reach = 1.0 / (sample.population * sample.probabilities)
    means = phi + (expected - scores) * reach
    offsets = means - arrays.exact_sum(sample.weights * means)
    spread = sample.answered * sample.dispersion * expected * (1.0 - expected)
    return arrays.exact_sum(sample.weights**2 * (spread * reach**2 + offsets**2))


def _recalibrate(sample: Sample) -> FloatArray:
    """Return p' = p + a + b (p - mean of p), the line fitted to the errors, within limits, (n,).

    Least squares, drawn to p' = p by `RECALIBRATION_PRIOR` draws without error.
    """
    known = sample.predictions[sample.answered]
    centre = arrays.exact_sum(known) / len(known)
    errors = sample.answers - known
    offsets = known - centre
    shift = arrays.exact_sum(errors) / (len(known) + RECALIBRATION_PRIOR)
    squares = arrays.exact_sum(offsets * offsets) + RECALIBRATION_PRIOR * SPREAD_LIMITS[1]
    slope = arrays.exact_sum(errors * offsets) / squares
    return limited(sample.predictions + shift + slope * (sample.predictions - centre))


def _kurtosis(sample: Sample) -> float:
    """Return the smaller of what the guide expects and what its errors show."""
    products = _products(sample)
    count = len(products)
    expected = arrays.exact_sum((1.0 - 3.0 * products) / products) / count
    seen = arrays.exact_sum(_squared_errors(sample)) / (sample.dispersion * count)
    low, high = SPREAD_LIMITS
    shown = min(max(seen, low), high)
    return min(expected, (1.0 - 3.0 * shown) / shown)


def _empirical_degrees(kurtosis: float, concentration: float) -> float:
    cap = 1.0 / concentration
    if kurtosis <= NORMAL_KURTOSIS:
        return cap
    return min(cap, 2.0 / (concentration * (kurtosis - 1.0)))


def _products(sample: Sample) -> FloatArray:
    predictions = sample.predictions[sample.answered]
    return predictions * (1.0 - predictions)


def _squared_errors(sample: Sample) -> FloatArray:
    errors = sample.answers - sample.predictions[sample.answered]
    return errors * errors
