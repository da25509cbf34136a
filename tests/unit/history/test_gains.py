from dataclasses import replace

import pytest

from monitor.history import gains
from monitor.history.gains import Gain
from monitor.history.records import Record
from tests.unit.history.recorded import HIT

ONE = replace(HIT, design="stratified", drawn_by="stratified", surrogate="a", explained=0.2)
OTHER = replace(ONE, surrogate="b", exact_variance=0.016, explained=0.1)
ORACLE = replace(ONE, design="stratified_oracle", exact_variance=0.008)


def gain(*records: Record) -> Gain:
    """The gain of the first record's design."""
    return gains.gains(records, level=0.95)[0]


def test_every_pair_counts_once() -> None:
    found = gain(ONE, ONE, replace(OTHER, srs_variance=0.04))
    assert (found.design, found.budget, found.pairs) == ("stratified", "10", 2)
    assert found.ratio == pytest.approx((0.5 + 0.4) / 2)
    assert (found.best, found.worst) == pytest.approx((0.4, 0.5))


def test_what_is_simulated_has_its_error() -> None:
    found = gain(ONE, OTHER)
    # Squared errors .01 over .02 beside .01 and .016.
    assert found.simulated == pytest.approx(0.5)
    assert found.error == pytest.approx(0.15)
    assert gain(ONE).error is None


def test_strata_that_tell_something_stand_apart() -> None:
    found = gain(ONE, OTHER)
    assert found.telling == 1
    assert found.telling_ratio == pytest.approx(0.5)
    assert gain(OTHER).telling_ratio is None


def test_the_oracle_is_that_of_the_same_pairs() -> None:
    unseen = replace(ORACLE, surrogate="c", exact_variance=0.001)
    assert gain(ONE, ORACLE, unseen).over_oracle == pytest.approx(0.5 - 0.4)
    assert gain(ONE, OTHER, ORACLE).over_oracle is None
    assert gain(ONE).over_oracle is None


def test_a_width_is_measured_by_the_exact_variance() -> None:
    assert gain(ONE).width == pytest.approx(0.4 / (2 * 1.959964 * 0.1))
    assert gain(replace(ONE, estimate=None, lower=None, upper=None)).width is None


def test_without_estimates_nothing_is_simulated() -> None:
    found = gain(replace(ONE, estimate=None))
    assert (found.simulated, found.error) == (None, None)
    assert found.ratio == pytest.approx(0.5)


def test_what_has_no_variance_has_no_ratio() -> None:
    census = replace(ONE, drawn_by="census", exact_variance=0.0)
    assert gains.gains([census, replace(ONE, srs_variance=0.0)], level=0.95) == []


@pytest.mark.parametrize(
    ("ratio", "population", "expected"), [(1.0, 500, 0.0), (0.5, 10**9, 0.5), (0.0, 500, 1.0)]
)
def test_saving_without_and_with_all_gain(ratio: float, population: int, expected: float) -> None:
    assert gains.saving(ratio, n=100, population=population) == pytest.approx(expected, abs=1e-6)


def test_saving_brings_the_variance_of_more_plain_draws() -> None:
    fewer = 100 * (1.0 - gains.saving(0.8, n=100, population=500))
    assert 0.8 * (1 / fewer - 1 / 500) == pytest.approx(1 / 100 - 1 / 500)
