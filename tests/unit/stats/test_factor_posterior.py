import numpy as np
import pytest
from scipy import special

from monitor.stats import factor_models
from monitor.stats.answers import Answers
from monitor.stats.factor_models import Factors
from monitor.stats.factor_posterior import FactorPosterior
from monitor.stats.factor_settings import FactorSettings, Validation
from tests.unit.stats import histories

NO_ANSWER = Answers.from_columns(items=[], scores=[])
RNG = np.random.default_rng(0)
FACTORS = Factors.from_arrays(RNG.normal(size=(40, 3)), RNG.normal(size=(60, 3)))


def test_it_starts_from_how_models_are_spread() -> None:
    guide = FactorPosterior.of(FACTORS)
    (prior,) = guide.priors
    assert np.allclose(prior.mean, FACTORS.models.mean(axis=0))
    assert np.allclose(prior.covariance, np.cov(FACTORS.models.T), atol=1e-3)
    assert (guide.features == FACTORS.items).all()


def test_fewer_models_than_factors_will_do() -> None:
    few = Factors.from_arrays(RNG.normal(size=(2, 3)), FACTORS.items)
    assert np.isfinite(FactorPosterior.of(few).predict(NO_ANSWER)).all()


def test_answers_reveal_the_factors() -> None:
    likely = special.expit(FACTORS.items @ np.array([2.0, -2.0, 1.0]))
    answers = Answers.from_columns(items=range(30), scores=likely[:30].tolist())
    predicted = FactorPosterior.of(FACTORS).predict(answers)[30:]
    assert np.corrcoef(predicted, likely[30:])[0, 1] > 0.98


def test_a_small_history_gets_one_constant_factor() -> None:
    assert np.ptp(FactorPosterior.fit(histories.informative()).predict(NO_ANSWER)) == 0.0


def test_a_large_history_gets_the_factors_chosen_by_validation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = FactorSettings(k=3, decay=1.0)
    monkeypatch.setattr("monitor.stats.factor_posterior.FEWEST_FAMILIES", 10)
    monkeypatch.setattr(
        factor_models, "cross_validate", lambda _: (Validation(settings=settings, loss=0.5),)
    )
    monkeypatch.setattr(
        factor_models, "fit", lambda _, chosen: FACTORS if chosen is settings else 0
    )
    guide = FactorPosterior.fit(histories.informative(12, 60))
    assert (guide.features == FACTORS.items).all()
