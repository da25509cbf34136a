"""What a guide may learn from: the answers of this evaluation and the history of other models."""

import dataclasses
from collections.abc import Collection, Sequence
from typing import Self

import numpy as np

from monitor.stats import arrays
from monitor.stats.arrays import BoolArray, FloatArray, IntArray


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answers:
    """The answered draws so far, missing ones left out.

    items: (t,) positions in the pool; one may occur more than once where the design repeats.
    scores: (t,) in [0, 1].
    """

    items: IntArray
    scores: FloatArray

    @classmethod
    def from_columns(cls, *, items: Sequence[int], scores: Sequence[float]) -> Self:
        """Check and copy.

        Raises:
            ValueError: lengths differ or a score is not in [0, 1].
        """
        return cls(
            items=arrays.integers(items, name="items"),
            scores=arrays.floats(scores, name="scores", size=len(items), within=(0.0, 1.0)),
        )

    def in_canonical_order(self) -> Self:
        """Return the same answers sorted by item, then score.

        Floating-point sums depend on their order; a guide must not.
        """
        order = np.lexsort((self.scores, self.items))
        return dataclasses.replace(self, items=self.items[order], scores=self.scores[order])


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class History:
    """Outcomes of other models on the pool.

    outcomes: (M, N) in [0, 1], oldest model first; NaN marks a missing cell, anywhere.
    families: (M,) rows with one label are one model in several settings, left out together.
    groups: (N,) label of each item's group, numbered from 0.
    """

    outcomes: FloatArray
    families: IntArray
    groups: IntArray

    @classmethod
    def from_matrix(
        cls,
        outcomes: FloatArray,
        *,
        families: Sequence[int] | IntArray | None = None,
        groups: Sequence[int] | IntArray | None = None,
    ) -> Self:
        """Check, and drop the rows without a single cell.

        Args:
            outcomes: (M, N), oldest model first, M may be 0; NaN = missing.
            families: (M,) label of each row; every row its own family where None.
            groups: (N,) label of each item's group, from 0; one group where None.

        Raises:
            ValueError: not a matrix, no item, or a cell outside [0, 1].
        """
        matrix = np.array(outcomes, dtype=np.float64)
        if matrix.ndim != 2 or matrix.shape[1] == 0:  # noqa: PLR2004 - what a matrix is
            raise ValueError(f"outcomes: shape must be (models, items), not {matrix.shape}")
        seen = ~np.isnan(matrix)
        if not ((matrix[seen] >= 0.0) & (matrix[seen] <= 1.0)).all():
            raise ValueError("outcomes: every cell must lie in [0, 1] or be NaN (missing)")
        rows = len(matrix)
        labels = arrays.integers(
            range(rows) if families is None else families, name="families", size=rows
        )
        kept = seen.any(axis=1)
        population = matrix.shape[1]
        return cls(
            outcomes=matrix[kept],
            families=labels[kept],
            groups=arrays.integers(
                np.zeros(population, dtype=np.int64) if groups is None else groups,
                name="groups",
                size=population,
            ),
        )

    def without(self, families: Collection[int]) -> Self:
        """Return the history without the rows of these families."""
        kept = ~np.isin(self.families, list(families))
        return dataclasses.replace(self, outcomes=self.outcomes[kept], families=self.families[kept])

    def of_items(self, items: IntArray) -> Self:
        """Return the history of a pool of these items only; rows without a cell there are gone."""
        return self.from_matrix(
            self.outcomes[:, items], families=self.families, groups=self.groups[items]
        )

    @classmethod
    def empty(cls, population: int, *, groups: Sequence[int] | IntArray | None = None) -> Self:
        """No model at all on a pool of `population` items, in groups as in `from_matrix`."""
        return cls.from_matrix(np.empty((0, population)), groups=groups)

    @property
    def population(self) -> int:
        """Number of items N."""
        return int(self.outcomes.shape[1])

    @property
    def observed(self) -> BoolArray:
        """(M, N) mask of the cells that are there."""
        return ~np.isnan(self.outcomes)

    @property
    def is_binary(self) -> bool:
        """Whether every observed cell is exactly 0 or 1 (true of an empty history)."""
        cells = self.outcomes[self.observed]
        return bool(((cells == 0.0) | (cells == 1.0)).all())
