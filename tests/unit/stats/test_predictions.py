import numpy as np
import pytest

from monitor.stats import predictions
from monitor.stats.answers import History
from monitor.stats.arrays import FloatArray, IntArray

HALVES = History.from_matrix(np.array([[0.5, 0.0, np.nan, 0.5, 1.0]]))


def test_predictions_are_never_certain() -> None:
    assert predictions.limited(np.array([0.0, 0.5, 1.0])).tolist() == [0.005, 0.5, 0.995]


def test_dispersion_compares_residuals_with_single_answers() -> None:
    found = predictions.dispersion(HALVES, lambda _, __, hidden: np.full(len(hidden), 0.5))
    assert found == pytest.approx((0.25 + 0.25) / 4 / 0.25)


def test_each_cell_is_predicted_once_without_itself() -> None:
    asked: list[int] = []

    def predict(_: int, known: IntArray, hidden: IntArray) -> FloatArray:
        assert not set(known) & set(hidden)
        asked.extend(hidden.tolist())
        return np.full(len(hidden), 0.5)

    predictions.dispersion(HALVES, predict)
    assert sorted(asked) == [0, 1, 3, 4]


def test_dispersion_is_never_above_one() -> None:
    assert predictions.dispersion(HALVES, lambda _, __, hidden: np.zeros(len(hidden))) == 1.0
