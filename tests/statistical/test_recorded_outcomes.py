"""The method on real models: what it promises holds where nothing was made up to suit it."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from benchmarks import recorded_outcomes
from benchmarks.recorded_outcomes import Target
from monitor.domain.results import Severity
from monitor.history import outcomes
from tests.statistical import repetitions
from tests.statistical.repetitions import Repetitions

# Each with the models of its maker, which its history must do without.
FAMILIES = {
    "gpt-4o-2024-05-13": ("gpt-*",),
    "gpt-4o-2024-08-06": ("gpt-*",),
    "claude-3-5-sonnet-20240620": ("claude-*",),
    "mistral-large-2407": ("*mistral*", "*mixtral*"),
}
TARGETS = {
    "gpt-4o-2024-05-13": 0.790,
    "claude-3-5-sonnet-20240620": 0.905,
    "mistral-large-2407": 0.315,
}
OLD, NEW = "gpt-4o-2024-05-13", "gpt-4o-2024-08-06"
RUNS = 300


class Recorded:
    """Recorded models as targets, and their evaluations."""

    def __init__(self, file: Path) -> None:
        self._matrix = outcomes.read_outcomes(file)
        self.repetitions = cache(lambda model: Repetitions(self.target(model), runs=RUNS))

    def target(self, model: str) -> Target:
        return recorded_outcomes.recorded_target(self._matrix, model, exclude=FAMILIES[model])


@pytest.fixture(scope="module")
def recorded(shared_data: Path) -> Recorded:
    return Recorded(shared_data / "outcomes" / "bfcl_v1.npz")


@pytest.mark.parametrize("model", TARGETS)
def test_intervals_cover_the_truth(recorded: Recorded, model: str) -> None:
    repeated = recorded.repetitions(model)
    assert round(repeated.target.truth, 3) == TARGETS[model]
    assert repetitions.designs(repeated.found) == {"without_replacement"}
    repetitions.assert_covers(repeated.coverage)


@pytest.mark.parametrize("model", TARGETS)
def test_estimates_are_unbiased(recorded: Recorded, model: str) -> None:
    repetitions.assert_unbiased(recorded.repetitions(model))


def test_intervals_cover_the_truth_without_history(recorded: Recorded) -> None:
    target = replace(recorded.target(OLD), history=None)
    repeated = Repetitions(target, runs=RUNS)
    assert repetitions.designs(repeated.found) == {"simple"}
    repetitions.assert_covers(repeated.coverage)


def test_history_makes_draws_worth_more(recorded: Recorded) -> None:
    found = [recorded.repetitions(model).coverage for model in TARGETS]
    repetitions.assert_worth_more_than_plain(found)


@pytest.mark.parametrize("model", TARGETS)
def test_a_version_is_seldom_called_worse_than_itself(recorded: Recorded, model: str) -> None:
    repeated = recorded.repetitions(model)
    after = repeated.followed_by(repeated.target, runs=150)
    repetitions.assert_at_most(0.025, recorded_outcomes.count_alarms(after), len(after))


def test_a_version_that_fell_apart_is_found_out_every_time(recorded: Recorded) -> None:
    after = recorded.repetitions(OLD).followed_by(recorded.target(NEW), runs=50)
    assert recorded_outcomes.count_alarms(after) == 50
    assert {run.findings.verdict.severity for run in after} == {Severity.CRITICAL}
