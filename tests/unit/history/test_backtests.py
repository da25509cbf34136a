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

LEARNT = Lesson(fit=recorded.fit(), factors=None)


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


def by_surrogates(*designs: str, same_prefix: int = 0) -> Backtest:
    """Surrogates are two old models, the newest one, and a file."""
    rows = ((0,), (1,), (15,), ())
    found = tuple(
        replace(recorded.surrogate(), name=str(rows[number]), number=number, rows=rows[number])
        for number in range(len(rows))
    )
    wanted = replace(WANTED, designs=designs, same_prefix=same_prefix)
    return replace(backtest(wanted), surrogates=found)


def test_every_pair_of_target_and_surrogate_has_its_trial() -> None:
    trials = list(backtests.all_trials(by_surrogates("simple", "stratified"), [LEARNT]))
    pairs = {(each.target, each.surrogate.name) for each in trials if each.surrogate is not None}
    assert len(pairs) == 8 * 4 - 1
    assert (15, "(15,)") not in pairs
    assert all((each.surrogate is None) == (each.design == "simple") for each in trials)


def test_names_that_begin_alike_are_apart_where_asked() -> None:
    asked = by_surrogates("stratified", same_prefix=7)
    # model-1, and model-10 to model-15, begin alike.
    assert [each.rows for each in asked.surrogates_of(9)] == [(0,), (1,), (15,), ()]
    assert [each.rows for each in asked.surrogates_of(12)] == [(0,), ()]


def test_only_what_draws_by_history_is_sent_with_a_lesson() -> None:
    asked = by_surrogates("stratified_history", "stratified", "lure")
    (study,) = backtests.studies(asked)
    assert study.wants_fit
    sent = {each.design: each.lesson for each in backtests.all_trials(asked, [LEARNT])}
    assert sent["stratified_history"] is LEARNT
    assert (sent["stratified"].fit, sent["lure"].fit) == (None, None)


def test_first_answers_are_for_targets_alone() -> None:
    first = 1.0 - recorded.scores()
    asked = replace(backtest(), first=first)
    (study,) = backtests.studies(asked)
    np.testing.assert_array_equal(study.outcomes, recorded.scores()[:8])
    trial = next(iter(backtests.all_trials(asked, [LEARNT])))
    np.testing.assert_array_equal(trial.scores, first[trial.target])


def test_incomplete_targets_are_left_out_where_asked() -> None:
    asked = backtest(replace(WANTED, is_complete=True), missing=0.01)
    assert 15 not in asked.targets
    assert "fewer than all outcomes: 'model-15': left out" in backtests.check(asked)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (backtest(replace(WANTED, designs=("lure",))), "--designs lure: name a surrogate"),
        (by_surrogates("simple"), "--surrogate: none of the designs goes by one; these do: lure, "),
        (
            replace(
                by_surrogates("lure", same_prefix=5),
                surrogates=by_surrogates("lure").surrogates[:3],
            ),
            "every target is of the family of every surrogate",
        ),
    ],
)
def test_surrogates_and_designs_must_go_together(asked: Backtest, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        backtests.check(asked)


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
