from dataclasses import replace

import numpy as np
import pytest

from monitor.domain.errors import UsageError
from monitor.domain.policies import Budget
from monitor.history import backtests, splits
from monitor.history.backtests import Backtest, Wanted
from monitor.history.lessons import Lesson
from monitor.history.masks import Mask
from monitor.history.splits import SplitKind
from tests.unit.history import recorded

WANTED = Wanted(
    designs=("simple", "without_replacement"),
    budgets={"30": Budget(count=30), "10%": Budget(share=0.1, minimum=1)},
    runs=20,
    seed=7,
)


def backtest(wanted: Wanted = WANTED, *, missing: float = 0.0) -> Backtest:
    outcomes = recorded.scores()
    # The newest model lacks the last of its items.
    outcomes[-1, round(outcomes.shape[1] * (1.0 - missing)) :] = np.nan
    matrix = recorded.matrix(outcomes)
    return Backtest(
        matrix=matrix, split=splits.split(matrix, SplitKind.DATE, seed=0), wanted=wanted
    )


def test_a_fold_learns_from_its_history_alone() -> None:
    (study,) = backtests.studies(backtest())
    np.testing.assert_array_equal(study.outcomes, recorded.scores()[:8])
    assert (study.wants_fit, study.wants_factors) == (True, False)


def test_only_the_history_is_masked() -> None:
    sparse = backtest(replace(WANTED, observed=Mask(full_rows=1, share=0.1)))
    (study,) = backtests.studies(sparse)
    assert 0.1 < (~np.isnan(study.outcomes)).mean() < 0.3
    trials = backtests.all_trials(sparse, [Lesson(fit=None, factors=None)])
    assert not any(np.isnan(each.scores).any() for each in trials)


@pytest.mark.parametrize("design", ["with_replacement", "faq_sequential"])
def test_designs_of_the_paper_want_factors(design: str) -> None:
    (study,) = backtests.studies(backtest(replace(WANTED, designs=(design,))))
    assert (study.wants_fit, study.wants_factors) == (False, True)


def test_every_target_design_and_seed_has_its_trial() -> None:
    trials = list(backtests.all_trials(backtest(), [Lesson(fit=None, factors=None)]))
    asked = [(each.target, each.design, seed) for each in trials for seed in each.seeds]
    assert len(asked) == len(set(asked)) == 8 * 2 * 20
    assert {seed for *_, seed in asked} == set(range(7, 27))
    assert all(each.sizes == {"30": 30, "10%": 40} for each in trials)


@pytest.mark.parametrize(("score", "is_binary"), [(1.0, True), (0.5, False)])
def test_one_fraction_makes_the_file_fractional(score: float, *, is_binary: bool) -> None:
    outcomes = recorded.scores()
    outcomes[0, 0] = score
    matrix = recorded.matrix(outcomes)
    assert replace(backtest(), matrix=matrix).is_binary == is_binary


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (replace(WANTED, designs=("simplest",)), "no design 'simplest'; there are simple, "),
        (replace(WANTED, designs=()), "must name at least one each"),
        (replace(WANTED, budgets={}), "must name at least one each"),
        (replace(WANTED, budgets={"401": Budget(count=401)}), "401 draws, but no target has "),
    ],
)
def test_what_cannot_be_done_is_refused(wanted: Wanted, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        backtests.check(backtest(wanted))


def test_a_target_without_outcomes_is_left_out_and_named() -> None:
    asked = backtest(missing=0.9999)
    assert "fewer than 2 outcomes: 'model-15': left out" in backtests.check(asked)
    assert 15 not in asked.targets


def test_no_target_with_outcomes_is_refused() -> None:
    whole = backtest()
    empty = np.full_like(whole.matrix.outcomes, np.nan)
    with pytest.raises(UsageError, match="no target has 2 outcomes"):
        backtests.check(replace(whole, matrix=recorded.matrix(empty)))


def test_a_target_with_too_few_items_for_a_budget_is_named() -> None:
    (remark,) = backtests.check(backtest(missing=0.91))
    assert remark == "10%: 40 draws are more than the items of 'model-15': left out there"
