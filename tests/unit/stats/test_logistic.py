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


def test_the_evidence_is_the_probability_of_the_answers() -> None:
    prior = Coefficients(mean=np.array([0.5]), covariance=np.array([[0.4]]))
    scores = np.array([1.0, 1.0, 0.0, 1.0])
    found = logistic.posterior(np.ones((4, 1)), scores, prior=prior)
    draws = special.expit(np.random.default_rng(0).normal(0.5, np.sqrt(0.4), 200_000))
    assert found.log_evidence == pytest.approx(np.log(np.mean(draws**3 * (1 - draws))), abs=0.02)


def test_where_the_search_starts_does_not_matter() -> None:
    features = np.column_stack([np.ones(40), np.linspace(-1.0, 1.0, 40)])
    scores = np.linspace(0.0, 1.0, 40)
    here = logistic.posterior(features, scores, prior=PRIOR)
    there = logistic.posterior(features, scores, prior=PRIOR, start=np.array([4.0, -3.0]))
    assert np.allclose(here.mean, there.mean, atol=1e-4)
