"""Made-up models whose accuracy is known: from half right to nothing wrong at all."""

from functools import cache

import pytest

from benchmarks import recorded_outcomes
from tests.statistical import repetitions
from tests.statistical.repetitions import Repetitions

RUNS = {0.5: 100, 0.97: 300, 0.995: 100, 1.0: 100}


@cache
def repeated(accuracy: float) -> Repetitions:
    """A first version that nothing is known of, so that history alone chooses its design."""
    return Repetitions(recorded_outcomes.item_response_target(accuracy), runs=RUNS[accuracy])


@pytest.mark.parametrize("accuracy", RUNS)
def test_intervals_cover_the_truth(accuracy: float) -> None:
    found = repeated(accuracy)
    assert found.target.truth == pytest.approx(accuracy, abs=1e-3)
    assert repetitions.designs(found.found) == {"without_replacement"}
    repetitions.assert_covers(found.coverage)


@pytest.mark.parametrize("accuracy", [0.5, 0.97, 0.995])
def test_estimates_are_unbiased(accuracy: float) -> None:
    repetitions.assert_unbiased(repeated(accuracy))


@pytest.mark.parametrize("accuracy", RUNS)
def test_an_interval_is_never_a_point(accuracy: float) -> None:
    # Nine of ten items are not asked, so a percent of the pool is the least that stays open.
    assert repetitions.narrowest(repeated(accuracy).found) > 0.01


def test_few_failures_are_worth_few_degrees_of_freedom() -> None:
    # A dozen failures, and no way to foresee them: a level this strict shows what they weigh.
    target = recorded_outcomes.item_response_target(0.97, earlier=(0.93, 0.99))
    strict = Repetitions(target, runs=600, level=0.99)
    repetitions.assert_covers(strict.coverage, 0.99)


@pytest.mark.parametrize("accuracy", [0.995, 1.0])
def test_where_few_failures_are_expected_most_next_versions_are_drawn_plainly(
    accuracy: float,
) -> None:
    before = repeated(accuracy)
    after = before.followed_by(before.target, runs=100)
    plain = [run for run in after if run.plan.inference.design == "simple"]
    # The others follow an estimate that found more failures than there are.
    assert len(plain) > 90
    assert all("failures expected" in run.plan.reason for run in plain)
    assert repetitions.narrowest(after) > 0.01
    repetitions.assert_covers(recorded_outcomes.measure(before.target, after))


def test_where_enough_failures_are_expected_the_next_version_is_drawn_by_history() -> None:
    before = repeated(0.5)
    after = before.followed_by(before.target, runs=5)
    assert repetitions.designs(after) == {"without_replacement"}
