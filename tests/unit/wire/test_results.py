import json
from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from monitor.domain.errors import StateCorrupt, StateTooNew
from monitor.domain.identifiers import canonical_json
from monitor.domain.plans import Plan
from monitor.domain.results import (
    Baseline,
    Estimate,
    Findings,
    NoEstimate,
    NoEstimateReason,
    Unreadable,
)
from monitor.wire import records, results
from tests.unit.wire import examples

STATISTICS = results.statistics_bytes(examples.PLAN, examples.FINDINGS)


def published(statistics: bytes = STATISTICS) -> bytes:
    return results.encode(
        statistics, spend=examples.SPEND, times=examples.TIMES, source="/variant-monitor"
    )


def test_findings_spend_and_times_come_back() -> None:
    result = results.decode(published())
    assert result.findings() == examples.FINDINGS
    assert result.data.spend == examples.SPEND
    assert result.data.times == examples.TIMES


def test_what_judges_did_comes_back_and_is_left_out_where_there_are_none() -> None:
    result = results.encode(
        STATISTICS,
        spend=examples.SPEND,
        times=examples.TIMES,
        source="/variant-monitor",
        judging=examples.JUDGING,
    )
    assert results.decode(result).data.judging == examples.JUDGING
    assert b"judging" not in published()


def test_what_else_was_bought_has_its_own_lines() -> None:
    result = results.encode(
        STATISTICS, spend=examples.JUDGED_SPEND, times=examples.TIMES, source="/variant-monitor"
    )
    assert results.decode(result).data.spend == examples.JUDGED_SPEND
    assert b"others" not in published()


@given(examples.plans(), examples.floats, st.none() | examples.floats)
def test_statistics_can_be_cut_out_to_the_byte(
    plan: Plan, value: float, ratio: float | None
) -> None:
    estimate = replace(examples.ESTIMATE, value=value, ess_ratio=ratio and ratio / plan.draws)
    statistics = results.statistics_bytes(plan, replace(examples.FINDINGS, estimate=estimate))
    assert results.statistics_of(published(statistics)) == statistics
    assert results.decode(published(statistics)).findings().estimate == estimate


def test_the_event_says_whose_result_it_is() -> None:
    result = results.decode(published())
    assert result.id == examples.EVALUATION
    assert result.subject == "support-chat/arithmetic"
    assert result.source == "/variant-monitor"
    assert result.time == examples.TIMES.ended


def test_the_estimate_is_kept_as_it_is_and_shown_inside_its_range() -> None:
    statistics = results.decode(published()).data.statistics
    assert isinstance(statistics.estimate, Estimate)
    assert statistics.estimate.value == 1.0125
    assert statistics.estimate_clipped == 1.0
    assert statistics.effective_sample_size == 9.0


def test_the_digest_is_that_of_the_bytes() -> None:
    turned = json.dumps(json.loads(STATISTICS), indent=2).encode()
    assert results.statistics_digest(STATISTICS) == results.statistics_digest(turned)
    other = results.statistics_bytes(replace(examples.PLAN, software="0.1.1"), examples.FINDINGS)
    assert results.statistics_digest(STATISTICS) != results.statistics_digest(other)


def test_times_and_spend_are_not_among_the_statistics() -> None:
    later = examples.TIMES.model_copy(update={"seconds": 91.0})
    dear = replace(examples.SPEND, attempts=7)
    other = results.encode(STATISTICS, spend=dear, times=later, source="elsewhere")
    assert other != published()
    assert results.statistics_of(other) == STATISTICS


def test_a_baseline_is_what_the_next_version_needs() -> None:
    baseline = results.decode(published()).baseline()
    assert baseline is not None
    assert baseline.evaluation_id == examples.EVALUATION
    assert baseline.version == "2026-11-29.1"
    assert baseline.value == 1.0125
    assert baseline.interval == examples.ESTIMATE.interval
    assert baseline.worst_case == examples.ESTIMATE.worst_case
    assert baseline.worst_lower_shift == -0.05


def baseline_of(plan: Plan, findings: Findings) -> Baseline:
    baseline = results.decode(published(results.statistics_bytes(plan, findings))).baseline()
    assert baseline is not None
    return baseline


def test_doubt_comes_back_and_is_left_out_where_it_was_not_looked_for() -> None:
    statistics = results.statistics_bytes(examples.DOUBTED_PLAN, examples.DOUBTED)
    result = results.decode(published(statistics))
    assert result.findings() == examples.DOUBTED
    assert result.data.statistics.plan == records.from_plan(examples.DOUBTED_PLAN)
    assert result.data.statistics.to_bytes() == statistics
    new = (b"doubt", b"unreadable", b"format_level")
    assert all(each in statistics and each not in STATISTICS for each in new)


def test_a_baseline_says_how_many_answers_could_not_be_read() -> None:
    found = baseline_of(examples.DOUBTED_PLAN, examples.DOUBTED).unreadable
    assert found == Unreadable(found=1.0, answers=4.0)


def test_results_from_before_doubt_say_it_by_their_counts_where_draws_are_equal() -> None:
    counts = {"graded": 90, "no_answer": 4, "truncated": 1, "refusal": 3, "timeout": 2}
    old = replace(examples.FINDINGS, counts=counts)
    plain = replace(examples.PLAN.inference, estimator="sample_mean")
    simple = replace(examples.PLAN, inference=plain)
    assert baseline_of(simple, old).unreadable == Unreadable(found=5.0, answers=98.0)
    assert baseline_of(examples.PLAN, old).unreadable is None
    assert baseline_of(simple, replace(old, counts={"timeout": 5})).unreadable is None


def test_without_an_estimate_there_is_no_baseline() -> None:
    absent = NoEstimate(reason=NoEstimateReason.NO_ANSWERS)
    findings = replace(examples.FINDINGS, estimate=absent, difference=None)
    result = results.decode(published(results.statistics_bytes(examples.PLAN, findings)))
    assert result.baseline() is None
    assert result.findings().estimate == absent
    assert result.data.statistics.estimate_clipped is None


def test_a_cancelled_evaluation_needs_no_plan() -> None:
    statistics = results.unplanned_statistics_bytes(
        examples.SUBJECT, examples.CANCELLED, software="0.1.0"
    )
    result = results.decode(published(statistics))
    assert result.findings() == examples.CANCELLED
    assert result.data.statistics.plan is None
    assert result.data.statistics.subject == examples.SUBJECT


def altered(**attributes: object) -> bytes:
    return canonical_json(json.loads(published()) | attributes)


def test_fields_of_a_later_writer_are_kept_in_the_statistics_and_ignored() -> None:
    document = json.loads(published())
    document["data"]["statistics"]["mood"] = "good"
    later = canonical_json(document)
    assert results.decode(later).findings() == examples.FINDINGS
    assert b'"mood":"good"' in results.statistics_of(later)


def test_a_newer_result_is_refused() -> None:
    with pytest.raises(StateTooNew, match=r"is a model\.evaluation\.completed\.v2"):
        results.decode(altered(type="model.evaluation.completed.v2"))


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        (b"{", "Invalid JSON"),
        (altered(type="something.else"), "type"),
        (altered(data={"spend": {}}), "data.statistics: Field required"),
        (altered(time=None), "time"),
    ],
)
def test_what_is_no_result_is_corrupt(value: bytes, complaint: str) -> None:
    with pytest.raises(StateCorrupt, match=f"evaluation result: .*{complaint}"):
        results.decode(value)


@pytest.mark.parametrize("value", [b"{", b"[]", b'{"data":1}', b"\xff"])
def test_statistics_are_missed_where_there_are_none(value: bytes) -> None:
    with pytest.raises(StateCorrupt, match="holds no statistics"):
        results.statistics_of(value)
