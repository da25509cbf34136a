import numpy as np
import pytest
from scipy import special

from monitor.stats.answers import Answers, History
from monitor.stats.arrays import FloatArray
from monitor.stats.item_mean import ItemMean
from tests.unit.stats import histories

NO_ANSWER = Answers.from_columns(items=[], scores=[])


def recorded(models: int, items: int, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    """Difficulties (items,) and outcomes (models, items) of an item-response model."""
    rng = np.random.default_rng(seed)
    easiness = rng.normal(0.5, 1.5, items)
    chances = special.expit(rng.normal(0.0, 0.7, (models, 1)) + easiness)
    return easiness, (rng.random((models, items)) < chances).astype(np.float64)


def test_it_recovers_what_is_hard() -> None:
    easiness, outcomes = recorded(40, 300)
    predicted = ItemMean.fit(History.from_matrix(outcomes)).predict(NO_ANSWER)
    assert np.corrcoef(special.logit(predicted), easiness)[0, 1] > 0.9


def test_it_scales_to_the_new_model() -> None:
    easiness, outcomes = recorded(40, 300)
    guide = ItemMean.fit(History.from_matrix(outcomes))
    weak = np.random.default_rng(1).random(300) < special.expit(easiness - 2.0)
    answers = Answers.from_columns(items=range(150), scores=weak[:150].astype(float).tolist())
    hidden = guide.predict(answers)[150:]
    assert hidden.mean() == pytest.approx(weak[150:].mean(), abs=0.08)


def test_few_models_leave_the_prior_wide() -> None:
    _, outcomes = recorded(4, 50)
    assert np.diag(ItemMean.fit(History.from_matrix(outcomes)).priors[0].covariance).tolist() == [
        2.25,
        1.0,
    ]


def test_rows_of_one_family_count_as_one_model() -> None:
    _, outcomes = recorded(8, 50)
    guide = ItemMean.fit(History.from_matrix(outcomes, families=[0] * 8))
    assert guide.priors[0].covariance[0, 0] == 2.25


def test_the_prior_is_wider_than_the_models_scatter() -> None:
    _, outcomes = recorded(60, 400)
    covariance = ItemMean.fit(History.from_matrix(outcomes)).priors[0].covariance
    assert covariance[0, 0] == pytest.approx(2 * 0.7**2 + 0.05, rel=0.5)


def test_a_model_is_not_foretold_by_its_own_family() -> None:
    prior, *_ = ItemMean.fit(histories.noise_in_pairs()).priors
    assert abs(prior.mean[1]) < 0.25


@pytest.mark.parametrize("score", [0.0, 1.0])
def test_models_that_got_everything_alike_do_not_break_the_fit(score: float) -> None:
    guide = ItemMean.fit(History.from_matrix(np.full((6, 20), score)))
    assert np.isfinite(guide.priors[0].covariance).all()
    assert abs(guide.predict(NO_ANSWER)[0] - score) < 0.2


def test_dispersion_is_one_for_single_answers_and_less_for_pass_rates() -> None:
    easiness, outcomes = recorded(20, 200)
    rates = np.random.default_rng(2).binomial(4, special.expit(easiness), (20, 200)) / 4
    assert ItemMean.fit(History.from_matrix(outcomes)).dispersion == 1.0
    assert ItemMean.fit(History.from_matrix(rates)).dispersion == pytest.approx(1 / 4, rel=0.15)
