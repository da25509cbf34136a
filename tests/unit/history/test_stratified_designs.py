import math
from dataclasses import replace

import numpy as np
import pytest

from monitor.history import stratified_designs, trials
from monitor.history.pools import TargetPool
from monitor.history.records import Record
from monitor.stats import effective, stratification
from tests.unit.history import recorded

SURROGATE = recorded.surrogate()


def records(
    design: str, *budgets: str, runs: int = 1, strata: stratification.Settings | None = None
) -> tuple[Record, ...]:
    seeds = tuple(range(runs))
    trial = recorded.trial(*budgets, design=design, seeds=seeds, surrogate=SURROGATE)
    return trials.run(trial if strata is None else replace(trial, strata=strata))


def variance(design: str, *, strata: stratification.Settings | None = None) -> float:
    (found,) = records(design, "100", strata=strata)
    return found.exact_variance


@pytest.mark.parametrize("design", sorted(stratified_designs.VARIANTS))
def test_estimates_are_right_on_average(design: str) -> None:
    found = records(design, "60", runs=200)
    errors = [each.estimate - each.truth for each in found if each.estimate is not None]
    assert len(errors) == 200
    assert abs(np.mean(errors)) < 3.3 * math.sqrt(found[0].exact_variance / 200)
    # A variance from 200 errors is off by 10 %, three times that is a broken method.
    assert np.mean(np.square(errors)) == pytest.approx(found[0].exact_variance, rel=0.33)
    assert np.mean([each.covers for each in found]) > 0.9


def test_one_stratum_is_plain_sampling() -> None:
    one = stratification.Settings(strata=1)
    (found,) = records("stratified_published", "100", strata=one)
    assert found.exact_variance == pytest.approx(found.srs_variance)
    assert found.explained == pytest.approx(0.0)


def test_two_strata_have_the_variance_of_the_textbook() -> None:
    layout = stratification.Layout.from_columns(labels=[0, 0, 0, 1, 1], draws=[2, 1])
    found = stratified_designs.exact_variance(np.array([0.0, 1.0, 1.0, 0.0, 1.0]), layout)
    # S_h^2 = 1/3 and 1/2: (3/5)^2 (1 - 2/3) (1/3)/2 + (2/5)^2 (1 - 1/2) (1/2)/1.
    assert found == pytest.approx(0.02 + 0.04)


def test_the_surrogate_saves_and_the_oracle_saves_more() -> None:
    plain = effective.srs_variance(recorded.scores()[-1], 100)
    assert variance("stratified") < variance("stratified_published") < 0.9 * plain
    assert variance("stratified_oracle") < variance("stratified_published")
    assert variance("stratified_equal") > variance("stratified_proportional")


def test_the_paper_knows_no_pass_rates() -> None:
    ungraded = replace(SURROGATE, signal=replace(SURROGATE.signal, pass_rate=None))
    for design, is_same in (("stratified_published", True), ("stratified", False)):
        (found,) = trials.run(recorded.trial("100", design=design, surrogate=ungraded))
        assert (found.exact_variance == variance(design)) is is_same


def test_smoothing_and_strata_are_those_asked_for() -> None:
    usual = variance("stratified_published")
    assert variance("stratified_published", strata=stratification.Settings(smoothing=0.01)) != usual
    assert variance("stratified_published", strata=stratification.Settings(strata=2)) != usual


def test_nearly_all_items_are_a_census() -> None:
    by_budget = {each.budget: each for each in records("stratified", "60", "390")}
    assert (by_budget["60"].drawn_by, by_budget["60"].queries) == ("stratified", 60)
    assert (by_budget["390"].drawn_by, by_budget["390"].queries) == ("census", 400)


def test_items_without_outcome_are_in_no_stratum() -> None:
    row = recorded.scores()[-1].copy()
    row[::4] = np.nan
    trial = recorded.trial("50", design="stratified", row=row, surrogate=SURROGATE)
    (found,) = trials.run(trial)
    assert (found.population, found.queries) == (300, 50)
    assert found.estimate is not None


def test_a_record_names_the_surrogate_and_what_it_explains() -> None:
    (found,) = records("stratified", "60")
    assert found.surrogate == "model-3"
    assert found.explained is not None
    assert 0.1 < found.explained < 0.6


def test_surrogates_have_draws_of_their_own() -> None:
    other = replace(SURROGATE, number=1)
    found = [
        trials.run(recorded.trial("60", design="stratified", surrogate=each))[0]
        for each in (SURROGATE, other)
    ]
    assert found[0].exact_variance == found[1].exact_variance
    assert found[0].estimate != found[1].estimate


def test_where_all_scores_are_equal_nothing_is_explained() -> None:
    trial = recorded.trial("60", design="stratified", row=np.ones(400), surrogate=SURROGATE)
    assert stratified_designs.explained(TargetPool.of(trial)) is None


@pytest.mark.parametrize("design", ["stratified", "lure"])
def test_strata_need_a_surrogate(design: str) -> None:
    with pytest.raises(ValueError, match=f"{design}: there is no surrogate"):
        trials.run(recorded.trial("60", design=design))


def test_strata_of_history_need_a_fit() -> None:
    trial = recorded.trial("60", design="stratified_history")
    unlearnt = replace(trial, lesson=replace(trial.lesson, fit=None))
    with pytest.raises(ValueError, match="stratified_history: nothing was fitted"):
        trials.run(unlearnt)
