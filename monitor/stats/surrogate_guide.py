"""The guide of strata: what a surrogate's signal says of each item, whatever the answers.

Strata do without predictions; these stand in where a stratum gave no answer at all.
"""

import dataclasses
from collections.abc import Mapping
from typing import ClassVar, Self

import numpy as np

from monitor.stats import arrays, predictions, stratification
from monitor.stats.answers import Answers, History
from monitor.stats.arrays import FloatArray, IntArray
from monitor.stats.constant import Constant
from monitor.stats.item_tally import ItemTally
from monitor.stats.signals import Signal


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SurrogateGuide:
    """Fixed predictions.

    scores: (N,) within `predictions.LIMITS`.
    """

    name: ClassVar[str] = "surrogate"

    scores: FloatArray
    dispersion: float = 1.0

    @classmethod
    def of(cls, signal: Signal) -> Self:
        """Predict what the surrogate itself is expected to score."""
        return cls(scores=predictions.limited(stratification.expected_scores(signal)))

    @classmethod
    def fit(cls, history: History) -> Self:
        """Take the models of the history for surrogates: each item's mean, smoothed."""
        tally = ItemTally.of(history)
        means = (tally.sums + tally.smoothed_mean()) / (tally.counts + 1.0)
        return cls(scores=predictions.limited(means), dispersion=Constant.fit(history).dispersion)

    def predict(self, answered: Answers) -> FloatArray:  # noqa: ARG002 - of the seam
        """See `Guide.predict`."""
        return self.scores.copy()

    def of_items(self, items: IntArray) -> Self:
        """See `Guide.of_items`."""
        return dataclasses.replace(self, scores=self.scores[items])

    def columns(self) -> Mapping[str, FloatArray]:
        """See `Guide.columns`."""
        return {"scores": self.scores, "dispersion": np.array([self.dispersion])}

    @classmethod
    def from_columns(cls, columns: Mapping[str, FloatArray]) -> Self:
        """See `Guide.from_columns`."""
        return cls(
            scores=arrays.column(columns, "scores"),
            dispersion=float(arrays.column(columns, "dispersion", size=1)[0]),
        )
