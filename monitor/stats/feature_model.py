"""The default guide: item parameters, what sets models apart beyond them, and item groups.

Its features are fixed by the history; how much each of them counts for the new model is learnt
from its answers, from a prior that holds what was usual among models left out of the history.
"""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Final, Self

import numpy as np
from scipy import special

from monitor.stats import empirical_bayes, item_features, item_groups, logistic, predictions
from monitor.stats.answers import History
from monitor.stats.arrays import FloatArray, IntArray
from monitor.stats.constant import Constant
from monitor.stats.empirical_bayes import Layout, Trial
from monitor.stats.item_tally import ItemTally
from monitor.stats.logistic import Coefficients
from monitor.stats.regression import Regression

DEFAULT_COMPONENTS: Final = 6
FOLDS: Final = 8
# Leaving some of many models out changes so little that fewer folds do.
MANY_FAMILIES: Final = 50
FOLDS_OF_MANY: Final = 4
# A prior is known well enough from so many models, a model from so many items.
MOST_TRIALS: Final = 64
MOST_ITEMS: Final = 4000
MOST_CELLS: Final = 2000
# Without models to learn from: accuracies from .05 to .95 and slopes from -1 to 3 lie within two
# standard deviations.
WIDE_DEVIATIONS: Final = (1.5, 1.0, 0.5)
WIDE_GROUP_DEVIATION: Final = 0.5
# A new model may be like those before it, or lie far outside; its answers tell.
WIDENINGS: Final = (1.0, 8.0)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FeatureModel(Regression):
    """Features: see `item_features`."""

    name: ClassVar[str] = "feature_model"

    @classmethod
    def fit(cls, history: History) -> Self:
        """Use the default number of components."""
        return cls.by_components(history, [DEFAULT_COMPONENTS])[DEFAULT_COMPONENTS]

    @classmethod
    def by_components(cls, history: History, counts: Sequence[int]) -> Mapping[int, Self]:
        """Return the guides that use the first so many components, or as many as there are."""
        indicators = item_groups.indicators(history.groups)
        features, layout = item_features.item_features(history, indicators)
        trials = list(_trials(history, indicators, width=features.shape[1]))
        priors, dispersion = _learnt(trials, layout) if trials else _unlearnt(history, layout)
        whole = cls(features=features, priors=priors, dispersion=dispersion)
        return {count: whole.first_features(layout.free + count) for count in counts}


def _trials(history: History, indicators: FloatArray, *, width: int) -> Iterator[Trial]:
    """Yield the newest models, each with features that a history without its family gives.

    Args:
        history: of all models.
        indicators: (N, g) of the item groups.
        width: number of features, filled up with 0 where a fold has fewer components.
    """
    items = _some_items(history.population)
    known = history.of_items(items)
    families = np.unique(known.families)
    if len(families) < item_features.FEWEST_FAMILIES:
        return
    newest = np.arange(len(known.outcomes))[-MOST_TRIALS:]
    number = min(FOLDS if len(families) < MANY_FAMILIES else FOLDS_OF_MANY, len(families))
    for first in range(number):
        left_out = families[first::number]
        rows = newest[np.isin(known.families[newest], left_out)]
        if len(rows):
            rest = known.without(left_out.tolist())
            features, _ = item_features.item_features(rest, indicators[items])
            whole = _with_width(features, width)
            for outcomes in known.outcomes[rows]:
                cells = np.flatnonzero(~np.isnan(outcomes))
                used = cells[:: -(-len(cells) // MOST_CELLS)]
                yield Trial(features=whole[used], scores=outcomes[used])


def _learnt(trials: Sequence[Trial], layout: Layout) -> tuple[tuple[Coefficients, ...], float]:
    """Return priors and dispersion, each of which needs the other; once around is enough."""
    usual = empirical_bayes.learnt_prior(trials, layout)
    dispersion = predictions.dispersion(_foretold(trials, usual, 1.0))
    if dispersion < 1.0:
        usual = empirical_bayes.learnt_prior(trials, layout, dispersion=dispersion)
        dispersion = predictions.dispersion(_foretold(trials, usual, dispersion))
    return tuple(_widened(usual, layout, by=widening) for widening in WIDENINGS), dispersion


def _unlearnt(history: History, layout: Layout) -> tuple[tuple[Coefficients, ...], float]:
    """Return what is assumed where there are too few models to learn from."""
    mean = np.zeros(layout.free)
    mean[0], mean[1] = special.logit(ItemTally.of(history).smoothed_mean()), 1.0
    deviations = [*WIDE_DEVIATIONS, *[WIDE_GROUP_DEVIATION] * layout.groups]
    prior = Coefficients(mean=mean, covariance=np.diag(np.square(deviations)))
    return (prior,), Constant.fit(history).dispersion


def _some_items(population: int) -> IntArray:
    if population <= MOST_ITEMS:
        return np.arange(population)
    generator = np.random.default_rng(population)
    return np.sort(generator.choice(population, MOST_ITEMS, replace=False))


def _with_width(features: FloatArray, width: int) -> FloatArray:
    """Return the first `width` columns, with columns of 0 where there are fewer."""
    return np.pad(features[:, :width], ((0, 0), (0, max(0, width - features.shape[1]))))


def _widened(prior: Coefficients, layout: Layout, *, by: float) -> Coefficients:
    """Return the prior with the variance of the scale coefficients times `by`."""
    deviations = np.ones(len(prior.mean))
    deviations[: layout.scale] = np.sqrt(by)
    covariance = prior.covariance * np.outer(deviations, deviations)
    return Coefficients(mean=prior.mean, covariance=covariance)


def _foretold(
    trials: Sequence[Trial], prior: Coefficients, dispersion: float
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield scores and predictions, each half of a model's items by what the other half says."""
    for trial in trials:
        for known, hidden in predictions.halves(len(trial.scores)):
            fitted = logistic.posterior(
                trial.features[known], trial.scores[known], prior=prior, dispersion=dispersion
            )
            yield trial.scores[hidden], logistic.predict(trial.features[hidden], fitted)
