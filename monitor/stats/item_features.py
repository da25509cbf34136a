"""What a history tells of each item, as the features of a regression.

Columns: 1, easiness and discrimination of the item-response model, an indicator of each item
group, the principal components of what the model leaves unexplained, strongest first.
"""

from typing import Final

import numpy as np

from monitor.stats import item_response
from monitor.stats.answers import History
from monitor.stats.arrays import FloatArray
from monitor.stats.empirical_bayes import Layout
from monitor.stats.principal_components import PrincipalComponents

USUAL_COMPONENTS: Final = 8
# Many models tell more components apart.
MANY_COMPONENTS: Final = 32
MANY_FAMILIES: Final = 200
# Fewer models than that tell nothing of how models differ.
FEWEST_FAMILIES: Final = 3
# The newest models are enough to find the strongest components.
MOST_ROWS: Final = 500
SMALLEST_DEVIATION: Final = 1e-9


def item_features(history: History, indicators: FloatArray) -> tuple[FloatArray, Layout]:
    """Return the features, (N, d), and which columns are which.

    Args:
        history: what is known of the items.
        indicators: (N, g) of the item groups.
    """
    parameters, components = _learnt(history)
    features = np.column_stack(
        [np.ones(history.population), parameters, indicators, components.scores]
    )
    return features, Layout(
        scale=1 + parameters.shape[1],
        groups=indicators.shape[1],
        ratios=tuple(components.ratios.tolist()),
    )


def _learnt(history: History) -> tuple[FloatArray, PrincipalComponents]:
    if not len(history.outcomes):
        empty = np.empty((0, history.population))
        return np.zeros((history.population, 2)), PrincipalComponents.of(empty, most=0)
    response = item_response.fit(history)
    parameters = np.column_stack(
        [standardised(response.easiness), standardised(response.discrimination)]
    )
    rows = min(MOST_ROWS, len(response.abilities))
    residuals = response.residuals(history.outcomes[-rows:])
    return parameters, PrincipalComponents.of(residuals, most=_most_components(history))


def _most_components(history: History) -> int:
    families = len(np.unique(history.families))
    if families < FEWEST_FAMILIES:
        return 0
    return min(USUAL_COMPONENTS, families - 2) if families < MANY_FAMILIES else MANY_COMPONENTS


def standardised(values: FloatArray) -> FloatArray:
    """Return the values with mean 0 and deviation 1; all 0 where they are equal."""
    deviation = float(values.std())
    if deviation < SMALLEST_DEVIATION:
        return np.zeros_like(values)
    return np.asarray((values - values.mean()) / deviation)
