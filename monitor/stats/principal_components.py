"""The directions in which models differ beyond what item means explain."""

import dataclasses
from typing import Final, Self

import numpy as np

from monitor.stats.arrays import FloatArray

# A component this weak beside the first is rounding.
SMALLEST_RATIO: Final = 1e-6


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PrincipalComponents:
    """Right singular vectors of a matrix of residuals, strongest first.

    scores: (N, k), mean square 1 in each column.
    ratios: (k,) singular values over the first.
    """

    scores: FloatArray
    ratios: FloatArray

    @classmethod
    def of(cls, residuals: FloatArray, *, most: int) -> Self:
        """Return at most `most` components; fewer where there are no more.

        The products of rows, an (M, M) matrix, hold all that is needed, and M is small beside N.

        Args:
            residuals: (M, N), 0 where unknown.
            most: largest k.
        """
        squares, vectors = np.linalg.eigh(residuals @ residuals.T)
        strongest = slice(None, None, -1)
        values = np.sqrt(np.maximum(squares[strongest], 0.0))
        kept = np.flatnonzero(values > SMALLEST_RATIO * max(values.max(initial=0.0), 1.0))[:most]
        scores = residuals.T @ vectors[:, strongest][:, kept]
        root_mean_square = np.sqrt(np.mean(scores**2, axis=0))
        signs = np.where(scores[np.abs(scores).argmax(axis=0), range(len(kept))] < 0.0, -1.0, 1.0)
        return cls(
            scores=scores * (signs / root_mean_square),
            ratios=values[kept] / values[:1],
        )
