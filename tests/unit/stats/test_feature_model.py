import numpy as np
import pytest

from monitor.stats.answers import Answers, History
from monitor.stats.feature_model import FeatureModel
from tests.unit.stats import histories

NO_ANSWER = Answers.from_columns(items=[], scores=[])


def test_a_model_is_not_foretold_by_its_own_family() -> None:
    usual, *_ = FeatureModel.fit(histories.noise_in_pairs()).priors
    assert abs(usual.mean[1]) < 0.25


def test_it_knows_what_is_hard() -> None:
    likely = histories.chances(30, 300)
    guide = FeatureModel.fit(History.from_matrix(histories.answered(likely)))
    assert np.corrcoef(guide.predict(NO_ANSWER), likely.mean(axis=0))[0, 1] > 0.9


def test_it_learns_what_sets_a_model_apart() -> None:
    special = (
        np.where(np.arange(300) % 2, 2.0, -2.0)
        * np.where(np.arange(30) % 2, 1.0, -1.0)[:, np.newaxis]
    )
    likely = 1.0 / (1.0 + np.exp(-special))
    guide = FeatureModel.fit(History.from_matrix(histories.answered(likely)))
    answers = Answers.from_columns(items=range(40), scores=[0.0, 1.0] * 20)
    hidden = guide.predict(answers)[40:]
    assert hidden[1::2].mean() - hidden[::2].mean() > 0.6


def test_answers_overrule_a_history_of_other_models() -> None:
    guide = FeatureModel.fit(History.from_matrix(histories.answered(np.full((20, 200), 0.9))))
    wrong = Answers.from_columns(items=range(60), scores=[0.0] * 60)
    assert guide.predict(wrong)[60:].mean() < 0.15


def test_fewer_components_are_the_first_ones() -> None:
    found = FeatureModel.by_components(histories.informative(), [0, 2, 99])
    assert [each.features.shape[1] for each in found.values()] == [3, 5, 11]
    assert (found[99].features[:, :5] == found[2].features).all()


def test_what_items_are_called_does_not_matter() -> None:
    history = histories.informative()
    order = np.random.default_rng(0).permutation(200)
    answers = Answers.from_columns(items=[3, 5, 8], scores=[1.0, 0.0, 1.0])
    renamed = Answers.from_columns(
        items=np.argsort(order)[[3, 5, 8]].tolist(), scores=[1.0, 0.0, 1.0]
    )
    predicted = FeatureModel.fit(history.of_items(order)).predict(renamed)
    assert np.allclose(predicted, FeatureModel.fit(history).predict(answers)[order], atol=1e-6)


@pytest.mark.parametrize("models", [1, 2])
def test_few_models_leave_the_prior_wide(models: int) -> None:
    (prior,) = FeatureModel.fit(histories.informative(models)).priors
    assert prior.covariance[0, 0] == 2.25


def test_dispersion_is_less_for_pass_rates() -> None:
    likely = histories.chances(20, 200)
    rates = np.random.default_rng(2).binomial(4, likely) / 4
    assert FeatureModel.fit(History.from_matrix(rates)).dispersion == pytest.approx(0.25, rel=0.15)


def test_many_cells_are_thinned_evenly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("monitor.stats.feature_model.MOST_CELLS", 50)
    monkeypatch.setattr("monitor.stats.feature_model.MOST_ITEMS", 150)
    thinned, *_ = FeatureModel.fit(histories.informative()).priors
    assert thinned.mean[1] == pytest.approx(1.4, abs=0.5)
