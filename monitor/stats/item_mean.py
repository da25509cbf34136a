"""The default guide: how hard each item was for other models, scaled to this one.

A logistic regression on one feature, the standardised logit of the item's mean in the history.
The prior of its two coefficients is what they were for the historical models, widened, because a
new version tends to lie outside the range of the old ones.
"""

import dataclasses
from collections.abc import Mapping
from typing import ClassVar, Final, Self

import numpy as np
from scipy import special

from monitor.stats import arrays, logistic, predictions
from monitor.stats.answers import Answers, History
from monitor.stats.arrays import FloatArray, IntArray
from monitor.stats.logistic import Coefficients

COVARIANCE_FACTOR: Final = 2.0
COVARIANCE_FLOOR: Final = (0.05, 0.02)
FEWEST_FAMILIES: Final = 5
SMALLEST_DEVIATION: Final = 1e-9
# With fewer historical models than that their spread says nothing: accuracies from .05 to .95 and
# slopes from -1 to 3 lie within two standard deviations.
WIDE_PRIOR_DEVIATIONS: Final = (1.5, 1.0)
# Keeps the fit to one model finite when it got all items right, or all wrong.
FIT_PRIOR: Final = Coefficients(mean=np.array([0.0, 1.0]), covariance=np.diag([9.0, 4.0]))


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

    def without(self, history: History, row: int) -> "ItemTally":
        """Return the tally without the row and its family, so that it predicts from others."""
        family = history.outcomes[history.families == history.families[row]]
        return ItemTally(
            sums=np.maximum(self.sums - np.nansum(family, axis=0), 0.0),
            counts=self.counts - (~np.isnan(family)).sum(axis=0),
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


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ItemMean:
    """A fitted guide.

    feature: (N,) standardised logit of the item's mean.
    prior: of intercept and slope.
    """

    name: ClassVar[str] = "item_mean"

    feature: FloatArray
    prior: Coefficients
    dispersion: float

    @classmethod
    def fit(cls, history: History) -> Self:
        """Fit each historical model by the others' item means; their spread is the prior."""
        tally = ItemTally.of(history)

        def predict(row: int, known: IntArray, hidden: IntArray) -> FloatArray:
            features = _features(tally.without(history, row).feature())
            fitted = _fit_row(features[known], history.outcomes[row, known])
            return logistic.predict(features[hidden], fitted)

        return cls(
            feature=tally.feature(),
            prior=_prior(history, tally),
            dispersion=predictions.dispersion(history, predict),
        )

    def predict(self, answered: Answers) -> FloatArray:
        """See `Guide.predict`."""
        ordered = answered.in_canonical_order()
        features = _features(self.feature)
        fitted = logistic.posterior(features[ordered.items], ordered.scores, prior=self.prior)
        return predictions.limited(logistic.predict(features, fitted))

    def of_items(self, items: IntArray) -> Self:
        """See `Guide.of_items`."""
        return dataclasses.replace(self, feature=self.feature[items])

    def columns(self) -> Mapping[str, FloatArray]:
        """See `Guide.columns`."""
        return {
            "feature": self.feature,
            "prior_mean": self.prior.mean,
            "prior_covariance": self.prior.covariance.ravel(),
            "dispersion": np.array([self.dispersion]),
        }

    @classmethod
    def from_columns(cls, columns: Mapping[str, FloatArray]) -> Self:
        """See `Guide.from_columns`."""
        return cls(
            feature=arrays.column(columns, "feature"),
            prior=Coefficients(
                mean=arrays.column(columns, "prior_mean", size=2),
                covariance=arrays.column(columns, "prior_covariance", size=4).reshape(2, 2),
            ),
            dispersion=float(arrays.column(columns, "dispersion", size=1)[0]),
        )


def _features(feature: FloatArray) -> FloatArray:
    return np.column_stack([np.ones_like(feature), feature])


def _fit_row(features: FloatArray, scores: FloatArray) -> Coefficients:
    return logistic.posterior(features, scores, prior=FIT_PRIOR)


def _prior(history: History, tally: ItemTally) -> Coefficients:
    """Return mean and widened covariance of the fits to the historical models one at a time."""
    if len(np.unique(history.families)) < FEWEST_FAMILIES:
        return Coefficients(
            mean=np.array([special.logit(tally.smoothed_mean()), 1.0]),
            covariance=np.diag(np.square(WIDE_PRIOR_DEVIATIONS)),
        )
    fits = np.empty((len(history.outcomes), 2))
    for row, outcomes in enumerate(history.outcomes):
        cells = np.flatnonzero(~np.isnan(outcomes))
        features = _features(tally.without(history, row).feature()[cells])
        fits[row] = _fit_row(features, outcomes[cells]).mean
    covariance = COVARIANCE_FACTOR * np.cov(fits.T) + np.diag(COVARIANCE_FLOOR)
    return Coefficients(mean=fits.mean(axis=0), covariance=covariance)
