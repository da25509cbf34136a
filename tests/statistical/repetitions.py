"""Many evaluations of one target, made once for all tests of a module, and bounds on their counts.

Bounds are exact and one-sided: a test fails where what it saw is less likely than 1 in 1,000 if
the claim holds at its very edge.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from scipy import stats

from benchmarks import recorded_outcomes
from benchmarks.recorded_outcomes import Coverage, Run, Target
from monitor.domain.policies import Budget, Policy
from monitor.domain.results import Baseline, Estimate, Interval

SMALLEST_CHANCE = 1e-3
LOWEST_COVERAGE = 0.94
POLICY = replace(Policy(), budget=Budget(share=0.1))


class Repetitions:
    """Evaluations of a target as a first version."""

    def __init__(self, target: Target, *, runs: int, policy: Policy = POLICY) -> None:
        self.target = target
        self._runs = runs
        self._policy = policy

    @cached_property
    def found(self) -> Sequence[Run]:
        return recorded_outcomes.repeat(self.target, policy=self._policy, runs=self._runs)

    @cached_property
    def coverage(self) -> Coverage:
        return recorded_outcomes.measure(self.target, self.found)

    def followed_by(self, target: Target, *, runs: int) -> Sequence[Run]:
        """Evaluations of a later version, each compared with one of these."""
        before = self.found[:runs]
        return recorded_outcomes.follow(target, policy=self._policy, before=before)

    def designs(self) -> set[str]:
        return {run.plan.inference.design for run in self.found}

    def widths(self) -> Sequence[float]:
        estimates = [run.findings.estimate for run in self.found]
        return [
            each.interval.upper - each.interval.lower
            for each in estimates
            if isinstance(each, Estimate)
        ]


def baseline(value: float) -> Baseline:
    """A version before that was found to have about this accuracy."""
    run = recorded_outcomes.BEFORE
    interval = Interval(lower=value - 0.02, upper=min(1.0, value + 0.02), level=0.95, method="x")
    return Baseline(
        evaluation_id=run,
        version=run,
        value=value,
        interval=interval,
        worst_case=interval,
        worst_lower_shift=0.0,
        worst_upper_shift=0.0,
    )


def assert_covers(found: Coverage) -> None:
    chance = stats.binom.cdf(found.covered, found.known, LOWEST_COVERAGE)
    assert chance > SMALLEST_CHANCE, f"{found.covered} of {found.known}"


def assert_at_most(count: int, runs: int, share: float) -> None:
    assert stats.binom.sf(count - 1, runs, share) > SMALLEST_CHANCE, f"{count} of {runs}"
