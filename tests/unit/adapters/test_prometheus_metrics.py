from dataclasses import replace
from datetime import timedelta

import pytest
from prometheus_client.exposition import choose_encoder

from monitor.adapters.prometheus_metrics import LastResult, MetricsTelemetry
from monitor.domain import facts
from monitor.domain.answers import UNGRADED, Status
from monitor.domain.errors import DeadLetterReason
from monitor.domain.identifiers import EvaluationId, SuiteName, VariantName
from monitor.domain.results import FormatChange, Outcome, Purpose
from monitor.settings import MetricSettings
from tests.unit.adapters import examples
from tests.unit.adapters.examples import ATTEMPTED, ENDED, FAILED, RETRIED, SETTLED, STARTED

OURS = {"variant": examples.VARIANT, "suite": examples.SUITE}
OTHERS = {"variant": "_other", "suite": examples.SUITE}


class Metrics:
    """Telemetry with its registry and clock, and a short way to read samples."""

    def __init__(self, **settings: float) -> None:
        self.clock = examples.StoppedClock()
        self.telemetry = MetricsTelemetry(MetricSettings.model_validate(settings), clock=self.clock)
        self.registry = self.telemetry.registry

    def record(self, *recorded: facts.Fact) -> None:
        for fact in recorded:
            self.telemetry.record(fact)

    def restore(self, *results: LastResult) -> None:
        self.telemetry.restore(results)

    def value(self, name: str, labels: dict[str, str] | None = None, **more: str) -> float | None:
        labels = (OURS if labels is None else labels) | more
        return self.registry.get_sample_value(f"variant_monitor_{name}", labels)

    def names(self) -> set[str]:
        """Names with a sample, beside the number of partitions, which is always known."""
        families = list(self.registry.collect())
        found = {sample.name for family in families for sample in family.samples}
        return found - {"variant_monitor_assigned_partitions"}


@pytest.fixture
def metrics() -> Metrics:
    return Metrics()


def test_nothing_is_known_at_first(metrics: Metrics) -> None:
    assert metrics.names() == set()


SHOWN = [
    ("estimate_ratio", 0.8),
    ("interval_lower_ratio", 0.75),
    ("interval_upper_ratio", 0.85),
    ("interval_level_ratio", 0.95),
    ("difference_ratio", -0.1),
    ("difference_lower_ratio", -0.15),
    ("difference_upper_ratio", -0.05),
    ("tolerance_ratio", 0.02),
    ("effective_sample_size", 150.0),
    ("ess_ratio", 1.5),
    ("scored_ratio", 0.95),
    ("evaluation_duration_seconds", 60.0),
    ("last_success_timestamp_seconds", examples.NOON.timestamp()),
    ("evaluations_in_progress", 0.0),
    ("budget_queries", 100.0),
    ("budget_spent_queries", 100.0),
    ("format_change_suspected", 0.0),
]


@pytest.mark.parametrize(("name", "value"), SHOWN)
def test_result_is_shown(name: str, value: float, metrics: Metrics) -> None:
    metrics.record(ENDED)
    assert metrics.value(name) == value


@pytest.mark.parametrize(("name", "value"), SHOWN)
def test_result_is_shown_after_a_restart(name: str, value: float, metrics: Metrics) -> None:
    metrics.restore(examples.result())
    assert metrics.value(name) == value


@pytest.mark.parametrize("outcome", Outcome)
def test_one_verdict_is_1_and_the_others_0(outcome: Outcome, metrics: Metrics) -> None:
    metrics.restore(examples.result(examples.findings(outcome)))
    values = {other: metrics.value("verdict", verdict=other) for other in Outcome}
    assert values == {other: float(other is outcome) for other in Outcome}


def test_every_reason_for_no_score_has_its_share(metrics: Metrics) -> None:
    metrics.record(ENDED)
    shares = {status: metrics.value("ungraded_ratio", reason=status) for status in Status}
    known = {Status.NO_ANSWER: 0.25, Status.REFUSAL: 0.125}
    assert shares == {s: known.get(s, 0.0) if s in UNGRADED else None for s in Status}


def test_a_suspected_change_of_format_is_1(metrics: Metrics) -> None:
    found = examples.findings()
    assert found.doubt is not None
    change = FormatChange(
        share=0.25, previous_share=0.0, previous_version=examples.VERSION, p_value=1e-6
    )
    doubt = replace(found.doubt, format_change=change)
    metrics.restore(examples.result(replace(found, doubt=doubt)))
    assert metrics.value("format_change_suspected") == 1.0


def test_version_is_an_info(metrics: Metrics) -> None:
    metrics.record(ENDED)
    assert metrics.value("version_info", version=examples.VERSION) == 1.0


def test_unknown_numbers_have_no_sample(metrics: Metrics) -> None:
    unknown = replace(examples.result(examples.nothing_found()), draws=None, tolerance=None)
    metrics.restore(replace(unknown, seconds=None))
    assert metrics.names() == {
        "variant_monitor_verdict",
        "variant_monitor_version_info",
        "variant_monitor_evaluations_in_progress",
        "variant_monitor_endpoint_request_duration_seconds_bucket",
        "variant_monitor_endpoint_request_duration_seconds_count",
        "variant_monitor_endpoint_request_duration_seconds_sum",
    }


def test_ratios_are_cut_to_their_range(metrics: Metrics) -> None:
    estimate = replace(examples.ESTIMATE, value=1.01, interval=examples.interval(0.9, 1.1))
    metrics.restore(examples.result(replace(examples.findings(), estimate=estimate)))
    assert metrics.value("estimate_ratio") == 1.0
    assert metrics.value("interval_upper_ratio") == 1.0


def test_cancelled_evaluation_leaves_the_last_verdict(metrics: Metrics) -> None:
    metrics.record(ENDED)
    metrics.record(replace(ENDED, findings=examples.nothing_found(Outcome.CANCELLED)))
    assert metrics.value("verdict", verdict="NOT_MET") == 1.0
    assert metrics.value("evaluations_total", verdict="CANCELLED") == 1.0


def test_fault_replaces_the_last_verdict_but_is_no_success(metrics: Metrics) -> None:
    later = examples.NOON + timedelta(hours=1)
    metrics.record(ENDED, replace(ENDED, findings=examples.nothing_found(), at=later))
    assert metrics.value("verdict", verdict="FAULTED") == 1.0
    assert metrics.value("estimate_ratio") is None
    assert metrics.value("last_success_timestamp_seconds") == examples.NOON.timestamp()


def test_older_result_does_not_replace_a_newer_one(metrics: Metrics) -> None:
    old = replace(examples.result(examples.nothing_found()), at=examples.NOON - timedelta(days=1))
    metrics.restore(examples.result(), old)
    assert metrics.telemetry.last_results() == (examples.result(),)


def test_progress_is_shown(metrics: Metrics) -> None:
    metrics.record(STARTED, replace(SETTLED, answered=42))
    assert metrics.value("evaluations_in_progress") == 1.0
    assert metrics.value("budget_queries") == 100.0
    assert metrics.value("budget_spent_queries") == 42.0


REVOKED = facts.PartitionRevoked(partition=examples.PLAN.subject.partition)


@pytest.mark.parametrize("end", [ENDED, FAILED, REVOKED])
def test_progress_ends(end: facts.Fact, metrics: Metrics) -> None:
    metrics.record(STARTED, end)
    assert metrics.value("evaluations_in_progress") == 0.0


@pytest.mark.parametrize(
    "end",
    [replace(FAILED, evaluation_id=EvaluationId("e2")), facts.PartitionRevoked(partition=4)],
)
def test_progress_of_another_evaluation_ends(end: facts.Fact, metrics: Metrics) -> None:
    metrics.record(STARTED, end)
    assert metrics.value("evaluations_in_progress") == 1.0


def test_each_query_is_counted_once(metrics: Metrics) -> None:
    metrics.record(RETRIED, ATTEMPTED, SETTLED)
    query = "queries_total"
    assert metrics.value(query, purpose="evaluation", status=Status.RATE_LIMITED) == 1.0
    assert metrics.value(query, purpose="evaluation", status=Status.GRADED) == 1.0
    assert metrics.value("endpoint_retries_total", reason=Status.RATE_LIMITED) == 1.0


def test_what_is_asked_of_a_judge_is_no_query_to_the_endpoint(metrics: Metrics) -> None:
    metrics.record(replace(RETRIED, purpose=Purpose.JUDGE), examples.JUDGED)
    query = "queries_total"
    assert metrics.value(query, purpose="judge", status=Status.RATE_LIMITED) == 1.0
    assert metrics.value(query, purpose="judge", status=Status.TIMEOUT) == 1.0
    assert metrics.value("endpoint_retries_total", reason=Status.RATE_LIMITED) is None
    assert metrics.value("endpoint_request_duration_seconds_count") in {None, 0.0}


def test_money_spent_on_judges_is_money_spent(metrics: Metrics) -> None:
    spend = replace(examples.SPEND, others={Purpose.JUDGE: examples.JUDGE_LINE})
    metrics.record(replace(ENDED, spend=spend))
    assert metrics.value("cost_total", currency="EUR") == 0.75


def test_what_is_asked_of_a_surrogate_is_asked_for_no_variant(metrics: Metrics) -> None:
    attempted = facts.SurrogateAttempted(
        suite=examples.SUITE,
        surrogate="small",
        purpose=Purpose.SURROGATE,
        seconds=1.0,
        retried=Status.TIMEOUT,
        prompt_tokens=20,
        completion_tokens=5,
    )
    answered = facts.SurrogateAnswered(
        suite=examples.SUITE, surrogate="small", status=Status.GRADED, settled=1, wanted=2
    )
    metrics.record(attempted, replace(attempted, retried=None), answered)
    nobody = {"variant": "", "suite": examples.SUITE}
    for status in (Status.TIMEOUT, Status.GRADED):
        labels = nobody | {"purpose": "surrogate", "status": status}
        assert metrics.value("queries_total", labels) == 1.0
    assert metrics.value("tokens_total", nobody, direction="prompt") == 40.0


def test_tokens_and_money_are_added_up(metrics: Metrics) -> None:
    metrics.record(ATTEMPTED, ATTEMPTED, ENDED, ENDED)
    assert metrics.value("tokens_total", direction="prompt") == 40.0
    assert metrics.value("tokens_total", direction="completion") == 10.0
    assert metrics.value("cost_total", currency="EUR") == 0.5


def test_latencies_are_a_cumulative_histogram(metrics: Metrics) -> None:
    metrics.record(*(replace(ATTEMPTED, seconds=seconds) for seconds in (0.1, 0.2, 400.0)))
    name = "endpoint_request_duration_seconds"
    buckets = {
        le: metrics.value(f"{name}_bucket", le=le) for le in ("0.1", "0.25", "300.0", "+Inf")
    }
    assert buckets == {"0.1": 1.0, "0.25": 2.0, "300.0": 2.0, "+Inf": 3.0}
    assert metrics.value(f"{name}_count") == 3.0
    assert metrics.value(f"{name}_sum") == pytest.approx(400.3)


def test_latencies_name_an_evaluation_as_example(metrics: Metrics) -> None:
    metrics.record(ATTEMPTED)
    encode, _ = choose_encoder("application/openmetrics-text; version=1.0.0")
    assert '# {evaluation_id="e1"} 0.7' in encode(metrics.registry).decode()


def test_events_are_counted(metrics: Metrics) -> None:
    reason = DeadLetterReason.NOT_JSON
    put_aside = facts.DeadLettered(topic="t", partition=0, offset=1, reason=reason, detail="")
    metrics.record(examples.EVENT, put_aside)
    assert metrics.value("events_total", {"result": "accepted"}) == 1.0
    assert metrics.value("dead_letters_total", {"reason": "not_json"}) == 1.0
    assert metrics.value("last_event_timestamp_seconds", {}) == examples.NOON.timestamp()


def test_software_is_an_info(metrics: Metrics) -> None:
    metrics.record(facts.ServiceStarted(software="0.1.0", suites=1))
    assert metrics.value("build_info", {"software": "0.1.0"}) == 1.0


def test_silent_facts_show_nothing(metrics: Metrics) -> None:
    metrics.record(
        facts.EndpointAwaited(evaluation_id=examples.EVALUATION, detail="", waited=1.0),
        facts.PartitionAssigned(partition=0, open_evaluations=0),
        facts.ServiceStopping(drain_seconds=1.0),
    )
    assert metrics.names() == set()


def test_variants_beyond_the_limit_are_counted_together() -> None:
    metrics = Metrics(max_variants=1)
    names = map(VariantName, ("a", "b", "c"))
    metrics.record(*(replace(ENDED, variant=name) for name in names))
    assert metrics.value("evaluations_total", OURS | {"variant": "a"}, verdict="NOT_MET") == 1.0
    assert metrics.value("evaluations_total", OTHERS, verdict="NOT_MET") == 2.0


def test_variants_beyond_the_limit_share_no_gauge() -> None:
    metrics = Metrics(max_variants=1)
    metrics.record(ENDED, replace(ENDED, variant=VariantName("b")))
    assert metrics.value("estimate_ratio", OTHERS) is None
    assert metrics.value("verdict", OTHERS, verdict="NOT_MET") is None


def test_variant_on_a_second_suite_is_within_the_limit() -> None:
    metrics = Metrics(max_variants=1)
    metrics.restore(examples.result(), replace(examples.result(), suite=SuiteName("b")))
    assert metrics.value("estimate_ratio", OURS | {"suite": "b"}) == 0.8


def test_retired_variants_lose_every_label() -> None:
    metrics = Metrics(retire_days=1)
    metrics.record(ATTEMPTED, SETTLED, ENDED)
    metrics.clock.time += timedelta(days=1, seconds=1)
    assert metrics.names() == set()


def test_variants_in_progress_do_not_retire() -> None:
    metrics = Metrics(retire_days=1)
    metrics.record(ENDED, STARTED)
    metrics.clock.time += timedelta(days=2)
    assert metrics.value("estimate_ratio") == 0.8


def test_restored_results_retire_by_their_own_age() -> None:
    metrics = Metrics(retire_days=1)
    metrics.restore(replace(examples.result(), at=examples.NOON - timedelta(days=2)))
    assert metrics.names() == set()


def test_retiring_makes_room_under_the_limit() -> None:
    metrics = Metrics(retire_days=1, max_variants=1)
    metrics.record(ENDED)
    metrics.clock.time += timedelta(days=2)
    assert metrics.telemetry.last_results() == ()
    metrics.record(replace(ENDED, variant=VariantName("b")))
    assert metrics.value("estimate_ratio", OURS | {"variant": "b"}) == 0.8


def test_evaluation_that_began_beyond_the_limit_ends() -> None:
    metrics = Metrics(retire_days=1, max_variants=1)
    subject = replace(examples.PLAN.subject, variant=VariantName("b"))
    metrics.record(ENDED, replace(STARTED, plan=replace(examples.PLAN, subject=subject)))
    metrics.clock.time += timedelta(days=2)
    assert metrics.telemetry.last_results() == ()
    metrics.record(replace(ENDED, variant=VariantName("b")))
    assert metrics.value("evaluations_in_progress", OTHERS) in {0.0, None}


def test_what_the_bus_tells_is_shown(metrics: Metrics) -> None:
    outcome = facts.TransactionOutcome.COMMITTED
    for fact in (
        facts.PartitionAssigned(partition=2, open_evaluations=0),
        facts.PartitionRestored(partition=2, rows=5, seconds=0.5),
        facts.LagMeasured(partition=2, records=7),
        facts.TransactionEnded(partition=2, outcome=outcome, commits=3, seconds=0.1),
    ):
        metrics.record(fact)
    assert metrics.value("assigned_partitions", {}) == 1.0
    assert metrics.value("restore_duration_seconds", {}, partition="2") == 0.5
    assert metrics.value("consumer_lag_records", {}, partition="2") == 7.0
    assert metrics.value("transactions_total", {}, outcome="committed") == 1.0
    metrics.record(facts.PartitionRevoked(partition=2))
    assert metrics.value("assigned_partitions", {}) == 0.0
    assert metrics.value("consumer_lag_records", {}, partition="2") is None
