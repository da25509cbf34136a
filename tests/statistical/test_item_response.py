"""Made-up models whose accuracy is known: from half right to nothing wrong at all."""

from functools import cache

import pytest

from benchmarks import recorded_outcomes
from tests.statistical import repetitions
from tests.statistical.repetitions import Repetitions

RUNS = {0.5: 100, 0.97: 500, 0.995: 100, 1.0: 100}


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


@pytest.mark.parametrize("accuracy", RUNS)
def test_an_interval_is_never_a_point(accuracy: float) -> None:
    # Nine of ten items are not asked, so a percent of the pool is the least that stays open.
    assert min(repetitions.widths(repeated(accuracy).found)) > 0.01


@pytest.mark.parametrize("accuracy", [0.995, 1.0])
def test_where_few_failures_are_expected_the_next_version_is_drawn_plainly(accuracy: float) -> None:
    before = repeated(accuracy)
    after = before.followed_by(before.target, runs=100)
    assert repetitions.designs(after) == {"simple"}
    assert all("failures expected" in run.plan.reason for run in after)
    assert min(repetitions.widths(after)) > 0.01
    repetitions.assert_covers(recorded_outcomes.measure(before.target, after))


def test_where_enough_failures_are_expected_the_next_version_is_drawn_by_history() -> None:
    before = repeated(0.5)
    after = before.followed_by(before.target, runs=5)
    assert repetitions.designs(after) == {"without_replacement"}
