from itertools import pairwise

import numpy as np
import pytest

from monitor.stats import replays
from monitor.stats.answers import History
from monitor.stats.constant import Constant
from monitor.stats.rehearsals import Rehearsal
from monitor.stats.replays import Fold
from tests.unit.stats import histories


def replayed(history: History, *, seed: int = 0) -> list[Rehearsal]:
    folds = replays.folds(history, seed=seed)
    return [run for fold in folds for run in fold.replay(Constant.fit(fold.history))]


def left_out(history: History, fold: Fold) -> set[int]:
    return set(history.families.tolist()) - set(fold.history.families.tolist())


def test_no_family_stands_on_both_sides() -> None:
    history = histories.noise_in_pairs(6, 200)
    folds = replays.folds(history, seed=0)
    assert sum(len(fold.cases) for fold in folds) == 12
    assert sorted(family for fold in folds for family in left_out(history, fold)) == list(range(6))
    assert all(len(fold.history.outcomes) < 12 for fold in folds)


def test_models_with_too_few_outcomes_are_not_replayed() -> None:
    outcomes = histories.informative().outcomes.copy()
    outcomes[4, 39:] = np.nan
    history = History.from_matrix(outcomes)
    assert sum(len(fold.cases) for fold in replays.folds(history, seed=0)) == 11


@pytest.mark.parametrize(
    "history",
    [
        History.empty(200),
        histories.informative(1),
        histories.informative(12, 39),
        History.from_matrix(histories.informative(4).outcomes, families=[3] * 4),
    ],
)
def test_nothing_is_replayed_without_others_to_learn_from(history: History) -> None:
    assert replays.folds(history, seed=0) == ()


def test_the_newest_models_are_replayed_on_a_part_of_many_items(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(replays, "MOST_MODELS", 3)
    monkeypatch.setattr(replays, "MOST_ITEMS", 150)
    folds = replays.folds(histories.informative(), seed=0)
    assert {min(left_out(histories.informative(), fold)) for fold in folds} == {9, 10, 11}
    assert [len(fold.cases[0].items) for fold in folds] == [150] * 3


def test_a_case_is_what_the_model_answered() -> None:
    history = histories.informative()
    outcomes = history.outcomes.copy()
    outcomes[11, ::4] = np.nan
    fold, *_ = replays.folds(History.from_matrix(outcomes), seed=0)
    case = fold.cases[-1]
    assert (case.items % 4 != 0).all()
    assert (case.pool.scores == outcomes[11, case.items]).all()


def test_models_with_few_outcomes_are_replayed_at_the_least_size() -> None:
    outcomes = histories.informative(8, 127).outcomes.copy()
    outcomes[:, 64:] = np.nan
    runs = replayed(History.from_matrix(outcomes))
    assert [len(run.items) for run in runs] == [30] * 8
    assert [figure.n for figure in replays.figures(runs)] == [30]


def test_a_constant_guide_is_worth_plain_sampling() -> None:
    for figure in replays.figures(replayed(histories.informative())):
        assert figure.ess_ratio == pytest.approx(1.0, abs=0.01)
        assert figure.models == 12


def test_figures_are_of_rising_size() -> None:
    sizes = [each.n for each in replays.figures(replayed(histories.informative(8, 400)))]
    assert sizes == [30, 40, 60, 100]


def test_the_profile_of_a_constant_guide_hardly_falls() -> None:
    levels = replays.profile(replayed(histories.informative(8, 400))).levels
    assert all(before >= after for before, after in pairwise(levels))
    assert levels[-1] > 0.9 * levels[0]


def test_replays_are_repeatable() -> None:
    history = histories.informative(4)
    same, other = replayed(history), replayed(history, seed=1)
    assert [run.items.tolist() for run in same] == [run.items.tolist() for run in replayed(history)]
    assert [run.items.tolist() for run in same] != [run.items.tolist() for run in other]


def test_the_error_of_a_ratio_is_that_of_other_models() -> None:
    """Close to what replaying a half of the models, or the other, tells."""
    runs = replayed(histories.informative(40))
    (first, *_), (even, *_), (odd, *_) = map(replays.figures, (runs, runs[::2], runs[1::2]))
    assert first.error is not None
    assert abs(even.ess_ratio - odd.ess_ratio) < 4 * 2 * first.error
    assert replays.figures(runs[:1])[0].error is None
