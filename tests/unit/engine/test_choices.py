from dataclasses import replace

import pytest

from monitor.engine import choices
from monitor.grading import graders
from monitor.stats import designs, estimators, intervals, stratification
from tests.unit.engine.examples import HISTORY, SUITE, SURROGATE

LAYOUT = stratification.lay_out(SURROGATE.signal, 30)
UNGROUPED = replace(SUITE, items=tuple(replace(item, group=None) for item in SUITE.items))
FIT = replace(HISTORY.fit, floor=0.25)
CHOICES = {
    "census": choices.census(60, ""),
    "plain": choices.plain(SUITE, ""),
    "learning": choices.learning(SUITE, ""),
    "by history": choices.by_history(FIT, ""),
    "published": choices.published(None, 60),
    "stratified": choices.stratified(SURROGATE.signal, LAYOUT, ""),
}


@pytest.mark.parametrize("choice", CHOICES.values(), ids=CHOICES)
def test_every_choice_is_of_the_tables(choice: choices.Choice) -> None:
    assert choice.design in designs.DESIGNS
    assert choice.estimator in estimators.ESTIMATORS
    assert choice.interval in intervals.INTERVALS


@pytest.fixture
def fractional(monkeypatch: pytest.MonkeyPatch) -> None:
    """A grader of the suite whose scores may lie between 0 and 1."""
    changed = replace(graders.GRADERS["exact"], is_binary=False)
    monkeypatch.setitem(graders.GRADERS, "exact", changed)


def test_the_plain_interval_is_the_exact_one_of_0_and_1() -> None:
    assert choices.plain(SUITE, "").interval == "hypergeometric"


@pytest.mark.usefixtures("fractional")
def test_fractional_scores_get_a_bounded_mean_interval() -> None:
    assert choices.plain(SUITE, "").interval == "betting"


@pytest.mark.usefixtures("fractional")
def test_fractional_scores_are_not_learnt_by_groups() -> None:
    assert choices.learning(SUITE, "").guide.name == "constant"


def test_groups_are_learnt_where_there_are_any() -> None:
    assert choices.learning(SUITE, "").guide.name == "item_groups"
    assert choices.learning(UNGROUPED, "").guide.name == "constant"


def test_the_floor_of_a_history_is_kept() -> None:
    assert choices.by_history(FIT, "").floor == choices.published(FIT, 60).floor == 0.25
    assert choices.published(None, 60).floor == 0.1


def test_only_strata_have_a_layout() -> None:
    assert {name for name, choice in CHOICES.items() if choice.layout} == {"stratified"}
