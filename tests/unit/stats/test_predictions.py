import numpy as np
import pytest

from monitor.stats import predictions

SCORES = np.array([0.5, 0.0, 0.5, 1.0])


def test_predictions_are_never_certain() -> None:
    assert predictions.limited(np.array([0.0, 0.5, 1.0])).tolist() == [0.005, 0.5, 0.995]


@pytest.mark.parametrize("mean", [0.1, 0.5, 0.97])
def test_shifted_predictions_have_the_mean_and_keep_their_order(mean: float) -> None:
    shifted = predictions.shifted(np.array([0.1, 0.4, 0.9]), mean)
    assert shifted.mean() == pytest.approx(mean, abs=0.002)
    assert (np.diff(shifted) > 0.0).all()


def test_a_shift_to_certainty_stops_at_the_limits() -> None:
    assert predictions.shifted(np.array([0.1, 0.9]), 1.0).max() <= 0.995


def test_dispersion_compares_residuals_with_single_answers() -> None:
    found = predictions.dispersion([(SCORES, np.full(4, 0.5))])
    assert found == pytest.approx((0.25 + 0.25) / 4 / 0.25)


def test_dispersion_adds_up_all_models() -> None:
    parts = [(SCORES[:3], np.full(3, 0.5)), (SCORES[3:], np.full(1, 0.5))]
    assert predictions.dispersion(parts) == predictions.dispersion([(SCORES, np.full(4, 0.5))])


def test_dispersion_is_never_above_one() -> None:
    assert predictions.dispersion([(SCORES, np.zeros(4))]) == 1.0


@pytest.mark.parametrize("scores", [np.array([0.0, 1.0]), np.empty(0)])
def test_dispersion_of_single_answers_is_one(scores: np.ndarray) -> None:
    assert predictions.dispersion([(scores, np.full(len(scores), 0.5))]) == 1.0


@pytest.mark.parametrize("size", [0, 1, 5])
def test_each_half_is_foretold_by_the_other(size: int) -> None:
    values = np.arange(size)
    hidden = [values[part] for _, part in predictions.halves(size)]
    assert sorted(np.concatenate(hidden)) == values.tolist()
    assert all(not set(values[a]) & set(values[b]) for a, b in predictions.halves(size))
