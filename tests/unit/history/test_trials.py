import math

import numpy as np
import pytest

from monitor.domain.identifiers import Digest, EvaluationId, VariantName, VersionName
from monitor.domain.plans import Plan, Subject
from monitor.domain.policies import Budget, Method, Policy
from monitor.domain.results import Estimate, Findings, NoBaseline, NoBaselineReason
from monitor.engine import planning, rehearsal
from monitor.history import trials
from monitor.history.pools import STRATA, TargetPool, Trial
from monitor.history.records import Record
from monitor.simulation import suites
from monitor.stats import intervals
from tests.unit.history import recorded

pytestmark = pytest.mark.slow

SUITE = suites.recorded_suite([f"item-{column}" for column in range(recorded.ITEMS)])
SUBJECT = Subject(
    evaluation_id=EvaluationId("0123456789abcdef"),
    variant=VariantName("v"),
    version=VersionName("1"),
    suite=SUITE.name,
    suite_digest=SUITE.digest,
    model="model-15",
    event_source="/test",
    event_id="1",
    topic="none",
    partition=0,
    offset=0,
)


def records(trial: Trial) -> dict[str, Record]:
    """Records by budget, of a trial with one seed."""
    return {each.budget: each for each in trials.run(trial)}


@pytest.mark.parametrize(
    ("trial", "drawn_by"),
    [
        (recorded.trial("100"), "without_replacement"),
        (recorded.trial("100", learnt=recorded.fit(ess_ratio=1.0)), "simple"),
        (recorded.trial("8"), "simple"),
        (recorded.trial("390"), "census"),
    ],
    ids=["by the guide", "not worth it", "too few failures expected", "nearly all"],
)
def test_the_runner_does_what_engine_and_planner_do(
    monkeypatch: pytest.MonkeyPatch, trial: Trial, drawn_by: str
) -> None:
    assert trial.lesson.fit is not None
    (n,) = trial.sizes.values()
    request = planning.PlanRequest(
        subject=SUBJECT,
        policy=Policy(budget=Budget(count=n)),
        suite=SUITE,
        history=planning.History(fit=trial.lesson.fit, digest=Digest("0" * 64)),
        baseline=NoBaseline(reason=NoBaselineReason.FIRST_VERSION),
        software="test",
    )
    plan, guide = planning.plan(request)
    bits = np.array(SUITE.clock_bits(plan.clock_seed))
    monkeypatch.setattr(TargetPool, "clock_bits", lambda *_: bits)
    found = rehearsal.rehearse(plan, suite=SUITE, guide=guide, scores=trial.scores.tolist())
    (record,) = trials.run(trial)
    assert record.drawn_by == drawn_by
    assert_agree(record, found, plan)


def test_the_runner_does_what_engine_and_planner_do_with_a_surrogate(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    surrogate = recorded.surrogate()
    request = planning.PlanRequest(
        subject=SUBJECT,
        policy=Policy(budget=Budget(count=100), method=Method.NEYMAN),
        suite=SUITE,
        history=None,
        baseline=NoBaseline(reason=NoBaselineReason.FIRST_VERSION),
        software="test",
        signal=planning.Surrogate(
            signal=surrogate.signal,
            settings=STRATA,
            digest=Digest("0" * 64),
            names=(surrogate.name,),
        ),
    )
    plan, guide = planning.plan(request)
    bits = np.array(SUITE.clock_bits(plan.clock_seed))
    monkeypatch.setattr(TargetPool, "clock_bits", lambda *_: bits)
    trial = recorded.trial("100", design="stratified", surrogate=surrogate)
    found = rehearsal.rehearse(plan, suite=SUITE, guide=guide, scores=trial.scores.tolist())
    (record,) = trials.run(trial)
    assert record.drawn_by == plan.inference.design == "stratified"
    assert_agree(record, found, plan)


def assert_agree(record: Record, found: Findings, plan: Plan) -> None:
    """An evaluation by the engine, and its record in a back-test, are the same to the bit."""
    assert isinstance(found.estimate, Estimate)
    assert (record.guide, record.queries) == (plan.inference.guide, plan.draws)
    assert record.estimate == found.estimate.value
    assert record.lower == found.estimate.interval.lower
    assert record.upper == found.estimate.interval.upper
    assert record.variance == found.estimate.variance


@pytest.mark.parametrize("design", ["simple", "without_replacement"])
def test_fewer_draws_are_the_beginning_of_more(design: str) -> None:
    together = records(recorded.trial("40", "90", "150", design=design))
    for budget, record in together.items():
        alone = records(recorded.trial(budget, design=design))[budget]
        assert record.estimate == pytest.approx(alone.estimate, rel=1e-12)
        assert record.exact_variance == pytest.approx(alone.exact_variance, rel=1e-12)


@pytest.mark.parametrize("design", ["simple", "without_replacement"])
def test_a_seed_gives_the_same_beside_others(design: str) -> None:
    together = trials.run(recorded.trial("40", "90", design=design, seeds=(3, 4, 5)))
    alone = trials.run(recorded.trial("40", "90", design=design, seeds=(4,)))
    assert tuple(each for each in together if each.seed == 4) == alone
    assert len({each.estimate for each in together}) > 3


@pytest.mark.parametrize("design", ["simple", "without_replacement"])
def test_estimates_are_right_on_average(design: str) -> None:
    found = trials.run(recorded.trial("60", design=design, seeds=tuple(range(200))))
    errors = [each.estimate - each.truth for each in found if each.estimate is not None]
    assert len(errors) == 200
    assert abs(np.mean(errors)) < 3.3 * math.sqrt(found[0].exact_variance / 200)
    # A variance from 200 errors is off by 10 %, three times that is a broken method.
    assert np.mean(np.square(errors)) == pytest.approx(found[0].exact_variance, rel=0.33)
    assert np.mean([each.covers for each in found]) > 0.9


def test_missing_outcomes_are_no_part_of_the_pool() -> None:
    row = recorded.scores()[-1].copy()
    row[::4] = np.nan
    record = records(recorded.trial("50", row=row))["50"]
    assert record.population == 300
    assert record.truth == pytest.approx(np.nanmean(row))


def test_budgets_of_more_items_than_there_are_have_no_record() -> None:
    assert set(records(recorded.trial("50", "401"))) == {"50"}


def test_yardsticks_are_those_of_the_known_outcomes() -> None:
    row = recorded.scores()[-1]
    record = records(recorded.trial("50", design="simple"))["50"]
    assert record.srs_variance == pytest.approx(np.var(row, ddof=1) * (1 / 50 - 1 / 400))
    assert record.uniform_variance == pytest.approx(np.mean(row**2) * (1 - 50 / 400) / 50)
    assert record.exact_variance == record.srs_variance


def test_fractional_scores_get_a_guaranteed_interval() -> None:
    row = 0.5 * recorded.scores()[-1] + 0.25
    record = records(recorded.trial("50", design="simple", row=row, is_binary=False))["50"]
    assert record.lower is not None
    assert record.upper is not None
    assert 0.25 < record.lower < record.truth < record.upper < 0.75


def test_no_estimate_has_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    refusal = intervals.Refusal(reason=intervals.RefusalReason.OUTSIDE_RANGE)
    monkeypatch.setattr(intervals, "INTERVALS", {"mixed_t": lambda *_, **__: refusal})
    record = records(recorded.trial("50"))["50"]
    assert (record.estimate, record.lower, record.upper, record.variance) == (None,) * 4
    assert record.reason == "outside_range"
    assert record.exact_variance > 0.0
