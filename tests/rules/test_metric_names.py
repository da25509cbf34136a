"""Metric names follow Prometheus's conventions, in the table and in what is really exposed."""

import shutil
import subprocess
from collections.abc import Iterable

import pytest
from prometheus_client.exposition import choose_encoder, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from prometheus_client.registry import CollectorRegistry

from monitor.adapters.metric_names import METRICS, PREFIX
from monitor.adapters.prometheus_metrics import MetricsTelemetry
from monitor.domain import facts
from monitor.domain.errors import DeadLetterReason
from monitor.settings import MetricSettings
from tests.unit.adapters import examples

# Label values come from closed lists, but for these; their number is bounded or a setting.
OPEN_LABELS = {"variant", "suite", "version", "software", "currency", "partition"}
CLOSED_LABELS = {"verdict", "purpose", "status", "direction", "reason", "result", "outcome"}
DEAD_LETTER = facts.DeadLettered(
    topic="t", partition=0, offset=0, reason=DeadLetterReason.NOT_JSON, detail=""
)


FACTS: tuple[facts.Fact, ...] = (
    examples.EVENT,
    DEAD_LETTER,
    examples.STARTED,
    examples.RETRIED,
    examples.ATTEMPTED,
    examples.SETTLED,
    examples.ENDED,
    facts.ServiceStarted(software="0.1.0", suites=1),
    facts.PartitionAssigned(partition=0, open_evaluations=0),
    facts.PartitionRestored(partition=0, rows=1, seconds=0.1),
    facts.LagMeasured(partition=0, records=1),
    facts.TransactionEnded(
        partition=0, outcome=facts.TransactionOutcome.COMMITTED, commits=1, seconds=0.1
    ),
)


@pytest.fixture
def registry() -> CollectorRegistry:
    """A registry that exposes every metric of the table."""
    telemetry = MetricsTelemetry(MetricSettings(), clock=examples.StoppedClock())
    for fact in FACTS:
        telemetry.record(fact)
    return telemetry.registry


@pytest.mark.parametrize("name", METRICS)
def test_names_end_in_type_and_unit(name: str) -> None:
    metric = METRICS[name]
    assert name.endswith("_total") == (metric.type == "counter")
    assert name.endswith("_info") == (metric.type == "info")
    assert name.endswith(("_ratio", "_seconds")) == bool(metric.unit)
    assert name.endswith(metric.unit)


@pytest.mark.parametrize("name", METRICS)
def test_labels_are_bounded(name: str) -> None:
    assert set(METRICS[name].labels) <= OPEN_LABELS | CLOSED_LABELS


@pytest.mark.parametrize("name", METRICS)
def test_help_is_a_sentence(name: str) -> None:
    assert METRICS[name].help[0].isupper() or METRICS[name].help[0].isdigit()
    assert METRICS[name].help.endswith(".")


def test_every_metric_of_the_table_is_exposed(registry: CollectorRegistry) -> None:
    ending = {"counter": "_total", "info": "_info"}
    exposed = {
        family.name + ending.get(family.type, "") for family in registry.collect() if family.samples
    }
    assert exposed == {PREFIX + name for name in METRICS}


def test_openmetrics_can_be_read_back(registry: CollectorRegistry) -> None:
    encode, _ = choose_encoder("application/openmetrics-text; version=1.0.0")
    read_back: Iterable[Metric] = text_string_to_metric_families(encode(registry).decode())  # type: ignore[no-untyped-call]
    units = {family.name: family.unit for family in read_back}
    assert units[PREFIX + "estimate_ratio"] == "ratio"
    assert len(units) == len(METRICS)


def test_promtool_finds_no_fault(registry: CollectorRegistry) -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is not installed; on Debian: apt-get install prometheus")
    command = [promtool, "check", "metrics"]
    outcome = subprocess.run(
        command, input=generate_latest(registry), capture_output=True, check=False
    )
    assert (outcome.returncode, outcome.stderr.decode()) == (0, "")
