"""How often a verdict is wrong: whole evaluations of versions whose true difference is known.

NOT_MET says two things. That a version is worse at all is shown by an interval, so it is wrong at
most 2.5 % of the time. That it is worse by more than the tolerance m is shown for a critical one
only; a warning rests on the estimate for that. So a real drop inside the tolerance is warned of up
to as often as a drop of its size is noticed, which is measured here too.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy import special, stats

from monitor.domain.identifiers import digest
from monitor.domain.policies import Budget, Method, NotWorse, Policy
from monitor.domain.results import (
    Baseline,
    Estimate,
    Findings,
    NoBaseline,
    Outcome,
    Severity,
)
from monitor.engine import concluding, evaluations, planning
from monitor.stats import guides
from monitor.stats.answers import History
from monitor.stats.arrays import FloatArray
from tests.unit.engine.examples import (
    FIRST,
    baseline,
    complete,
    in_order,
    learnt,
    replies,
    request,
    suite,
)

POPULATION, DRAWS, RUNS, RUNS_BEYOND = 1000, 100, 150, 40
M = 0.05
WITHIN, BEYOND = (0.0, -M / 2, -M), (-2 * M, -4 * M)
CHURN = 20
ERROR = 0.025
SMALLEST_CHANCE = 1e-3
SUITE = suite(POPULATION)
DESIGNS = pytest.mark.parametrize(
    "method", [Method.SIMPLE, Method.FAQ], ids=["simple", "without_replacement"]
)


def prepare(method: Method, easiness: FloatArray, rng: np.random.Generator) -> planning.PlanRequest:
    """A history of twenty models that find the same items hard."""
    likely = special.expit(rng.normal(0.0, 0.7, (20, 1)) + easiness)
    recorded = History.from_matrix((rng.random(likely.shape) < likely).astype(np.float64))
    guide = guides.GUIDES["item_mean"].fit(recorded)
    policy = Policy(objective=NotWorse(tolerance=M), method=method, budget=Budget(count=DRAWS))
    known = learnt(guide, digest("recorded"))
    return request(suite=SUITE, history=known, policy=policy)


def evaluate(
    asked: planning.PlanRequest, scores: FloatArray, name: str, before: Baseline | NoBaseline
) -> Findings:
    plan, guide = planning.plan(replace(asked, baseline=before))
    assert (plan.inference.design == "simple") == (plan.method is Method.SIMPLE)
    plan = replace(plan, clock_seed=digest(name))
    begun = evaluations.begin(plan, suite=SUITE, guide=guide)
    end = complete(begun, replies(scores.tolist()))
    return concluding.conclude(plan, end.draws, in_order(end))


def as_baseline(found: Findings) -> Baseline:
    estimate = found.estimate
    assert isinstance(estimate, Estimate)
    return baseline(estimate.value, interval=estimate.interval, worst_case=estimate.worst_case)


def changed(scores: FloatArray, by: float, rng: np.random.Generator) -> FloatArray:
    """The next version: its mean differs by exactly so much, and some items change both ways."""
    after, lost = scores.copy(), round(-by * POPULATION) + CHURN
    after[rng.choice(np.flatnonzero(scores == 1.0), lost, replace=False)] = 0.0
    after[rng.choice(np.flatnonzero(scores == 0.0), CHURN, replace=False)] = 1.0
    return after


@cache
def evaluated(method: Method) -> Mapping[float, Sequence[Findings]]:
    """What evaluations found, by the true difference to the version before."""
    rng = np.random.default_rng(7)
    easiness = rng.normal(1.0, 1.5, POPULATION)
    asked = prepare(method, easiness, rng)
    found: dict[float, list[Findings]] = defaultdict(list)
    for run in range(RUNS):
        old = (rng.random(POPULATION) < special.expit(easiness)).astype(np.float64)
        before = as_baseline(evaluate(asked, old, f"{run}", FIRST))
        for by in WITHIN + (BEYOND if run < RUNS_BEYOND else ()):
            new = changed(old, by, rng)
            found[by].append(evaluate(asked, new, f"{run} {by}", before))
    return found


def outcomes(method: Method, by: float) -> Iterator[Outcome]:
    return (found.verdict.outcome for found in evaluated(method)[by])


def assert_at_most(rate: float, hits: int) -> None:
    assert stats.binom.sf(hits - 1, RUNS, rate) > SMALLEST_CHANCE, f"{hits} of {RUNS}"


@DESIGNS
def test_a_version_that_is_not_worse_seldom_pages(method: Method) -> None:
    assert_at_most(ERROR, sum(each is Outcome.NOT_MET for each in outcomes(method, 0.0)))


@DESIGNS
@pytest.mark.parametrize("by", WITHIN)
def test_a_change_within_the_tolerance_is_seldom_critical(method: Method, by: float) -> None:
    critical = [each.verdict.severity is Severity.CRITICAL for each in evaluated(method)[by]]
    assert_at_most(ERROR, sum(critical))


@DESIGNS
@pytest.mark.parametrize("by", [-M / 2, -M])
def test_a_drop_within_the_tolerance_is_warned_of_no_more_often_than_it_is_noticed(
    method: Method, by: float
) -> None:
    """The power of a one-sided test at 2.5 % against a drop of this size."""
    values = [each.difference.value for each in evaluated(method)[by] if each.difference]
    noticed = float(stats.norm.cdf(-by / np.std(values) - stats.norm.isf(ERROR)))
    assert 0.03 < noticed < 0.3
    assert_at_most(noticed, sum(each is Outcome.NOT_MET for each in outcomes(method, by)))


@DESIGNS
def test_a_drop_of_the_whole_tolerance_seldom_passes(method: Method) -> None:
    assert_at_most(ERROR, sum(each is Outcome.MET for each in outcomes(method, -M)))


@DESIGNS
def test_larger_drops_are_found_more_often(method: Method) -> None:
    shares = [
        sum(each is Outcome.NOT_MET for each in outcomes(method, by)) / len(evaluated(method)[by])
        for by in (0.0, -M, *BEYOND)
    ]
    assert shares == sorted(shares)
    assert shares[-1] - shares[0] > 0.5
