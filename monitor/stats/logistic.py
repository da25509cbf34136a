"""Bayesian logistic regression on few features, as far as a guide needs it.

Fractional scores go in as they are: the Bernoulli likelihood is then a quasi-likelihood, and one
score tells as much as 1/dispersion answers (Wedderburn 1974).

symbol   name                             shape
X        features                         (n, d)
b        coefficients                     (d,)
m, S     mean and covariance of b         (d,), (d, d)
"""

import dataclasses
from typing import Final

import numpy as np
from scipy import special

from monitor.stats.arrays import FloatArray

MOST_STEPS: Final = 100
MOST_HALVINGS: Final = 40
SMALLEST_GAIN: Final = 1e-6
# Squared scale of the probit that is nearest to the logistic function, pi / 8.
PROBIT_SCALE: Final = 0.393


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Coefficients:
    """A normal distribution of coefficients: mean (d,), covariance (d, d)."""

    mean: FloatArray
    covariance: FloatArray


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Posterior(Coefficients):
    """What the answers leave of a prior.

    log_evidence: Laplace's approximation of ln P(scores | prior) (MacKay 1992, eq. 2.4).
    """

    log_evidence: float


def posterior(
    features: FloatArray,
    scores: FloatArray,
    *,
    prior: Coefficients,
    start: FloatArray | None = None,
    dispersion: float = 1.0,
) -> Posterior:
    """Return the Laplace approximation of the posterior.

    Newton's method on the negative log posterior, which is strictly convex, each step halved
    until it gains: undamped it diverges from a prior that the answers contradict.

    Args:
        features: (n, d), n may be 0.
        scores: (n,) in [0, 1].
        prior: of the coefficients.
        start: (d,) a guess of the mode; the prior's mean where None.
        dispersion: variance of a score over p (1 - p).
    """
    # All below is times the dispersion, so that it has to be known in one place only.
    precision = dispersion * _inverse(prior.covariance)
    mean = prior.mean if start is None else start
    loss = _loss(features, scores, mean, prior=prior, precision=precision)
    for _ in range(MOST_STEPS):
        fitted = special.expit(features @ mean)
        gradient = features.T @ (fitted - scores) + precision @ (mean - prior.mean)
        step = np.linalg.solve(_curvature(features, fitted, precision), gradient)
        for halving in range(MOST_HALVINGS):
            candidate = mean - step / 2.0**halving
            candidate_loss = _loss(features, scores, candidate, prior=prior, precision=precision)
            if candidate_loss <= loss:
                break
        else:
            break
        gain, mean, loss = loss - candidate_loss, candidate, candidate_loss
        if gain <= SMALLEST_GAIN:
            break
    curvature = _curvature(features, special.expit(features @ mean), precision)
    volume = np.linalg.slogdet(precision)[1] - np.linalg.slogdet(curvature)[1]
    return Posterior(
        mean=mean,
        covariance=dispersion * _inverse(curvature),
        log_evidence=float(0.5 * volume - loss / dispersion),
    )


def predict(features: FloatArray, coefficients: Coefficients) -> FloatArray:
    """Return the posterior mean of each probability, shape (n,).

    sigmoid(x'm / sqrt(1 + .393 x'Sx)), the probit approximation (MacKay 1992, eq. 4.8-4.9).
    """
    spread = np.einsum("nd,nd->n", features @ coefficients.covariance, features)
    centre = features @ coefficients.mean
    return np.asarray(special.expit(centre / np.sqrt(1.0 + PROBIT_SCALE * spread)))


def _inverse(matrix: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.inv(matrix), dtype=np.float64)


def _curvature(features: FloatArray, fitted: FloatArray, precision: FloatArray) -> FloatArray:
    weighted = features * (fitted * (1.0 - fitted))[:, np.newaxis]
    return np.asarray(features.T @ weighted + precision)


def _loss(
    features: FloatArray,
    scores: FloatArray,
    mean: FloatArray,
    *,
    prior: Coefficients,
    precision: FloatArray,
) -> float:
    centre = features @ mean
    offset = mean - prior.mean
    misfit = np.logaddexp(0.0, centre).sum() - scores @ centre
    return float(misfit + 0.5 * offset @ precision @ offset)
