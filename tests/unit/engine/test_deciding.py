from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, strategies as st

from monitor.domain.identifiers import VersionName
from monitor.domain.policies import AtLeast, EstimateOnly, NotWorse, Objective
from monitor.domain.results import (
    Difference,
    Estimate,
    FormatChange,
    NoBaseline,
    NoBaselineReason,
    NoEstimate,
    NoEstimateReason,
    Outcome,
    Reason,
    Severity,
    Verdict,
)
from monitor.engine import deciding
from monitor.engine.deciding import Evidence
from tests.unit.engine.examples import FIRST, difference, estimate, interval

M = 0.02
NOT_WORSE = NotWorse(tolerance=M)
MET, NOT_MET, INCONCLUSIVE = Outcome.MET, Outcome.NOT_MET, Outcome.INCONCLUSIVE
NO_ESTIMATE = NoEstimate(reason=NoEstimateReason.TOO_FEW_DRAWS)


def decide(
    objective: Objective,
    comparison: Difference | NoBaseline = FIRST,
    *,
    found: Estimate | NoEstimate = estimate(0.8, 0.9),  # noqa: B008 - frozen
    missing_share: float = 0.0,
    answered: int = 100,
    format_change: FormatChange | None = None,
) -> Verdict:
    evidence = Evidence(
        estimate=found,
        comparison=comparison,
        answered=answered,
        missing_share=missing_share,
        missing_limit=0.05,
        format_change=format_change,
    )
    return deciding.decide(objective, evidence)


@pytest.mark.parametrize(
    ("lower", "upper", "value", "outcome", "reason"),
    [
        (-0.01, 0.03, 0.01, MET, Reason.NOT_WORSE),
        (-M, 0.03, 0.005, MET, Reason.NOT_WORSE),
        (-0.0200001, 0.03, 0.005, INCONCLUSIVE, Reason.INTERVAL_TOO_WIDE),
        (-0.018, -0.001, -0.01, MET, Reason.NOT_WORSE),
        (-0.03, -0.001, -0.015, INCONCLUSIVE, Reason.DROP_WITHIN_TOLERANCE),
        (-0.03, -0.001, -M, INCONCLUSIVE, Reason.DROP_WITHIN_TOLERANCE),
        (-0.05, -0.001, -0.0200001, NOT_MET, Reason.WORSE),
        (-0.10, 0.0, -0.05, INCONCLUSIVE, Reason.INTERVAL_TOO_WIDE),
        (-0.10, 0.05, -0.025, INCONCLUSIVE, Reason.INTERVAL_TOO_WIDE),
        (-0.15, -0.05, -0.10, NOT_MET, Reason.WORSE),
    ],
)
def test_not_worse(
    lower: float, upper: float, value: float, outcome: Outcome, reason: Reason
) -> None:
    verdict = decide(NOT_WORSE, difference(lower, upper, value))
    assert (verdict.outcome, verdict.reason) == (outcome, reason)


@pytest.mark.parametrize(
    ("upper", "severity"),
    [(-0.001, Severity.WARNING), (-M, Severity.WARNING), (-0.0200001, Severity.CRITICAL)],
)
def test_a_drop_is_critical_when_all_of_its_interval_exceeds_the_tolerance(
    upper: float, severity: Severity
) -> None:
    assert decide(NOT_WORSE, difference(-0.10, upper, -0.06)).severity is severity


@pytest.mark.parametrize(
    ("lower", "upper", "outcome", "reason"),
    [
        (0.8, 0.9, MET, Reason.ABOVE_THRESHOLD),
        (0.7, 0.8, INCONCLUSIVE, Reason.INTERVAL_TOO_WIDE),
        (0.7, 0.7999999, NOT_MET, Reason.BELOW_THRESHOLD),
    ],
)
def test_at_least(lower: float, upper: float, outcome: Outcome, reason: Reason) -> None:
    verdict = decide(AtLeast(threshold=0.8), found=estimate(lower, upper))
    assert (verdict.outcome, verdict.reason) == (outcome, reason)
    assert (verdict.severity is Severity.CRITICAL) == (outcome is NOT_MET)


@pytest.mark.parametrize("objective", [EstimateOnly(), NOT_WORSE])
def test_an_estimate_is_enough_without_a_demand_and_for_a_first_version(
    objective: Objective,
) -> None:
    verdict = decide(objective, FIRST)
    assert (verdict.outcome, verdict.reason) == (MET, Reason.ESTIMATED)
    assert "85.0%" in verdict.sentence


@pytest.mark.parametrize("reason", sorted(set(NoBaselineReason) - {FIRST.reason}))
def test_a_later_version_without_a_baseline_is_inconclusive(reason: NoBaselineReason) -> None:
    verdict = decide(NOT_WORSE, NoBaseline(reason=reason))
    assert (verdict.outcome, verdict.reason) == (INCONCLUSIVE, Reason.NO_BASELINE)
    assert deciding.NO_BASELINE_TEXT[reason] in verdict.sentence


def test_each_lack_of_a_baseline_has_its_own_text() -> None:
    assert len(set(deciding.NO_BASELINE_TEXT.values())) == len(NoBaselineReason)


@pytest.mark.parametrize("objective", [NOT_WORSE, AtLeast(threshold=0.1), EstimateOnly()])
def test_without_an_interval_nothing_is_met(objective: Objective) -> None:
    verdict = decide(objective, found=NO_ESTIMATE)
    assert (verdict.outcome, verdict.reason) == (INCONCLUSIVE, Reason.NO_ESTIMATE)
    assert "too few draws" in verdict.sentence


@pytest.mark.parametrize("found", [NO_ESTIMATE, estimate(0.8, 0.9)])
def test_without_an_answer_the_evaluation_is_faulted(found: Estimate | NoEstimate) -> None:
    verdict = decide(NOT_WORSE, found=found, answered=0)
    assert (verdict.outcome, verdict.reason) == (Outcome.FAULTED, Reason.NO_ANSWERS)


@pytest.mark.parametrize(
    ("share", "outcome"), [(0.05, MET), (0.0500001, INCONCLUSIVE), (0.9, INCONCLUSIVE)]
)
@pytest.mark.parametrize("objective", [NOT_WORSE, AtLeast(threshold=0.1), EstimateOnly()])
def test_missing_answers_above_the_limit_bar_met(
    objective: Objective, share: float, outcome: Outcome
) -> None:
    verdict = decide(objective, difference(0.0, 0.1, 0.05), missing_share=share)
    assert verdict.outcome is outcome
    assert (verdict.reason is Reason.TOO_MANY_MISSING) == (outcome is INCONCLUSIVE)


def test_missing_answers_bar_nothing_but_met() -> None:
    worse, wide = difference(-0.2, -0.1, -0.15), difference(-0.2, 0.2, 0.0)
    assert decide(NOT_WORSE, worse, missing_share=0.9) == decide(NOT_WORSE, worse)
    assert decide(NOT_WORSE, wide, missing_share=0.9) == decide(NOT_WORSE, wide)


@pytest.mark.parametrize(
    ("worst", "plain", "outcome"),
    [
        ((-0.03, 0.05), (-0.01, 0.04), INCONCLUSIVE),
        ((-0.15, 0.01), (-0.14, -0.05), INCONCLUSIVE),
    ],
)
def test_a_difference_is_judged_by_its_worst_case(
    worst: tuple[float, float], plain: tuple[float, float], outcome: Outcome
) -> None:
    comparison = difference(*worst, sum(plain) / 2, interval=interval(*plain))
    assert decide(NOT_WORSE, comparison).outcome is outcome


def test_the_estimate_of_a_drop_is_judged_by_its_worst_case() -> None:
    spared = difference(-0.09, -0.001, -0.03, worst_upper_shift=0.015)
    assert decide(NOT_WORSE, spared).reason is Reason.DROP_WITHIN_TOLERANCE


@pytest.mark.parametrize("worst", [(0.79, 0.95), (0.65, 0.81)])
def test_a_threshold_is_judged_by_the_worst_case(worst: tuple[float, float]) -> None:
    for plain in [(0.81, 0.90), (0.70, 0.79)]:
        found = estimate(*worst, interval=interval(*plain))
        assert decide(AtLeast(threshold=0.8), found=found).outcome is INCONCLUSIVE


shares = st.floats(0, 1)
bounds = st.tuples(st.floats(-1, 1), st.floats(-1, 1)).map(sorted)
comparisons = st.builds(
    lambda ends, value, shift: difference(ends[0], ends[1], value, worst_upper_shift=shift),
    bounds,
    st.floats(-1, 1),
    shares,
) | st.builds(NoBaseline, reason=st.sampled_from(NoBaselineReason))
objectives = (
    st.builds(NotWorse, tolerance=st.floats(0.001, 0.2))
    | st.builds(AtLeast, threshold=shares)
    | st.just(EstimateOnly())
)


@given(objectives, comparisons, shares, st.integers(0, 3))
def test_met_needs_an_interval(
    objective: Objective, comparison: Difference | NoBaseline, share: float, answered: int
) -> None:
    verdict = decide(
        objective, comparison, found=NO_ESTIMATE, missing_share=share, answered=answered
    )
    assert verdict.outcome in {INCONCLUSIVE, Outcome.FAULTED}


@given(st.floats(0.001, 0.2), st.floats(-1, 1), shares, st.floats(-1, 1), shares)
def test_no_drop_is_claimed_that_the_interval_does_not_show(
    tolerance: float, lower: float, upper: float, value: float, share: float
) -> None:
    comparison = difference(min(lower, upper), upper, value)
    verdict = decide(NotWorse(tolerance=tolerance), comparison, missing_share=share)
    assert verdict.outcome is not NOT_MET


@given(st.floats(0.001, 0.2), bounds, shares)
def test_a_change_within_the_tolerance_is_never_not_met(
    tolerance: float, ends: list[float], share: float
) -> None:
    comparison = difference(ends[0], ends[1], -tolerance * share)
    assert decide(NotWorse(tolerance=tolerance), comparison).outcome is not NOT_MET


@given(objectives, comparisons)
def test_whoever_is_paged_learns_how_loudly_and_why(
    objective: Objective, comparison: Difference | NoBaseline
) -> None:
    verdict = decide(objective, comparison)
    assert (verdict.severity is not None) == (verdict.outcome is NOT_MET)
    assert verdict.sentence.endswith(".")


CHANGE = FormatChange(
    share=0.24, previous_share=0.02, previous_version=VersionName("1"), p_value=1e-6
)


@pytest.mark.parametrize(
    "seen",
    [
        {"comparison": difference(-0.15, -0.05, -0.10)},
        {"comparison": difference(-0.01, 0.03, 0.01)},
        {"answered": 0},
        {"found": NO_ESTIMATE},
        {"missing_share": 0.5},
    ],
    ids=["worse", "not worse", "no answer", "no estimate", "missing"],
)
def test_a_change_of_format_is_told_of_beside_the_verdict(seen: dict[str, Any]) -> None:
    plain, told = (decide(NOT_WORSE, **seen, format_change=each) for each in (None, CHANGE))
    assert replace(told, sentence=plain.sentence) == plain
    assert told.sentence == (
        f"{plain.sentence[:-1]}; format change suspected: 24.0% of the answers could not be read "
        "as answers, 2.0% of those of 1."
    )
