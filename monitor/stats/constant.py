"""The guide for a pool of which nothing is known: one prediction for every item.

It is as good as plain random sampling, and as safe; its interval is that of a guide.
"""

import dataclasses
import math
from collections.abc import Iterator, Mapping
from typing import ClassVar, Final, Self

import numpy as np

from monitor.stats import arrays, predictions
from monitor.stats.answers import Answers, History
from monitor.stats.arrays import FloatArray, IntArray

# A beta distribution this heavy has a standard deviation of .2 in the middle, about that of the
# accuracies of different models on one suite.
HISTORY_WEIGHT: Final = 4.0
# One dispersion is known well enough from so many models.
MOST_MODELS: Final = 200
# Jeffreys' prior, where there is no history.
IGNORANCE: Final = (0.5, 0.5)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Constant:
    """Posterior mean of a beta prior, the same for all `population` items.

    successes, failures: what the prior counts as seen.
    """

    name: ClassVar[str] = "constant"

    population: int
    successes: float
    failures: float
    dispersion: float

    @classmethod
    def fit(cls, history: History) -> Self:
        """Centre the prior on the mean of the history, if there is any."""
        prior = _prior(history)
        return cls(
            population=history.population,
            successes=prior[0],
            failures=prior[1],
            dispersion=predictions.dispersion(_foretold(history, prior)),
        )

    def predict(self, answered: Answers) -> FloatArray:
        """See `Guide.predict`."""
        mean = _mean((self.successes, self.failures), answered.scores)
        return predictions.limited(np.full(self.population, mean))

    def of_items(self, items: IntArray) -> Self:
        """See `Guide.of_items`."""
        return dataclasses.replace(self, population=len(items))

    def columns(self) -> Mapping[str, FloatArray]:
        """See `Guide.columns`."""
        values = [float(self.population), self.successes, self.failures, self.dispersion]
        return {"constant": np.array(values)}

    @classmethod
    def from_columns(cls, columns: Mapping[str, FloatArray]) -> Self:
        """See `Guide.from_columns`."""
        column = arrays.column(columns, "constant", size=4)
        population, successes, failures, dispersion = column.tolist()
        return cls(
            population=int(population),
            successes=successes,
            failures=failures,
            dispersion=dispersion,
        )


def _foretold(
    history: History, prior: tuple[float, float]
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield scores and predictions, each half of a model's items by what the other half says."""
    for outcomes in history.outcomes[-MOST_MODELS:]:
        scores = outcomes[~np.isnan(outcomes)]
        for known, hidden in predictions.halves(len(scores)):
            yield scores[hidden], np.full(len(scores[hidden]), _mean(prior, scores[known]))


def _prior(history: History) -> tuple[float, float]:
    cells = history.outcomes[history.observed]
    if not len(cells):
        return IGNORANCE
    mean = arrays.exact_sum(cells) / len(cells)
    return HISTORY_WEIGHT * mean, HISTORY_WEIGHT * (1.0 - mean)


def _mean(prior: tuple[float, float], scores: FloatArray) -> float:
    successes, failures = prior
    right = math.fsum([successes, *scores.tolist()])
    return right / (successes + failures + len(scores))
