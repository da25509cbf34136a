"""Mean and variance of a sample that was drawn from strata.

symbol   name                                              shape
h        stratum, W_h = N_h/N                              (H,)
m_h, m   answers of a stratum, of all                      (H,), ()
a        coefficient of a score                            (n,)
phi      variance of a score over p (1 - p)                ()
"""

import dataclasses
from typing import Final

import numpy as np

from monitor.stats import arrays
from monitor.stats.arrays import FloatArray, IntArray
from monitor.stats.samples import Sample, Strata

# Where failures are few, those seen do not tell whether failures are spread as the draws are.
EVEN_ANSWERS: Final = 2.0
UNKNOWN_DISPERSION: Final = 0.5
# Answers of 0 and 1 tell less of their spread than normal ones, and their means lie on a grid: with
# all degrees some pools of strong models were covered below .94, with half of them none.
WORTH_OF_A_DEGREE: Final = 0.5


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """variance: of the mean.

    per_product: the variance over p (1 - p), p the mean: one over the effective sample size of
        an interval for a proportion.
    degrees: of freedom, `WORTH_OF_A_DEGREE` times sum (m_h - 1).
    """

    variance: float
    per_product: float
    degrees: float


def coefficients(sample: Sample) -> FloatArray:
    """Return a, how much each score moves `mean`, (n,): W_h/m_h, summing to 1 over the answers."""
    strata = strata_of(sample)
    answers = _answers(sample)
    shares = np.divide(strata.sizes, answers, out=np.zeros(len(answers)), where=answers > 0)
    heard = strata.sizes[answers > 0].sum()
    return np.asarray(sample.answered * shares[strata.labels] / heard)


def mean(sample: Sample) -> float:
    """Return sum W_h mean_h z (Cochran 1977, section 5.3); at least one answer is needed.

    A missing answer is as the others of its stratum; a stratum without any lies above or below
    those with answers by as much as was predicted.
    """
    known = coefficients(sample)
    silent = _planned_coefficients(sample) * (_answers(sample) == 0)[strata_of(sample).labels]
    expected = arrays.exact_sum(known * sample.predictions)
    lifts = silent * (sample.predictions - expected)
    return arrays.exact_sum(known * sample.scores) + arrays.exact_sum(lifts)


def spread(sample: Sample) -> Spread:
    """Return the variance of `mean`, drawn to what an even spread of failures would give.

    V = sum W_h^2 (1 - m_h/N_h) s_h^2/m_h, which is unbiased (Cochran 1977, section 5.5), over
    S^2 = sum a z^2 - (sum a z)^2 is how much less strata leave of the variance. With 98 % right
    answers both rest on a failure or two, so that `EVEN_ANSWERS` with phi for s_h^2 are added:

        (V + c sum W_h^2 (1 - m_h/N_h)/m_h) / (m/(m - 1) S^2 + c),    c = EVEN_ANSWERS phi/m

    A stratum with one answer has the pooled s_h^2 of the others; one with none counts as one.
    """
    strata, answers = strata_of(sample), _answers(sample)
    total = int(answers.sum())
    squares, degrees = _squares(sample, answers), np.maximum(answers - 1, 0)
    freedom = int(degrees.sum())
    pooled = float(squares.sum()) / max(freedom, 1)
    variances = np.where(degrees > 0, squares / np.maximum(degrees, 1), pooled)
    shares = strata.sizes / sample.population
    factors = shares**2 * (1.0 - answers / strata.sizes) / np.maximum(answers, 1)
    within, even = arrays.exact_sum(factors * variances), arrays.exact_sum(factors)
    seen = _weighted_variance(sample)
    phi = _dispersion(sample, seen)
    added = EVEN_ANSWERS * phi / total
    corrected = seen * total / max(total - 1, 1)
    ratio = (within + added * even) / (corrected + added)
    return Spread(
        variance=ratio * corrected,
        per_product=ratio * phi,
        degrees=WORTH_OF_A_DEGREE * freedom,
    )


def strata_of(sample: Sample) -> Strata:
    """Return the strata.

    Raises:
        ValueError: the sample has none.
    """
    if sample.strata is None:
        raise ValueError("strata: the sample was not drawn from any")
    return sample.strata


def _answers(sample: Sample) -> IntArray:
    """Return m_h, (H,)."""
    strata = strata_of(sample)
    return np.bincount(strata.labels[sample.answered], minlength=len(strata.sizes))


def _planned_coefficients(sample: Sample) -> FloatArray:
    """Return what `coefficients` are where nothing is missing, W_h/n_h, (n,)."""
    strata = strata_of(sample)
    return np.asarray((strata.sizes / strata.draws)[strata.labels] / sample.population)


def _squares(sample: Sample, answers: IntArray) -> FloatArray:
    """Return sum (z - mean_h)^2 over the answers of each stratum, (H,)."""
    labels, scores = strata_of(sample).labels[sample.answered], sample.answers
    means = np.bincount(labels, scores, minlength=len(answers)) / np.maximum(answers, 1)
    squares = (scores - means[labels]) ** 2
    return np.asarray(np.bincount(labels, squares, minlength=len(answers)))


def _weighted_variance(sample: Sample) -> float:
    """Return S^2."""
    known = coefficients(sample)
    centre = arrays.exact_sum(known * sample.scores)
    return arrays.exact_sum(known * (sample.scores - centre) ** 2)


def _dispersion(sample: Sample, seen: float) -> float:
    """Return S^2 over p (1 - p), drawn to `UNKNOWN_DISPERSION`; exactly 1 for 0/1 scores.

    Near 1 a rare low score matters most, and those seen tell little: what is added shrinks with
    the number of answers, not with p (1 - p).
    """
    if sample.is_binary:
        return 1.0
    centre = arrays.exact_sum(coefficients(sample) * sample.scores)
    added = 1.0 / len(sample.answers)
    found = (seen + UNKNOWN_DISPERSION * added) / (centre * (1.0 - centre) + added)
    return min(found, 1.0)
