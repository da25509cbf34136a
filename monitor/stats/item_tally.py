"""How hard each item was for the models of a history, with or without some of them."""

import dataclasses
from typing import Final, Self

import numpy as np
from scipy import special

from monitor.stats.answers import History
from monitor.stats.arrays import FloatArray

SMALLEST_DEVIATION: Final = 1e-9


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ItemTally:
    """Sums and counts of the observed outcomes by item, (N,) each."""

    sums: FloatArray
    counts: FloatArray

    @classmethod
    def of(cls, history: History) -> Self:
        """Count all rows."""
        return cls(
            sums=np.nansum(history.outcomes, axis=0),
            counts=history.observed.sum(axis=0, dtype=np.float64),
        )

    def without(self, outcomes: FloatArray) -> "ItemTally":
        """Return the tally without these rows, (rows, N), which it counted."""
        return ItemTally(
            sums=np.maximum(self.sums - np.nansum(outcomes, axis=0), 0.0),
            counts=self.counts - (~np.isnan(outcomes)).sum(axis=0),
        )

    def smoothed_mean(self) -> float:
        """Return the mean of all cells, drawn to 1/2 by one more cell."""
        return float((self.sums.sum() + 0.5) / (self.counts.sum() + 1.0))

    def feature(self) -> FloatArray:
        """Return the standardised logit of (sum + mean + .25) / (count + 1.5), 0 if all are equal.

        An item without a cell stands near the pool's mean.
        """
        means = (self.sums + self.smoothed_mean() + 0.25) / (self.counts + 1.5)
        logits = special.logit(means)
        deviation = float(logits.std())
        if deviation < SMALLEST_DEVIATION:
            return np.zeros_like(logits)
        return np.asarray((logits - logits.mean()) / deviation)

    def features(self) -> FloatArray:
        """Return a column of ones and the feature, (N, 2)."""
        feature = self.feature()
        return np.column_stack([np.ones_like(feature), feature])
