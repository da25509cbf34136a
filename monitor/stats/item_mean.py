"""The guide from how hard each item was for other models, scaled to this one.

A logistic regression on one feature, the standardised logit of the item's mean in the history.
The prior of its two coefficients is what they were for the historical models, widened, because a
new version tends to lie outside the range of the old ones.
"""

import dataclasses
from collections.abc import Iterator
from typing import ClassVar, Final, Self

import numpy as np
from scipy import special

from monitor.stats import logistic, predictions
from monitor.stats.answers import History
from monitor.stats.arrays import FloatArray
from monitor.stats.item_tally import ItemTally
from monitor.stats.logistic import Coefficients
from monitor.stats.regression import Regression

COVARIANCE_FACTOR: Final = 2.0
COVARIANCE_FLOOR: Final = (0.05, 0.02)
FEWEST_FAMILIES: Final = 5
# With fewer historical models than that their spread says nothing: accuracies from .05 to .95 and
# slopes from -1 to 3 lie within two standard deviations.
WIDE_PRIOR_DEVIATIONS: Final = (1.5, 1.0)
# Keeps the fit to one model finite when it got all items right, or all wrong.
FIT_PRIOR: Final = Coefficients(mean=np.array([0.0, 1.0]), covariance=np.diag([9.0, 4.0]))
# The spread of two coefficients, and of scores around them, is known well enough from so many.
MOST_MODELS: Final = 200


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ItemMean(Regression):
    """Features: 1 and the item's mean, see `ItemTally.feature`."""

    name: ClassVar[str] = "item_mean"

    @classmethod
    def fit(cls, history: History) -> Self:
        """Fit each historical model by the others' item means; their spread is the prior."""
        tally = ItemTally.of(history)
        return cls(
            features=tally.features(),
            priors=(_prior(history, tally),),
            dispersion=1.0
            if history.is_binary
            else predictions.dispersion(_foretold(history, tally)),
        )


def _trials(history: History, tally: ItemTally) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield features without the model's family, (c, 2), and scores, (c,), of the newest models."""
    for row in range(max(0, len(history.outcomes) - MOST_MODELS), len(history.outcomes)):
        family = history.outcomes[history.families == history.families[row]]
        outcomes = history.outcomes[row]
        cells = np.flatnonzero(~np.isnan(outcomes))
        yield tally.without(family).features()[cells], outcomes[cells]


def _fit(features: FloatArray, scores: FloatArray) -> Coefficients:
    return logistic.posterior(features, scores, prior=FIT_PRIOR)


def _foretold(history: History, tally: ItemTally) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield scores and predictions, each half of a model's items by what the other half says."""
    for features, scores in _trials(history, tally):
        for known, hidden in predictions.halves(len(scores)):
            fitted = _fit(features[known], scores[known])
            yield scores[hidden], logistic.predict(features[hidden], fitted)


def _prior(history: History, tally: ItemTally) -> Coefficients:
    """Return mean and widened covariance of the fits to the historical models one at a time."""
    if len(np.unique(history.families)) < FEWEST_FAMILIES:
        return Coefficients(
            mean=np.array([special.logit(tally.smoothed_mean()), 1.0]),
            covariance=np.diag(np.square(WIDE_PRIOR_DEVIATIONS)),
        )
    fits = np.stack([_fit(*trial).mean for trial in _trials(history, tally)])
    covariance = COVARIANCE_FACTOR * np.cov(fits.T) + np.diag(COVARIANCE_FLOOR)
    return Coefficients(mean=fits.mean(axis=0), covariance=covariance)
