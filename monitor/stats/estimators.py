"""Seam Estimator: the value of a sample, and how far missing answers could move it.

symbol   name                                     shape
z        score; of a missing answer: p            (n,)
p, q     prediction and probability at the draw   (n,)
W        weight                                   (n,)
D, R     items drawn before / not drawn yet

All sums are rounded once (`arrays.exact_sum`), so a replay agrees to the byte.
"""

import dataclasses
import enum
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Protocol

import numpy as np

from monitor.stats import arrays, stratified, variances
from monitor.stats.arrays import FloatArray
from monitor.stats.samples import Sample

ROUNDING: Final = 1e-12


class NoValueReason(enum.StrEnum):
    """Why there is no value."""

    NO_ANSWER = "no_answer"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class NoValue:
    """The sample says nothing about the mean."""

    reason: NoValueReason


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PointEstimate:
    """The estimated mean of the pool.

    value: unbiased and unclipped, so it may leave [0, 1].
    variance: of the value; None where unknown.
    coefficients: (n,) how much each draw's score moves the value; 0 for a score not used.
    lower_shift, upper_shift: what is added to the value if every missing answer were 0 / 1.
    is_baseline: whether this is plain random sampling or a census, the yardstick of `ess_ratio`.
    """

    value: float
    variance: float | None
    coefficients: tuple[float, ...]
    lower_shift: float
    upper_shift: float
    is_baseline: bool


class Estimator(Protocol):
    """A pure function of the sample.

    Contract:
        - `value` is the pool mean where nothing is missing and everything was drawn with p right.
        - `lower_shift` <= 0 <= `upper_shift`, both 0 where nothing is missing.
        - without a single answer the result is `NoValue`, never a number.
    """

    def __call__(self, sample: Sample) -> PointEstimate | NoValue:
        """Estimate the mean of the pool."""
        ...


def sample_mean(sample: Sample) -> PointEstimate | NoValue:
    """Return the mean of the answers: for plain random sampling, and for a census.

    The variance is s^2 (1 - n/N) / n with the unbiased s^2 (Cochran 1977, chapter 2), over answers.
    """
    answers = sample.answers
    count = len(answers)
    if count == 0:
        return NoValue(reason=NoValueReason.NO_ANSWER)
    total = arrays.exact_sum(answers)
    value = total / count
    return PointEstimate(
        value=value,
        variance=_plain_variance(answers, mean=value, population=sample.population),
        coefficients=tuple((sample.answered / count).tolist()),
        lower_shift=min(0.0, total / sample.size - value),
        upper_shift=max(0.0, (total + sample.missing) / sample.size - value),
        is_baseline=True,
    )


def active_mean(sample: Sample) -> PointEstimate | NoValue:
    """Return sum W_t phi_t: for draws by a guide, without replacement.

    phi_t = (1/N) [sum_D z + sum_R p + (z - p)/q] has the pool mean as its conditional mean
    whatever p and q are. A missing answer counts as z = p. As a function of one score the value
    has the slope a = W/(N q) + (1 - W_1 - ... - W_i)/N, which bounds what a missing one can do.
    """
    if not sample.answered.any():
        return NoValue(reason=NoValueReason.NO_ANSWER)
    terms = variances.terms(sample)
    slopes = _slopes(sample)
    gone = ~sample.answered
    return PointEstimate(
        value=arrays.exact_sum(sample.weights * terms),
        variance=variances.mixed(sample).variance,
        coefficients=tuple(slopes.tolist()),
        lower_shift=arrays.exact_sum(-slopes[gone] * sample.predictions[gone]),
        upper_shift=arrays.exact_sum(slopes[gone] * (1.0 - sample.predictions[gone])),
        is_baseline=False,
    )


def proactive_mean(sample: Sample) -> PointEstimate | NoValue:
    """Return sum W_t phi_t: for draws by a guide from all items each time (arXiv 2601.20251).

    phi_t = (1/N) [sum p + (z - p)/q], the sum over the whole pool. A missing answer counts as
    z = p; as a function of one draw's score the value has the slope a = W/(N q).
    """
    if not sample.answered.any():
        return NoValue(reason=NoValueReason.NO_ANSWER)
    scores = np.where(sample.answered, sample.scores, sample.predictions)
    slopes = sample.weights / (sample.population * sample.probabilities)
    means = sample.rest_prediction_sums / sample.population
    gone = ~sample.answered
    return PointEstimate(
        value=arrays.exact_sum(sample.weights * means + slopes * (scores - sample.predictions)),
        variance=_published_variance(sample, scores, slopes=slopes, means=means),
        coefficients=tuple(slopes.tolist()),
        lower_shift=arrays.exact_sum(-slopes[gone] * sample.predictions[gone]),
        upper_shift=arrays.exact_sum(slopes[gone] * (1.0 - sample.predictions[gone])),
        is_baseline=False,
    )


def stratified_mean(sample: Sample) -> PointEstimate | NoValue:
    """Return sum W_h mean_h z: for draws from strata; see `stratified`."""
    if not sample.answered.any():
        return NoValue(reason=NoValueReason.NO_ANSWER)
    value, spread = stratified.mean(sample), stratified.spread(sample)
    return PointEstimate(
        value=value,
        variance=spread.variance if spread.degrees else None,
        coefficients=tuple(stratified.coefficients(sample).tolist()),
        lower_shift=min(0.0, stratified.mean(sample.filled(0.0)) - value)
        if sample.missing
        else 0.0,
        upper_shift=max(0.0, stratified.mean(sample.filled(1.0)) - value)
        if sample.missing
        else 0.0,
        is_baseline=False,
    )


ESTIMATORS: Final[Mapping[str, Estimator]] = MappingProxyType(
    {
        "sample_mean": sample_mean,
        "active_mean": active_mean,
        "proactive_mean": proactive_mean,
        "stratified_mean": stratified_mean,
    }
)


def _plain_variance(answers: FloatArray, *, mean: float, population: int) -> float | None:
    count = len(answers)
    if count < 2:  # noqa: PLR2004 - one answer has no spread
        return None
    squares = arrays.exact_sum((answers - mean) ** 2)
    return squares / (count - 1) * (1.0 - count / population) / count


def _published_variance(
    sample: Sample, scores: FloatArray, *, slopes: FloatArray, means: FloatArray
) -> float | None:
    """Return the variance that arXiv 2601.20251 states, floored at 0.

    sum W^2 [ ((z - p)/(N q))^2 - (A - mean p)^2 ] with A = sum W z/(N q): for equal weights its
    sigma^2 / n.

    Args:
        sample: all draws.
        scores: (n,) missing ones replaced by p.
        slopes: (n,) W/(N q).
        means: (n,) mean of p over the pool at each draw.
    """
    if sample.size < 2:  # noqa: PLR2004 - one term has no spread
        return None
    squares = (slopes * (scores - sample.predictions)) ** 2
    weighted = sample.weights * (arrays.exact_sum(slopes * scores) - means)
    found = arrays.exact_sum(squares - weighted**2)
    # Where nothing varies the two cancel but for rounding, which is no evidence of spread.
    return found if found > ROUNDING * arrays.exact_sum(squares) else 0.0


def _slopes(sample: Sample) -> FloatArray:
    # Rounding may take the last remainder a hair below zero.
    later = np.maximum(1.0 - np.cumsum(sample.weights), 0.0)
    return (sample.weights / sample.probabilities + later) / sample.population
