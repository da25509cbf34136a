"""What the coefficients of a new model will be, learnt from models that were left out.

A hierarchical logistic regression: each model's coefficients are drawn from one normal
distribution, whose mean and covariance the EM algorithm finds from all of them (Dempster, Laird,
Rubin 1977), with Laplace's approximation in the E step. With few models it stays near a target.
"""

import dataclasses
from collections.abc import Sequence
from typing import Final

import numpy as np

from monitor.stats import logistic
from monitor.stats.arrays import FloatArray
from monitor.stats.logistic import Coefficients

ROUNDS: Final = 6
# What the targets count for, in models.
TARGET_WEIGHT: Final = 5.0
SCALE_TARGET: Final = (1.0, 0.4, 0.2)
TARGET_VARIANCE: Final = 0.1
START_VARIANCES: Final = (2.0, 0.3)
SMALLEST_VARIANCE: Final = 1e-6


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Which coefficients are which; they stand in this order.

    scale: number of those that every model has: level, easiness, discrimination.
    groups: number of those of item groups.
    ratios: strength of each component beside the first.
    """

    scale: int
    groups: int
    ratios: tuple[float, ...]

    @property
    def free(self) -> int:
        """Number of coefficients whose covariance is learnt in full."""
        return self.scale + self.groups


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trial:
    """A model and the features of its items, made without its family.

    features: (c, d) of some of its observed items; scores: (c,).
    """

    features: FloatArray
    scores: FloatArray


def learnt_prior(
    trials: Sequence[Trial], layout: Layout, *, dispersion: float = 1.0
) -> Coefficients:
    """Return mean and covariance of the coefficients over models.

    Args:
        trials: at least one.
        layout: of their features.
        dispersion: of the scores, see `logistic.posterior`.
    """
    squares = np.square(layout.ratios)
    prior = Coefficients(
        mean=np.eye(layout.free + len(squares))[1],
        covariance=np.diag(
            np.concatenate(
                [
                    np.full(layout.scale, START_VARIANCES[0]),
                    np.full(layout.groups, START_VARIANCES[1]),
                    START_VARIANCES[1] * squares,
                ]
            )
        ),
    )
    starts = [prior.mean] * len(trials)
    for _ in range(ROUNDS):
        fits = [
            logistic.posterior(
                each.features, each.scores, prior=prior, start=start, dispersion=dispersion
            )
            for each, start in zip(trials, starts, strict=True)
        ]
        starts = [each.mean for each in fits]
        prior = _maximised(fits, layout)
    return prior


def _maximised(fits: Sequence[Coefficients], layout: Layout) -> Coefficients:
    """Return the M step: components have mean 0 and no covariance, for their signs mean nothing."""
    models, scale, free = len(fits), layout.scale, layout.free
    means = np.stack([each.mean for each in fits])
    mean = means.mean(axis=0)
    mean[scale:free] *= models / (models + TARGET_WEIGHT)
    mean[free:] = 0.0
    deviations = means - mean
    squares = deviations.T @ deviations + np.sum([each.covariance for each in fits], axis=0)
    covariance = np.zeros_like(squares)
    target = _target(squares, models, layout)
    # The more groups there are, the less is known of how each goes with the others.
    for size, weight in ((free, TARGET_WEIGHT + layout.groups), (scale, TARGET_WEIGHT)):
        block = slice(0, size)
        drawn = squares[block, block] + weight * target[block, block]
        covariance[block, block] = drawn / (models + weight)
    components = TARGET_WEIGHT * TARGET_VARIANCE * np.square(layout.ratios)
    variances = (np.diag(squares)[free:] + components) / (models + TARGET_WEIGHT)
    covariance[range(free, len(mean)), range(free, len(mean))] = variances
    return Coefficients(mean=mean, covariance=_positive(covariance))


def _positive(matrix: FloatArray) -> FloatArray:
    """Return the matrix with eigenvalues of at least `SMALLEST_VARIANCE`."""
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.maximum(values, SMALLEST_VARIANCE)) @ vectors.T)


def _target(squares: FloatArray, models: int, layout: Layout) -> FloatArray:
    """Return the diagonal matrix to which the free block is drawn; groups share one variance."""
    groups = np.diag(squares)[layout.scale : layout.free]
    total = groups.sum() + TARGET_WEIGHT * TARGET_VARIANCE * layout.groups
    shared = total / (models + TARGET_WEIGHT) / max(layout.groups, 1)
    return np.diag([*SCALE_TARGET[: layout.scale], *[shared] * layout.groups])
