from collections.abc import Iterator

import numpy as np
import pytest
import torch

from monitor.stats import factor_training, factor_validation, tensors
from monitor.stats.answers import History
from monitor.stats.factor_settings import FactorSettings
from monitor.stats.factor_training import Training

CPU = torch.device("cpu")
pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture
def one_thread() -> Iterator[None]:
    with tensors.one_thread():
        yield


RNG_OUTCOMES = (np.random.default_rng(0).random((12, 40)) < 0.7).astype(np.float64)
NOISE = History.from_matrix(RNG_OUTCOMES)


def test_on_noise_the_strongest_decay_wins_at_the_loss_of_ignorance() -> None:
    grid = [FactorSettings(k=4, decay=decay, steps=500) for decay in (0.0, 1.0, 100.0)]
    found = factor_validation.validate(NOISE, grid, device=CPU, seed=0)
    assert found[0].settings.decay == 100.0
    assert found[0].loss == pytest.approx(np.log(2.0), abs=0.01)


def test_a_lost_candidate_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[int] = []
    advance = Training.advance

    def counted(training: Training, count: int) -> None:
        steps.append(count)
        advance(training, count)

    monkeypatch.setattr(Training, "advance", counted)
    grid = [FactorSettings(k=4, decay=decay, steps=5000) for decay in (0.0, 100.0)]
    factor_validation.validate(NOISE, grid, device=CPU, seed=0)
    assert sum(steps) < 2 * factor_validation.FOLDS * 1500


def test_every_cell_is_held_out_once() -> None:
    data = factor_training.observed(NOISE)
    held = [
        set(zip(out.rows.tolist(), out.columns.tolist(), strict=True))
        for _, out in factor_validation.split(data, seed=3)
    ]
    assert len(set.union(*held)) == sum(map(len, held)) == RNG_OUTCOMES.size
    assert {len(each) for each in held} == {RNG_OUTCOMES.size // 5}


def test_of_a_large_history_a_part_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(factor_validation, "FEWEST_ITEMS", 10)
    part = factor_validation.some_of(factor_training.observed(NOISE), 60, seed=0)
    assert part.shape == (6, 10)
    assert len(part.scores) == 60
    assert part.rows.max() == 5
    assert part.columns.max() == 9


def test_a_small_history_is_used_whole() -> None:
    data = factor_training.observed(NOISE)
    part = factor_validation.some_of(data, 480, seed=0)
    assert part.shape == data.shape
    assert np.array_equal(part.columns, data.columns)


def test_models_and_items_without_an_outcome_cost_nothing() -> None:
    outcomes = np.full((50, 60), np.nan)
    outcomes[7:9, [3, 30]] = 1.0
    data = factor_training.observed(History.from_matrix(outcomes))
    part = factor_validation.some_of(data, 4, seed=0)
    assert part.shape == (2, 2)
    assert part.columns.tolist() == [0, 1, 0, 1]


def test_folds_need_outcomes() -> None:
    history = History.from_matrix(np.eye(2)[:, :2])
    with pytest.raises(ValueError, match="4 outcomes; cross-validation needs at least 5"):
        factor_validation.validate(history, [FactorSettings(k=1, decay=1.0)], device=CPU, seed=0)
