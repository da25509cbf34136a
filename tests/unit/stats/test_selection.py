from functools import cache

import numpy as np
import pytest

from monitor.stats import guides, replays, sampling, selection, weights
from monitor.stats.answers import History
from monitor.stats.replays import Figure
from monitor.stats.selection import Fit
from tests.unit.stats import histories

pytestmark = pytest.mark.slow


@cache
def informative() -> Fit:
    return selection.fit(histories.informative(), seed=0)


def sparse() -> History:
    outcomes = histories.informative().outcomes.copy()
    return History.from_matrix(np.where(np.arange(200) % 6, np.nan, outcomes))


def test_a_history_that_tells_something_is_worth_using() -> None:
    assert informative().is_worth(30)
    assert min(each.ess_ratio for each in informative().figures) > 1.1


def test_a_history_of_noise_is_not() -> None:
    found = selection.fit(histories.noise(), seed=0)
    assert not found.is_worth(30)
    assert max(each.ess_ratio for each in found.figures) < selection.WORTHWHILE


def test_nor_is_one_whose_scores_are_all_equal() -> None:
    found = selection.fit(History.from_matrix(np.ones((6, 100))), seed=0)
    assert not any(found.is_worth(each.n) for each in found.figures)


def test_nor_is_one_too_sparse_to_be_replayed() -> None:
    found = selection.fit(sparse(), seed=0)
    assert found.figures == ()
    assert found.profile is None
    assert not found.is_worth(1000)


def test_without_history_groups_are_learnt() -> None:
    found = selection.fit(History.empty(40), seed=0)
    assert found.guide.name == "item_groups"
    assert not found.is_worth(10)


def test_a_fit_is_repeatable() -> None:
    again = selection.fit(histories.informative(), seed=0)
    assert guides.digest(again.guide) == guides.digest(informative().guide)
    assert again.figures == informative().figures


def test_between_figures_the_ratio_is_interpolated() -> None:
    figures = tuple(
        Figure(n=n, ess_ratio=ratio, error=0.01, share_below=0.0, models=9)
        for n, ratio in ((30, 1.0), (120, 2.0))
    )
    found = Fit(guide=informative().guide, candidate="", profile=None, floor=0.1, figures=figures)
    assert [found.ess_ratio(n) for n in (5, 60, 9000)] == pytest.approx([1.0, 1.5, 2.0])
    assert [found.is_worth(n) for n in (30, 31)] == [False, True]


@pytest.mark.parametrize(("error", "is_worth"), [(0.4, True), (0.6, False), (None, False)])
def test_a_gain_on_few_models_may_be_chance(error: float | None, is_worth: bool) -> None:  # noqa: FBT001 - a case
    figure = Figure(n=30, ess_ratio=1.5, error=error, share_below=0.0, models=3)
    fitted = Fit(
        guide=informative().guide, candidate="", profile=None, floor=0.1, figures=(figure,)
    )
    assert fitted.is_worth(30) is is_worth


def fit(ess_ratio: float, *, floor: float = 0.1) -> Fit:
    figure = Figure(n=30, ess_ratio=ess_ratio, error=0.0, share_below=0.0, models=9)
    return Fit(
        guide=informative().guide, candidate="", profile=None, floor=floor, figures=(figure,)
    )


def test_a_guide_promises_where_it_gains_and_enough_of_either_is_expected() -> None:
    assert fit(2.0).promises(30)
    assert not fit(1.0).promises(30)
    assert fit(1.0).promises(30, is_asked=True)
    assert not fit(2.0).promises(8)
    assert not fit(2.0).promises(30, mean=0.97)


def test_draws_that_are_spread_evenly_see_what_the_pool_holds() -> None:
    failures, successes = fit(2.0, floor=1.0).expected_counts(30)
    assert successes == pytest.approx(30 * fit(2.0).beforehand.mean(), rel=0.02)
    assert failures + successes == pytest.approx(30, rel=0.01)


def test_a_fit_of_some_items_predicts_what_it_did_for_them() -> None:
    items = np.array([7, 3])
    found = fit(2.0).of_items(items).beforehand
    np.testing.assert_allclose(found, fit(2.0).beforehand[items])


def test_another_choice_must_be_clearly_better(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection, "CLEARLY_BETTER", 0.0)
    eager = selection.fit(histories.informative(), seed=0)
    monkeypatch.setattr(selection, "CLEARLY_BETTER", 9.0)
    loyal = selection.fit(histories.informative(), seed=0)
    assert (loyal.candidate, loyal.floor) == (next(iter(selection.CANDIDATES)), sampling.FLOOR)
    assert eager.figures[0].ess_ratio >= 0.99 * loyal.figures[0].ess_ratio


def test_more_components_are_tried_where_there_are_many_models(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("monitor.stats.item_features.MANY_FAMILIES", 12)
    monkeypatch.setattr(selection, "CANDIDATES", {"32 components": 32, "no component": 0})
    monkeypatch.setattr(selection, "CLEARLY_BETTER", 9.0)
    assert selection.fit(histories.informative(), seed=0).candidate == "32 components"


def test_the_profile_makes_the_replays_worth_more() -> None:
    found = informative()
    folds = replays.folds(histories.informative(), seed=1)
    runs = [run for fold in folds for run in fold.replay(found.guide)]
    assert found.profile
    with_it = sum(run.exact_variance(weights.term_weights(50, 200, found.profile)) for run in runs)
    without = sum(run.exact_variance(weights.term_weights(50, 200)) for run in runs)
    assert with_it < without
