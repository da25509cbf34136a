"""What all guides share: the limits of a prediction, and how far scores scatter around it."""

from collections.abc import Callable
from typing import Final

import numpy as np

from monitor.stats import arrays
from monitor.stats.answers import History
from monitor.stats.arrays import FloatArray, IntArray

LIMITS: Final = (0.005, 0.995)


def limited(predictions: FloatArray) -> FloatArray:
    """Return predictions no surer than `LIMITS`, so that no error is impossible."""
    return np.clip(predictions, *LIMITS)


def dispersion(history: History, predict: Callable[[int, IntArray, IntArray], FloatArray]) -> float:
    """Return how far scores scatter, over what 0/1 scores would: at most 1, 1 for 0/1 scores.

    The sum of squared residuals of the historical models over the sum of p (1 - p), each half of
    a model's cells predicted from the other half, so that no residual saw its own outcome.

    Args:
        history: outcomes of other models.
        predict: (row, cells to learn from, cells to predict) -> predictions; the guide, fitted
            without that row's family.
    """
    if history.is_binary:
        return 1.0
    squares, products = 0.0, 0.0
    for row, outcomes in enumerate(history.outcomes):
        cells = np.flatnonzero(~np.isnan(outcomes))
        for known, hidden in ((cells[::2], cells[1::2]), (cells[1::2], cells[::2])):
            predicted = limited(predict(row, known, hidden))
            squares += arrays.exact_sum((outcomes[hidden] - predicted) ** 2)
            products += arrays.exact_sum(predicted * (1.0 - predicted))
    low, _ = LIMITS
    return min(max(squares / products, low), 1.0)
