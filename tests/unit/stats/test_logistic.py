import numpy as np
import pytest
from scipy import optimize, special

from monitor.stats import logistic
from monitor.stats.logistic import Coefficients

PRIOR = Coefficients(mean=np.array([0.5, 1.0]), covariance=np.array([[2.0, 0.3], [0.3, 1.0]]))


def test_the_posterior_mode_is_the_optimum() -> None:
    rng = np.random.default_rng(0)
    features = np.column_stack([np.ones(40), rng.normal(size=40)])
    scores = rng.random(40)
    precision = np.linalg.inv(PRIOR.covariance)

    def loss(mean: np.ndarray) -> float:
        centre = features @ mean
        offset = mean - PRIOR.mean
        likelihood = scores @ np.log(special.expit(centre)) + (1 - scores) @ np.log(
            special.expit(-centre)
        )
        return float(0.5 * offset @ precision @ offset - likelihood)

    found = logistic.posterior(features, scores, prior=PRIOR)
    best = optimize.minimize(loss, np.zeros(2), method="BFGS")
    assert np.allclose(found.mean, best.x, atol=1e-4)


def test_the_covariance_is_the_inverse_curvature() -> None:
    features = np.array([[1.0, 2.0], [1.0, -1.0]])
    found = logistic.posterior(features, np.array([1.0, 0.5]), prior=PRIOR)
    chances = special.expit(features @ found.mean)
    curvature = np.linalg.inv(PRIOR.covariance)
    for row, chance in zip(features, chances, strict=True):
        curvature += chance * (1 - chance) * np.outer(row, row)
    assert np.allclose(found.covariance, np.linalg.inv(curvature))


def test_without_answers_the_posterior_is_the_prior() -> None:
    found = logistic.posterior(np.empty((0, 2)), np.empty(0), prior=PRIOR)
    assert np.allclose(found.mean, PRIOR.mean)
    assert np.allclose(found.covariance, PRIOR.covariance)


def test_answers_that_contradict_the_prior_do_not_make_it_diverge() -> None:
    prior = Coefficients(mean=np.array([30.0, 0.0]), covariance=np.diag([1e4, 1.0]))
    features = np.column_stack([np.ones(20), np.zeros(20)])
    found = logistic.posterior(features, np.repeat([0.0, 1.0], 10), prior=prior)
    assert abs(found.mean[0]) < 0.1


def test_predictions_are_averaged_over_the_posterior() -> None:
    spread = Coefficients(mean=np.array([2.0, 0.0]), covariance=np.diag([4.0, 1.0]))
    predicted = logistic.predict(np.array([[1.0, 0.0]]), spread)
    draws = np.random.default_rng(1).normal(2.0, 2.0, 200_000)
    assert predicted[0] == pytest.approx(special.expit(draws).mean(), abs=0.01)
