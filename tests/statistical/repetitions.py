"""Many evaluations of one target, made once for all tests of a module, and bounds on their counts.

Bounds are exact and one-sided: a test fails where what it saw has a chance below 1 in 1,000 if the
claim holds at its very edge.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from scipy import stats

from benchmarks import recorded_outcomes
from benchmarks.recorded_outcomes import Coverage, Run, Target
from monitor.domain.policies import Budget, Policy
from monitor.domain.results import Estimate

SMALLEST_CHANCE = 1e-3
LOWEST_COVERAGE = 0.94
POLICY = replace(Policy(), budget=Budget(share=0.1))


class Repetitions:
    """Evaluations of a target as a first version, each with clocks of its own."""

    def __init__(self, target: Target, *, runs: int, level: float = POLICY.level) -> None:
        self.target = target
        self._runs = runs
        self._policy = replace(POLICY, level=level)

    @cached_property
    def found(self) -> Sequence[Run]:
        return recorded_outcomes.repeat(self.target, policy=self._policy, runs=self._runs)

    @cached_property
    def coverage(self) -> Coverage:
        return recorded_outcomes.measure(self.target, self.found)

    def followed_by(self, target: Target, *, runs: int) -> Sequence[Run]:
        """Evaluations of a later version, each compared with one of these."""
        return recorded_outcomes.follow(target, policy=self._policy, before=self.found[:runs])


def designs(found: Sequence[Run]) -> set[str]:
    return {run.plan.inference.design for run in found}


def estimates(found: Sequence[Run]) -> Sequence[Estimate]:
    known = [run.findings.estimate for run in found]
    return [each for each in known if isinstance(each, Estimate)]


def narrowest(found: Sequence[Run]) -> float:
    return min(each.interval.upper - each.interval.lower for each in estimates(found))


def assert_covers(found: Coverage, share: float = LOWEST_COVERAGE) -> None:
    """Every evaluation has an interval, and enough of them contain the truth."""
    assert found.unknown == 0
    chance = stats.binom.cdf(found.covered, found.runs, share)
    assert chance > SMALLEST_CHANCE, f"{found.covered} of {found.runs}"


def assert_unbiased(repeated: Repetitions) -> None:
    """The mean of the estimates is the truth, but for its standard error."""
    values = [each.value for each in estimates(repeated.found)]
    assert stats.ttest_1samp(values, repeated.target.truth).pvalue > SMALLEST_CHANCE


def assert_at_most(share: float, count: int, runs: int) -> None:
    assert stats.binom.sf(count - 1, runs, share) > SMALLEST_CHANCE, f"{count} of {runs}"


def assert_worth_more_than_plain(found: Sequence[Coverage]) -> None:
    """Squared errors, over the variance of plain sampling, are too small for a chi-square."""
    scaled = sum(each.squared_errors / each.plain for each in found)
    assert stats.chi2.cdf(scaled, sum(each.known for each in found)) < SMALLEST_CHANCE
