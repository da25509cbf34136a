import numpy as np
import pytest
from scipy import special

from monitor.stats import empirical_bayes
from monitor.stats.arrays import FloatArray
from monitor.stats.empirical_bayes import Layout, Trial

LAYOUT = Layout(scale=3, groups=2, ratios=(1.0, 0.5))
WIDTH = 7


def trials(coefficients: FloatArray, *, cells: int = 1000) -> list[Trial]:
    rng = np.random.default_rng(0)
    found = []
    for each in coefficients:
        features = np.column_stack([np.ones(cells), rng.normal(size=(cells, WIDTH - 1))])
        likely = special.expit(features @ each)
        scores = (rng.random(cells) < likely).astype(np.float64)
        found.append(Trial(features=features, scores=scores))
    return found


def test_it_recovers_how_coefficients_are_spread() -> None:
    deviations = np.array([1.0, 0.5, 0.3, 0.3, 0.3, 0.6, 0.1])
    means = np.array([-0.5, 1.5, 0.0, 0.4, 0.0, 0.0, 0.0])
    drawn = means + np.random.default_rng(1).normal(size=(60, WIDTH)) * deviations
    prior = empirical_bayes.learnt_prior(trials(drawn), LAYOUT)
    assert np.allclose(prior.mean, means, atol=0.3)
    assert np.allclose(np.sqrt(np.diag(prior.covariance)), deviations, rtol=0.35)


def test_components_have_no_mean_and_no_covariance() -> None:
    prior = empirical_bayes.learnt_prior(trials(np.ones((6, WIDTH)), cells=80), LAYOUT)
    assert prior.mean[5:].tolist() == [0.0, 0.0]
    assert (prior.covariance[:5, 5:] == 0.0).all()
    assert prior.covariance[5, 6] == 0.0


@pytest.mark.parametrize("count", [1, 3])
def test_few_models_leave_it_near_its_target(count: int) -> None:
    prior = empirical_bayes.learnt_prior(trials(np.zeros((count, WIDTH))), LAYOUT)
    assert prior.covariance[0, 0] > 0.25
    assert (np.linalg.eigvalsh(prior.covariance) > 0.0).all()


def test_there_may_be_neither_groups_nor_components() -> None:
    layout = Layout(scale=WIDTH, groups=0, ratios=())
    with pytest.raises(ValueError, match="shape"):
        empirical_bayes.learnt_prior(trials(np.zeros((4, WIDTH))), layout)
    bare = [
        Trial(features=each.features[:, :3], scores=each.scores)
        for each in trials(np.zeros((4, WIDTH)))
    ]
    found = empirical_bayes.learnt_prior(bare, Layout(scale=3, groups=0, ratios=()))
    assert found.covariance.shape == (3, 3)


def test_what_few_answers_leave_open_counts_as_spread() -> None:
    layout = Layout(scale=3, groups=0, ratios=())
    drawn = np.zeros((150, WIDTH))
    drawn[:, 0] = np.random.default_rng(1).normal(0.0, 1.0, 150)
    few = [
        Trial(features=each.features[:, :3], scores=each.scores) for each in trials(drawn, cells=20)
    ]
    prior = empirical_bayes.learnt_prior(few, layout)
    assert prior.covariance[0, 0] == pytest.approx(1.0, rel=0.25)
