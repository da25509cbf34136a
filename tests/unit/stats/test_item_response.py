import numpy as np
import pytest
from scipy import special

from monitor.stats import item_response
from monitor.stats.answers import History
from tests.unit.stats import histories


def test_it_recovers_items_and_models() -> None:
    rng = np.random.default_rng(0)
    easiness, slopes = rng.normal(0.5, 1.5, 400), rng.uniform(0.3, 2.0, 400)
    abilities = rng.normal(size=60)
    likely = special.expit(easiness + slopes * abilities[:, np.newaxis])
    fitted = item_response.fit(History.from_matrix(histories.answered(likely)))
    assert np.corrcoef(fitted.easiness, easiness)[0, 1] > 0.95
    assert np.corrcoef(fitted.discrimination, slopes)[0, 1] > 0.6
    assert np.corrcoef(fitted.abilities, abilities)[0, 1] > 0.97


def test_an_item_is_not_hard_because_only_the_weak_answered_it() -> None:
    likely = histories.chances(60, 200, spread=2.0)
    likely[:, :100] = likely[:, 100:]
    outcomes = histories.answered(likely)
    weak = likely.mean(axis=1) < np.median(likely.mean(axis=1))
    outcomes[~weak, :100] = np.nan
    fitted = item_response.fit(History.from_matrix(outcomes))
    gap = np.nanmean(outcomes[:, 100:]) - np.nanmean(outcomes[:, :100])
    assert gap > 0.2
    assert fitted.easiness[100:].mean() - fitted.easiness[:100].mean() < 0.3


def test_residuals_are_what_is_not_explained() -> None:
    history = histories.informative(20)
    outcomes = history.outcomes.copy()
    outcomes[3, 5] = np.nan
    residuals = item_response.fit(history).residuals(outcomes[2:])
    assert residuals.shape == (18, 200)
    assert residuals[1, 5] == 0.0
    assert abs(residuals.mean()) < 0.02
    assert residuals.var() < outcomes[~np.isnan(outcomes)].var()


@pytest.mark.parametrize("score", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("models", [1, 2, 9])
def test_models_all_alike_do_not_break_the_fit(score: float, models: int) -> None:
    fitted = item_response.fit(History.from_matrix(np.full((models, 30), score)))
    assert np.isfinite(fitted.easiness).all()
    assert np.isfinite(fitted.discrimination).all()
    assert np.isfinite(fitted.abilities).all()


def test_the_newest_models_are_used_where_there_are_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(item_response, "MOST_CELLS", 500)
    monkeypatch.setattr(item_response, "MOST_MODELS", 2)
    history = histories.informative(9, 200)
    assert len(item_response.fit(history).abilities) == 3
