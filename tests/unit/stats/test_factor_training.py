from collections.abc import Sequence

import numpy as np
import pytest
import torch
from scipy import special

from monitor.stats import factor_training
from monitor.stats.answers import History
from monitor.stats.arrays import FloatArray
from monitor.stats.factor_settings import FactorArray, FactorSettings
from monitor.stats.factor_training import Cells, Training

SETTINGS = FactorSettings(k=3, decay=0.7)
CPU = torch.device("cpu")


def cells(observed: float = 0.6) -> Cells:
    """Fractional scores, some of them missing."""
    rng = np.random.default_rng(0)
    outcomes = np.where(rng.random((7, 11)) < observed, rng.random((7, 11)), np.nan)
    return factor_training.observed(History.from_matrix(outcomes))


def stepped(start: Sequence[FactorArray], data: Cells, *, steps: int) -> list[FloatArray]:
    """AdamW on the mean log-loss, written out (Loshchilov and Hutter 2019, algorithm 2)."""
    factors = [each.astype(np.float64) for each in start]
    firsts, seconds = ([np.zeros_like(each) for each in factors] for _ in range(2))
    for step in range(1, steps + 1):
        slopes = np.zeros(data.shape)
        logits = factors[0] @ factors[1].T
        slopes[data.rows, data.columns] = special.expit(logits)[data.rows, data.columns]
        slopes[data.rows, data.columns] -= data.scores
        slopes /= len(data.scores)
        for each, slope in enumerate((slopes @ factors[1], slopes.T @ factors[0])):
            firsts[each] = 0.9 * firsts[each] + 0.1 * slope
            seconds[each] = 0.999 * seconds[each] + 0.001 * slope**2
            change = firsts[each] / (1 - 0.9**step)
            change /= np.sqrt(seconds[each] / (1 - 0.999**step)) + 1e-8
            factors[each] *= 1 - SETTINGS.learning_rate * SETTINGS.decay
            factors[each] -= SETTINGS.learning_rate * change
    return factors


@pytest.mark.parametrize("dense", [0.0, 1.0])
def test_it_is_adamw_on_the_masked_likelihood(
    dense: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(factor_training, "DENSE", dense)
    training = Training(cells(), SETTINGS, device=CPU)
    start = [each.copy() for each in training.factors()]
    training.advance(50)
    for found, expected in zip(training.factors(), stepped(start, cells(), steps=50), strict=True):
        assert np.allclose(found, expected, atol=2e-4)


def test_the_start_is_standard_normal() -> None:
    data = Cells(
        rows=np.zeros(1, dtype=np.int64),
        columns=np.zeros(1, dtype=np.int64),
        scores=np.ones(1),
        shape=(2000, 2000),
    )
    models, items = Training(data, SETTINGS, device=CPU).factors()
    assert abs(np.concatenate((models, items)).std() - 1.0) < 0.02
    assert not np.array_equal(models, items)


def test_the_loss_is_the_mean_over_cells() -> None:
    training = Training(cells(), SETTINGS, device=CPU)
    models, items = training.factors()
    held = cells(0.3)
    p = special.expit((models @ items.T).astype(np.float64))[held.rows, held.columns]
    z = held.scores
    expected = -np.mean(z * np.log(p) + (1.0 - z) * np.log1p(-p))
    assert training.loss(held) == pytest.approx(expected, rel=1e-5)


def test_observed_cells_come_in_row_order() -> None:
    found = factor_training.observed(History.from_matrix([[np.nan, 0.5], [1.0, 0.0]]))  # type: ignore[arg-type]
    assert found.rows.tolist() == [0, 1, 1]
    assert found.columns.tolist() == [1, 0, 1]
    assert found.scores.tolist() == [0.5, 1.0, 0.0]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("observed", [0.1, 0.9])
def test_a_gpu_fits_the_same_factors(observed: float) -> None:
    fits = [Training(cells(observed), SETTINGS, device=torch.device(at)) for at in ("cpu", "cuda")]
    for fit in fits:
        fit.advance(100)
    for here, there in zip(*(fit.factors() for fit in fits), strict=True):
        assert np.allclose(here, there, atol=1e-3)
