import numpy as np
import pytest

from monitor.domain.plans import Strata
from monitor.engine import strata
from monitor.stats.stratification import Layout
from tests.unit.engine.examples import begun, stratified_policy, surrogate

LAYOUT = Layout.from_columns(labels=[0, 1, 1, 0, 1], draws=[1, 2])
PLAN = begun(policy=stratified_policy(30), signal=surrogate()).plan


def test_a_plan_keeps_plain_numbers() -> None:
    stored = strata.store(LAYOUT)
    assert stored == Strata(labels=(0, 1, 1, 0, 1), draws=(1, 2))
    assert {type(number) for number in (*stored.labels, *stored.draws)} == {int}


def test_a_stored_layout_is_the_layout() -> None:
    again = strata.restore(PLAN)
    assert again is not None
    assert strata.store(again) == PLAN.strata
    assert np.bincount(again.labels).sum() == PLAN.population
    assert strata.restore(begun().plan) is None


@pytest.mark.parametrize("items", [(), (0, 1, 2), (4, 2, 3)])
def test_a_stratum_gives_its_draws(items: tuple[int, ...]) -> None:
    assert not strata.is_exceeded(strata.store(LAYOUT), items)


@pytest.mark.parametrize("items", [(0, 3), (1, 2, 4)])
def test_a_stratum_gives_no_more_than_its_draws(items: tuple[int, ...]) -> None:
    assert strata.is_exceeded(strata.store(LAYOUT), items)
