import json
from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from monitor.domain.errors import StateCorrupt, StateTooNew
from monitor.domain.identifiers import canonical_json
from monitor.domain.plans import Plan
from monitor.domain.results import Estimate, NoEstimate, NoEstimateReason
from monitor.wire import results
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
