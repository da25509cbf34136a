import dataclasses

import numpy as np
import pytest
from scipy import special

from monitor.stats.answers import Answers
from monitor.stats.item_mean import ItemMean
from monitor.stats.logistic import Coefficients

FEATURES = np.column_stack([np.ones(30), np.linspace(-2.0, 2.0, 30)])
NARROW = Coefficients(mean=np.array([0.0, 1.0]), covariance=np.diag([0.01, 0.01]))
FAR = Coefficients(mean=np.array([-3.0, 1.0]), covariance=np.diag([0.01, 0.01]))
GUIDE = ItemMean(features=FEATURES, priors=(NARROW, FAR), dispersion=1.0)
NO_ANSWER = Answers.from_columns(items=[], scores=[])
ALL_WRONG = Answers.from_columns(items=range(30), scores=[0.0] * 30)


def alone(prior: Coefficients) -> ItemMean:
    return dataclasses.replace(GUIDE, priors=(prior,))


def test_before_any_answer_priors_count_alike() -> None:
    mean = (alone(NARROW).predict(NO_ANSWER) + alone(FAR).predict(NO_ANSWER)) / 2
    assert np.allclose(GUIDE.predict(NO_ANSWER), mean)


def test_answers_tell_which_prior_holds() -> None:
    assert np.allclose(GUIDE.predict(ALL_WRONG), alone(FAR).predict(ALL_WRONG), atol=1e-3)


def test_a_sure_prior_is_the_prediction() -> None:
    sure = dataclasses.replace(NARROW, covariance=np.diag([1e-9, 1e-9]))
    assert np.allclose(alone(sure).predict(ALL_WRONG), special.expit(FEATURES[:, 1]), atol=1e-6)


def test_fewer_features_have_the_priors_of_those() -> None:
    level = GUIDE.first_features(1)
    assert level.features.shape == (30, 1)
    assert [each.covariance.shape for each in level.priors] == [(1, 1), (1, 1)]
    assert np.ptp(level.predict(ALL_WRONG)) == 0.0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("features", np.ones(7)),
        ("features", np.empty(0)),
        ("prior_means", np.ones(3)),
        ("prior_means", np.empty(0)),
        ("prior_covariances", np.ones(5)),
    ],
)
def test_columns_that_do_not_fit_are_refused(name: str, value: np.ndarray) -> None:
    with pytest.raises(ValueError, match="values for"):
        ItemMean.from_columns({**GUIDE.columns(), name: value})
