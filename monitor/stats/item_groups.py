"""The guide for a pool without history: what is learnt of one group's items holds for its others.

Before the first answer it predicts the same for every item, so the draws begin as plain random
sampling; from then on each group goes its own way as far as its answers show it to be different.
"""

import dataclasses
from typing import ClassVar, Final, Self

import numpy as np
from scipy import special

from monitor.stats.answers import History
from monitor.stats.arrays import FloatArray, IntArray
from monitor.stats.constant import Constant
from monitor.stats.item_tally import ItemTally
from monitor.stats.logistic import Coefficients
from monitor.stats.regression import Regression

# Groups differ by a factor of 1.7 in the odds, as those of real suites do, or hardly at all.
GROUP_VARIANCES: Final = (0.3, 0.003)
INTERCEPT_VARIANCE: Final = 1.5**2
# Enough for any suite's categories; more would be single items, of which a group tells nothing.
MOST_GROUPS: Final = 64


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ItemGroups(Regression):
    """Features: 1 and an indicator of each group."""

    name: ClassVar[str] = "item_groups"

    @classmethod
    def fit(cls, history: History) -> Self:
        """Centre the prior on the mean of the history, if there is any."""
        found = indicators(history.groups)
        mean = np.zeros(found.shape[1] + 1)
        mean[0] = special.logit(ItemTally.of(history).smoothed_mean())
        return cls(
            features=np.column_stack([np.ones(history.population), found]),
            priors=tuple(
                Coefficients(
                    mean=mean,
                    covariance=np.diag([INTERCEPT_VARIANCE, *[variance] * found.shape[1]]),
                )
                for variance in GROUP_VARIANCES
            ),
            dispersion=Constant.fit(history).dispersion,
        )


def indicators(groups: IntArray) -> FloatArray:
    """Return a 0/1 column for each of the `MOST_GROUPS` largest groups, none if there is but one.

    Args:
        groups: (N,) labels.
    """
    labels, sizes = np.unique(groups, return_counts=True)
    if len(labels) == 1:
        return np.empty((len(groups), 0))
    largest = labels[np.argsort(-sizes, kind="stable")[:MOST_GROUPS]]
    return np.equal(groups[:, np.newaxis], np.sort(largest)).astype(np.float64)
