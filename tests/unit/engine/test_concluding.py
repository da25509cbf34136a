from dataclasses import replace
from statistics import fmean
from typing import Any

import pytest

from monitor.domain.answers import MISSING, WRONG, Answer, Status
from monitor.domain.errors import StateCorrupt
from monitor.domain.policies import AtLeast, Budget, EstimateOnly, NotWorse, Objective, Policy
from monitor.domain.results import (
    Baseline,
    Estimate,
    Findings,
    NoBaseline,
    NoBaselineReason,
    NoEstimate,
    NoEstimateReason,
    Outcome,
    Reason,
    Unreadable,
    Verdict,
)
from monitor.engine import concluding
from monitor.engine.evaluations import Evaluation
from monitor.stats import differences, intervals
from monitor.wire import outcomes, results
from tests.unit.engine.examples import (
    HISTORY,
    POPULATION,
    SURROGATE,
    Reply,
    baseline,
    begun,
    complete,
    in_order,
    interval,
    learnt,
    published_policy,
    replies,
    scores,
    simple_policy,
    stratified_policy,
)

KNOWN = scores()
GUIDED: dict[str, Any] = {}
SIMPLE: dict[str, Any] = {"policy": simple_policy(30)}
CENSUS: dict[str, Any] = {"policy": simple_policy(POPULATION)}
PUBLISHED: dict[str, Any] = {"policy": published_policy(30)}
FLOORED: dict[str, Any] = {"history": learnt(HISTORY.guide, HISTORY.digest, floor=0.25)}
STRATIFIED: dict[str, Any] = {"policy": stratified_policy(30), "signal": SURROGATE}
KINDS = pytest.mark.parametrize(
    "kind",
    [GUIDED, SIMPLE, CENSUS, PUBLISHED, FLOORED, STRATIFIED],
    ids=["guided", "simple", "all", "published", "floored", "stratified"],
)


def every(seventh: float | None) -> Reply:
    """The known answers, but for every seventh question."""
    return replies([seventh if item % 7 == 0 else score for item, score in enumerate(KNOWN)])


def conclude(evaluation: Evaluation) -> Findings:
    return concluding.conclude(evaluation.plan, evaluation.draws, in_order(evaluation))


def findings(reply: Reply = replies(KNOWN), **kind: object) -> Findings:  # noqa: B008 - pure
    return conclude(complete(begun(**kind), reply))


def estimated(reply: Reply = replies(KNOWN), **kind: object) -> Estimate:  # noqa: B008 - pure
    estimate = findings(reply, **kind).estimate
    assert isinstance(estimate, Estimate)
    return estimate


@KINDS
def test_a_replay_agrees_to_the_byte(kind: dict[str, Any]) -> None:
    """The published record alone gives the result again, with the quantile stored in it."""
    end = complete(begun(**kind, baseline=baseline(0.6)), every(None))
    first = conclude(end)
    assert isinstance(first.estimate, Estimate)
    record = outcomes.Outcomes(
        plan=end.plan, draws=end.draws, answers=in_order(end), quantile=first.estimate.quantile
    )
    read = outcomes.decode(outcomes.encode(record, limit=900_000))
    again = concluding.conclude(read.plan, read.draws, read.answers, quantile=read.quantile)
    assert results.statistics_bytes(read.plan, again) == results.statistics_bytes(end.plan, first)


def test_what_the_floor_alone_proves_depends_on_the_floor() -> None:
    """Without a failure the lower bound is that of the floor, and a higher floor proves more."""
    kinds = [
        {"history": learnt(HISTORY.guide, HISTORY.digest, floor=floor)} for floor in (0.1, 0.5)
    ]
    low, high = [estimated(lambda _: 1.0, **kind).interval.lower for kind in kinds]
    assert low < high


def test_the_stored_quantile_is_the_one_that_is_used() -> None:
    end = complete(begun(), replies(KNOWN))
    changed = concluding.conclude(end.plan, end.draws, in_order(end), quantile=9.0).estimate
    assert isinstance(changed, Estimate)
    assert changed.quantile == 9.0
    assert changed.interval.upper - changed.interval.lower > 0.3


@KINDS
def test_the_interval_holds_the_truth_here(kind: dict[str, Any]) -> None:
    found = estimated(**kind)
    assert found.interval.lower <= sum(KNOWN) / POPULATION <= found.interval.upper
    assert found.worst_case == found.interval


def test_a_census_is_exact() -> None:
    found = estimated(**CENSUS)
    assert found.value == found.interval.lower == found.interval.upper == sum(KNOWN) / POPULATION


@KINDS
def test_missing_answers_widen_the_worst_case_and_nothing_narrows(kind: dict[str, Any]) -> None:
    found = estimated(every(None), **kind)
    plain, worst = found.interval, found.worst_case
    assert worst.lower <= plain.lower <= plain.upper <= worst.upper
    assert worst.upper - worst.lower > 0.05
    assert found.worst_lower_shift <= 0.0 <= found.worst_upper_shift


@pytest.mark.parametrize("seventh", [0.0, 1.0])
@KINDS
def test_the_worst_case_holds_whatever_the_missing_answers_are(
    kind: dict[str, Any], seventh: float
) -> None:
    """The same draws with the missing answers filled in: the estimate lies between the shifts."""
    end = complete(begun(**kind), every(None))
    told = tuple(
        replace(each, status=Status.GRADED, score=seventh) if each.score is None else each
        for each in in_order(end)
    )
    blind, filled = conclude(end).estimate, concluding.conclude(end.plan, end.draws, told).estimate
    assert isinstance(blind, Estimate)
    assert isinstance(filled, Estimate)
    shift = filled.value - blind.value
    assert blind.worst_lower_shift - 1e-12 <= shift <= blind.worst_upper_shift + 1e-12


@KINDS
def test_nothing_but_missing_answers_is_a_fault(kind: dict[str, Any]) -> None:
    found = findings(lambda _: None, **kind)
    assert found.estimate == NoEstimate(reason=NoEstimateReason.NO_ANSWERS)
    assert (found.verdict.outcome, found.verdict.reason) == (Outcome.FAULTED, Reason.NO_ANSWERS)
    assert (found.answered, found.missing) == (0, len(complete(begun(**kind), every(None)).draws))


def test_answers_are_counted_by_status() -> None:
    found = findings(every(None))
    missing = found.counts["timeout"]
    assert found.counts == {"graded": 30 - missing, "timeout": missing}
    assert (found.answered, found.missing) == (30 - missing, missing)


@pytest.mark.parametrize("status", sorted(Status))
def test_every_status_is_charged_or_spared(status: Status) -> None:
    """A wrong one counts as an answer with a score, a missing one does not."""
    end = complete(begun(), replies(KNOWN))
    score = None if status in MISSING else 0.0
    first, *rest = in_order(end)
    changed = replace(first, status=status, score=score)
    found = concluding.conclude(end.plan, end.draws, (changed, *rest))
    assert found.missing == (status in MISSING)
    assert status in WRONG | MISSING | {Status.GRADED}


def test_above_the_missing_limit_nothing_is_met() -> None:
    policy = Policy(objective=EstimateOnly(), budget=Budget(count=30))
    assert findings(policy=policy).verdict.outcome is Outcome.MET
    verdict = findings(every(None), policy=policy).verdict
    assert (verdict.outcome, verdict.reason) == (Outcome.INCONCLUSIVE, Reason.TOO_MANY_MISSING)


def test_the_difference_is_that_of_the_estimates_and_names_the_version_before() -> None:
    before = baseline(0.6, worst_lower_shift=-0.01, worst_upper_shift=0.02)
    found = findings(every(None), baseline=before)
    new, difference = found.estimate, found.difference
    assert isinstance(new, Estimate)
    assert difference is not None
    assert difference.value == new.value - 0.6
    assert difference.worst_lower_shift == new.worst_lower_shift - 0.02
    assert difference.worst_upper_shift == new.worst_upper_shift + 0.01
    assert (difference.previous_version, difference.previous_evaluation_id) == ("1", "e1")


def test_strata_are_compared_with_the_version_before_and_blame_no_guide() -> None:
    found = findings(baseline=baseline(0.6), **STRATIFIED)
    new, difference = found.estimate, found.difference
    assert isinstance(new, Estimate)
    assert difference is not None
    assert difference.interval.lower < difference.value < difference.interval.upper
    assert not new.overconfident_guide


def test_an_estimate_from_strata_weighs_each_by_its_size() -> None:
    """Without the signal, by the stored plan alone."""
    end = complete(begun(**STRATIFIED), replies(KNOWN))
    strata = end.plan.strata
    assert strata is not None
    by_stratum: dict[int, list[float]] = {}
    for draw in end.draws:
        by_stratum.setdefault(strata.labels[draw.item], []).append(KNOWN[draw.item])
    expected = sum(strata.labels.count(label) * fmean(drawn) for label, drawn in by_stratum.items())
    found = conclude(end).estimate
    assert isinstance(found, Estimate)
    assert found.value == pytest.approx(expected / POPULATION)


def test_strata_that_are_not_those_of_the_draws_are_refused() -> None:
    end = complete(begun(**STRATIFIED), replies(KNOWN))
    assert end.plan.strata is not None
    labels = end.plan.strata.labels
    plan = replace(end.plan, strata=replace(end.plan.strata, labels=labels[1:] + labels[:1]))
    with pytest.raises(ValueError, match="strata: "):
        concluding.conclude(plan, end.draws, in_order(end))


def measured(known: Estimate | Baseline) -> differences.Measured:
    return differences.Measured(
        value=known.value,
        lower=known.interval.lower,
        upper=known.interval.upper,
        lower_shift=known.worst_lower_shift,
        upper_shift=known.worst_upper_shift,
        worst_lower=known.worst_case.lower,
        worst_upper=known.worst_case.upper,
    )


def test_the_bounds_of_the_difference_come_from_the_bounds_of_both() -> None:
    before = baseline(0.6, worst_case=interval(0.5, 0.7), worst_lower_shift=-0.05)
    found = findings(every(None), baseline=before)
    new, difference = found.estimate, found.difference
    assert isinstance(new, Estimate)
    assert difference is not None
    plain, worst = difference.interval, difference.worst_case
    expected = differences.independent(measured(new), measured(before), population=POPULATION)
    assert (plain.lower, plain.upper) == (expected.lower, expected.upper)
    assert (worst.lower, worst.upper) == (expected.worst_lower, expected.worst_upper)
    assert worst.lower < plain.lower < plain.upper < worst.upper
    assert {plain.level, worst.level} == {0.95}


@pytest.mark.parametrize("reason", NoBaselineReason)
def test_without_a_baseline_there_is_no_difference(reason: NoBaselineReason) -> None:
    assert findings(baseline=NoBaseline(reason=reason)).difference is None


def test_without_an_estimate_there_is_no_difference() -> None:
    found = findings(lambda _: None, baseline=baseline())
    assert found.difference is None


@pytest.mark.parametrize(
    ("objective", "reason"),
    [
        (AtLeast(threshold=0.01), Reason.ABOVE_THRESHOLD),
        (AtLeast(threshold=0.99), Reason.BELOW_THRESHOLD),
        (NotWorse(tolerance=0.9), Reason.NOT_WORSE),
    ],
)
def test_the_objective_of_the_plan_decides(objective: Objective, reason: Reason) -> None:
    policy = Policy(objective=objective, budget=Budget(count=30))
    assert findings(policy=policy, baseline=baseline(0.6)).verdict.reason is reason


def test_an_overconfident_guide_is_told_of() -> None:
    """Predictions of which every third is as wrong as it is sure."""
    end = complete(begun(), replies(KNOWN))
    assert not estimated().overconfident_guide
    misled = {True: (0.02, 0.98), False: (0.98, 0.02)}
    sure = tuple(
        replace(draw, prediction=misled[draw.step % 3 == 0][int(KNOWN[draw.item])])
        for draw in end.draws
    )
    found = concluding.conclude(end.plan, sure, in_order(end)).estimate
    assert isinstance(found, Estimate)
    assert found.overconfident_guide


@pytest.mark.parametrize(
    ("draws", "answers"),
    [
        (slice(29), slice(30)),
        (slice(30), slice(29)),
        (slice(29), slice(29)),
        (slice(0), slice(0)),
        (slice(30), slice(None, None, -1)),
        (slice(None, None, -1), slice(30)),
    ],
)
def test_draws_and_answers_that_do_not_make_up_the_plan_are_refused(
    draws: slice, answers: slice
) -> None:
    end = complete(begun(), replies(KNOWN))
    with pytest.raises(StateCorrupt, match=r"evaluation e2: .* a plan of 30"):
        concluding.conclude(end.plan, end.draws[draws], in_order(end)[answers])


def test_every_refusal_of_an_interval_has_a_reason_of_its_own() -> None:
    assert set(concluding.REFUSALS) == set(intervals.RefusalReason)
    assert len(set(concluding.REFUSALS.values())) == len(intervals.RefusalReason)


@pytest.mark.parametrize("reason", intervals.RefusalReason)
def test_a_refused_interval_leaves_no_estimate(
    reason: intervals.RefusalReason, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> intervals.Refusal:
        return intervals.Refusal(reason=reason)

    monkeypatch.setattr(intervals, "INTERVALS", {"mixed_t": refuse})
    found = findings(baseline=baseline())
    assert found.estimate == NoEstimate(reason=concluding.REFUSALS[reason])
    assert (found.difference, found.verdict.reason) == (None, Reason.NO_ESTIMATE)


CANCELLED = Verdict(outcome=Outcome.CANCELLED, reason=Reason.WITHDRAWN, sentence="Gone.")


def test_a_stopped_evaluation_has_counts_and_no_estimate() -> None:
    answers = (
        Answer(step=0, status=Status.GRADED, score=1.0),
        Answer(step=2, status=Status.TIMEOUT, score=None),
        Answer(step=5, status=Status.REFUSAL, score=0.0),
    )
    found = concluding.stop(CANCELLED, answers)
    assert found.counts == {"graded": 1, "refusal": 1, "timeout": 1}
    assert (found.answered, found.missing) == (2, 1)
    assert found.estimate == NoEstimate(reason=NoEstimateReason.STOPPED)
    assert (found.difference, found.verdict) == (None, CANCELLED)


def unreadable(end: Evaluation, share: float) -> Findings:
    """Findings where the first so many answers read as none."""
    count = round(share * len(end.draws))
    answers = tuple(
        replace(each, status=Status.NO_ANSWER, score=0.0) if each.step < count else each
        for each in in_order(end)
    )
    return concluding.conclude(end.plan, end.draws, answers)


@KINDS
def test_a_change_of_format_is_found_and_told(kind: dict[str, Any]) -> None:
    before = baseline(0.6, unreadable=Unreadable(found=0.0, answers=100.0))
    end = complete(begun(**kind, baseline=before), replies(KNOWN))
    found = unreadable(end, 0.6)
    assert found.doubt is not None
    assert found.doubt.ungraded == {"no_answer": pytest.approx(found.doubt.unreadable.share)}
    assert found.doubt.format_change is not None
    assert "; format change suspected: " in found.verdict.sentence
    assert "format change" not in conclude(end).verdict.sentence


def test_unreadable_answers_weigh_as_they_do_in_the_estimate() -> None:
    end = complete(begun(**STRATIFIED), replies([1.0] * POPULATION))
    found = unreadable(end, 0.5)
    assert isinstance(found.estimate, Estimate)
    assert found.doubt is not None
    assert found.doubt.unreadable.share == pytest.approx(1.0 - found.estimate.value)
    assert found.doubt.unreadable.share != pytest.approx(0.5, abs=1e-3)


def test_doubt_is_looked_for_only_where_the_plan_says_so() -> None:
    """Records from before must replay to the byte."""
    end = complete(begun(), replies(KNOWN))
    old = replace(end.plan, format_level=None)
    assert concluding.conclude(old, end.draws, in_order(end)).doubt is None


def test_where_nothing_came_nothing_is_known_of_its_form() -> None:
    assert findings(lambda _: None).doubt is None
