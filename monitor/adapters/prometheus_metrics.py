"""Facts as Prometheus metrics, from a table of what is known now.

A table, and not the client's own gauges: what is unknown has no sample, retired variants vanish,
and after a restart the last results are there before the first event is read.
Everything happens in the event loop's thread, scrapes included, so there are no locks.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import accumulate
from typing import assert_never

from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector, CollectorRegistry
from prometheus_client.samples import Exemplar

from monitor.adapters.metric_names import METRICS, ON_SUITE, PREFIX
from monitor.domain import facts
from monitor.domain.answers import UNGRADED
from monitor.domain.identifiers import EvaluationId, SuiteName, VariantName, VersionName
from monitor.domain.plans import Plan
from monitor.domain.policies import NotWorse
from monitor.domain.results import Difference, Estimate, Findings, Outcome, Purpose
from monitor.ports import Clock
from monitor.settings import MetricSettings

NOBODY = VariantName("")  # what is asked once for a suite is asked for no one variant
OTHER = VariantName("_other")  # begins as the name of no variant may
BUCKETS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0)
DECIDED = frozenset({Outcome.MET, Outcome.NOT_MET, Outcome.INCONCLUSIVE})
ESTIMATE_NAMES = ("estimate_ratio", "interval_lower_ratio", "interval_upper_ratio")
DIFFERENCE_NAMES = ("difference_ratio", "difference_lower_ratio", "difference_upper_ratio")

Pair = tuple[VariantName, SuiteName]
Labels = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LastResult:
    """What the page and the gauges show of one published result.

    draws: n of the plan; tolerance: that of a `NotWorse` objective; seconds: how long it took.
    Each is None where there was no such thing, as is evaluation_id where it is not known.
    """

    variant: VariantName
    suite: SuiteName
    version: VersionName
    findings: Findings
    draws: int | None
    tolerance: float | None
    at: datetime
    seconds: float | None
    evaluation_id: EvaluationId | None = None

    @property
    def effective_sample_size(self) -> float | None:
        """Draws times `ess_ratio`."""
        estimate = self.findings.estimate
        ratio = estimate.ess_ratio if isinstance(estimate, Estimate) else None
        return None if ratio is None or self.draws is None else ratio * self.draws


def tolerance_of(plan: Plan | None) -> float | None:
    """The drop that a plan's objective accepts, None where it speaks of no drop."""
    if plan is not None and isinstance(plan.objective, NotWorse):
        return plan.objective.tolerance
    return None


@dataclass(slots=True, kw_only=True)
class _Progress:
    """An evaluation that has begun and not ended."""

    partition: int
    draws: int
    answered: int


@dataclass(slots=True)
class _Latencies:
    """Histogram of seconds, with one evaluation as an example in each bucket."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BUCKETS) + 1))
    total: float = 0.0
    examples: dict[int, Exemplar] = field(default_factory=dict)

    def observe(self, seconds: float, evaluation: EvaluationId) -> None:
        bucket = bisect_left(BUCKETS, seconds)
        self.counts[bucket] += 1
        self.total += seconds
        self.examples[bucket] = Exemplar({"evaluation_id": evaluation}, seconds)


@dataclass(slots=True)
class _Bus:
    """What is known of the partitions that are ours."""

    assigned: set[int] = field(default_factory=set)
    lags: dict[int, int] = field(default_factory=dict)
    restore_seconds: dict[int, float] = field(default_factory=dict)


@dataclass(slots=True)
class _Row:
    """What is known of one variant on one suite, and when something was last heard of it."""

    heard: datetime
    last: LastResult | None = None
    success: datetime | None = None
    open: dict[EvaluationId, _Progress] = field(default_factory=dict)
    latencies: _Latencies = field(default_factory=_Latencies)


class MetricsTelemetry(Collector):
    """Implements `ports.Telemetry` and is what a registry collects from.

    Args:
        settings: limits of what is shown.
        clock: tells when variants retire.
        registry: to register with; None makes a new one.
    """

    def __init__(
        self, settings: MetricSettings, *, clock: Clock, registry: CollectorRegistry | None = None
    ) -> None:
        self.registry = registry or CollectorRegistry()
        self._max_variants = settings.max_variants
        self._lifetime = timedelta(days=settings.retire_days)
        self._clock = clock
        self._rows: dict[Pair, _Row] = {}
        self._counts: dict[str, dict[Labels, float]] = defaultdict(lambda: defaultdict(float))
        self._bus = _Bus()
        self._last_event: datetime | None = None
        self._software: str | None = None
        self.registry.register(self)

    def record(self, fact: facts.Fact) -> None:  # noqa: C901, PLR0912 - one case a fact
        """Enter a fact into the table."""
        match fact:
            case facts.EventTaken():
                self._last_event = fact.at
                self._count("events_total", fact.result)
            case facts.DeadLettered():
                self._count("dead_letters_total", fact.reason)
            case facts.EvaluationStarted():
                self._started(fact)
            case facts.Attempted():
                self._attempted(fact)
            case facts.AnswerSettled():
                self._settled(fact)
            case facts.QuerySettled():
                pair = self._pair(fact.variant, fact.suite)
                self._count("queries_total", *pair, fact.purpose, fact.status)
            case facts.SurrogateAttempted():
                self._count_attempt((NOBODY, fact.suite), fact)
            case facts.SurrogateAnswered():
                self._count("queries_total", NOBODY, fact.suite, Purpose.SURROGATE, fact.status)
            case facts.EvaluationEnded():
                self._ended(fact)
            case facts.EvaluationFailed():
                self._close(fact.evaluation_id)
            case facts.PartitionAssigned():
                self._bus.assigned.add(fact.partition)
            case facts.PartitionRevoked():
                self._close_partition(fact.partition)
            case facts.PartitionRestored():
                self._bus.restore_seconds[fact.partition] = fact.seconds
            case facts.LagMeasured():
                self._bus.lags[fact.partition] = fact.records
            case facts.TransactionEnded():
                self._count("transactions_total", fact.outcome)
            case facts.ServiceStarted():
                self._software = fact.software
            case facts.EndpointAwaited() | facts.BusAwaited() | facts.ServiceStopping():
                pass
            case facts.AnswersNotKept() | facts.SurrogateEnded():
                pass
            case _:
                assert_never(fact)

    def restore(self, results: Iterable[LastResult]) -> None:
        """Enter results that were published before this process began."""
        for result in results:
            self._show(self._pair(result.variant, result.suite), result, heard=result.at)

    def last_results(self) -> Sequence[LastResult]:
        """The last result of every variant on every suite that is not retired, by name."""
        self._retire()
        rows = sorted(self._rows.items())
        return tuple(row.last for _, row in rows if row.last is not None)

    def collect(self) -> Iterator[Metric]:
        """Families of samples, for the registry."""
        self._retire()
        families = {name: _family(name) for name in METRICS}
        for name, counts in self._counts.items():
            for labels, count in counts.items():
                _add(families, name, labels, count)
        for pair, row in self._rows.items():
            _add_row(families, pair, row)
        _add(families, "assigned_partitions", (), len(self._bus.assigned))
        for partition, records in self._bus.lags.items():
            _add(families, "consumer_lag_records", (str(partition),), records)
        for partition, seconds in self._bus.restore_seconds.items():
            _add(families, "restore_duration_seconds", (str(partition),), seconds)
        if self._last_event is not None:
            _add(families, "last_event_timestamp_seconds", (), self._last_event.timestamp())
        if self._software is not None:
            _add(families, "build_info", (self._software,), 1.0)
        yield from families.values()

    def _count(self, name: str, *labels: str, by: float = 1.0) -> None:
        self._counts[name][labels] += by

    def _pair(self, variant: VariantName, suite: SuiteName) -> Pair:
        """Names to count under: a variant beyond the limit has none of its own."""
        known = {name for name, _ in self._rows} - {OTHER}
        if variant in known or len(known) < self._max_variants:
            return variant, suite
        return OTHER, suite

    def _row(self, pair: Pair, heard: datetime | None = None) -> _Row:
        at = self._clock.now() if heard is None else heard
        row = self._rows.setdefault(pair, _Row(at))
        row.heard = max(row.heard, at)
        return row

    def _started(self, fact: facts.EvaluationStarted) -> None:
        subject = fact.plan.subject
        row = self._row(self._pair(subject.variant, subject.suite))
        row.open[subject.evaluation_id] = _Progress(
            partition=subject.partition, draws=fact.plan.draws, answered=fact.answered
        )

    def _attempted(self, fact: facts.Attempted) -> None:
        pair = self._pair(fact.variant, fact.suite)
        self._count_attempt(pair, fact)
        if fact.purpose is Purpose.TARGET:
            self._row(pair).latencies.observe(fact.seconds, fact.evaluation_id)
            if fact.retried is not None:
                self._count("endpoint_retries_total", *pair, fact.retried)

    def _count_attempt(self, pair: Pair, fact: facts.Attempted | facts.SurrogateAttempted) -> None:
        self._count("tokens_total", *pair, "prompt", by=fact.prompt_tokens)
        self._count("tokens_total", *pair, "completion", by=fact.completion_tokens)
        if fact.retried is not None:
            self._count("queries_total", *pair, fact.purpose, fact.retried)

    def _settled(self, fact: facts.AnswerSettled) -> None:
        pair = self._pair(fact.variant, fact.suite)
        self._count("queries_total", *pair, Purpose.TARGET, fact.status)
        progress = self._row(pair).open.get(fact.evaluation_id)
        if progress is not None:
            progress.answered = fact.answered

    def _ended(self, fact: facts.EvaluationEnded) -> None:
        pair = self._pair(fact.variant, fact.suite)
        self._close(fact.evaluation_id)
        self._count("evaluations_total", *pair, fact.findings.verdict.outcome)
        costs = (fact.spend.cost, *(line.cost for line in fact.spend.others.values()))
        for cost in filter(None, costs):
            self._count("cost_total", *pair, cost.currency, by=cost.amount)
        self._show(pair, _last_result(fact), heard=self._clock.now())

    def _show(self, pair: Pair, result: LastResult, *, heard: datetime) -> None:
        """Make a result the last one; one that was cancelled says nothing, so it replaces none."""
        row = self._row(pair, heard)
        outcome = result.findings.verdict.outcome
        if outcome in DECIDED:
            row.success = max(row.success or result.at, result.at)
        is_news = row.last is None or (
            outcome is not Outcome.CANCELLED and result.at >= row.last.at
        )
        # Results of several variants cannot be one gauge.
        if is_news and pair[0] != OTHER:
            row.last = result

    def _close(self, evaluation: EvaluationId) -> None:
        for row in self._rows.values():
            row.open.pop(evaluation, None)

    def _close_partition(self, partition: int) -> None:
        self._bus.assigned.discard(partition)
        self._bus.lags.pop(partition, None)
        self._bus.restore_seconds.pop(partition, None)
        for row in self._rows.values():
            row.open = {key: it for key, it in row.open.items() if it.partition != partition}

    def _retire(self) -> None:
        """Drop every label of a variant that has not been heard of for its lifetime."""
        oldest = self._clock.now() - self._lifetime
        retired = {pair for pair, row in self._rows.items() if row.heard < oldest and not row.open}
        for pair in retired:
            del self._rows[pair]
        for name, counts in self._counts.items():
            if retired and METRICS[name].labels[:2] == ON_SUITE:
                for labels in [labels for labels in counts if labels[:2] in retired]:
                    del counts[labels]


def _last_result(fact: facts.EvaluationEnded) -> LastResult:
    return LastResult(
        evaluation_id=fact.evaluation_id,
        variant=fact.variant,
        suite=fact.suite,
        version=fact.version,
        findings=fact.findings,
        draws=None if fact.plan is None else fact.plan.draws,
        tolerance=tolerance_of(fact.plan),
        at=fact.at,
        seconds=fact.seconds,
    )


def _family(name: str) -> Metric:
    """A family without samples, under the name that its type puts endings to."""
    declared = METRICS[name]
    ending = {"counter": "_total", "info": "_info"}.get(declared.type, "")
    return Metric(PREFIX + name.removesuffix(ending), declared.help, declared.type, declared.unit)


def _add(families: Mapping[str, Metric], name: str, labels: Labels, value: float | None) -> None:
    """Add a sample; what is unknown has none."""
    if value is not None:
        named = dict(zip(METRICS[name].labels, labels, strict=True))
        families[name].add_sample(PREFIX + name, named, value)


def _add_row(families: Mapping[str, Metric], pair: Pair, row: _Row) -> None:
    _add(families, "evaluations_in_progress", pair, len(row.open))
    if row.success is not None:
        _add(families, "last_success_timestamp_seconds", pair, row.success.timestamp())
    if row.open:
        open_now = row.open.values()
        _add(families, "budget_queries", pair, sum(progress.draws for progress in open_now))
        _add(families, "budget_spent_queries", pair, sum(it.answered for it in open_now))
    elif row.last is not None and row.last.draws is not None:
        settled = row.last.findings.answered + row.last.findings.missing
        _add(families, "budget_queries", pair, row.last.draws)
        _add(families, "budget_spent_queries", pair, settled)
    _add_latencies(families["endpoint_request_duration_seconds"], pair, row.latencies)
    if row.last is not None:
        _add_result(families, pair, row.last)


def _add_latencies(family: Metric, pair: Pair, latencies: _Latencies) -> None:
    labels = dict(zip(ON_SUITE, pair, strict=True))
    so_far = list(accumulate(latencies.counts))
    for index, bound in enumerate((*map(str, BUCKETS), "+Inf")):
        family.add_sample(
            f"{family.name}_bucket",
            labels | {"le": bound},
            so_far[index],
            exemplar=latencies.examples.get(index),
        )
    family.add_sample(f"{family.name}_count", labels, so_far[-1])
    family.add_sample(f"{family.name}_sum", labels, latencies.total)


def _add_result(families: Mapping[str, Metric], pair: Pair, result: LastResult) -> None:
    findings = result.findings
    scored = findings.answered / result.draws if result.draws else None
    _add(families, "scored_ratio", pair, scored)
    _add(families, "tolerance_ratio", pair, result.tolerance)
    _add(families, "evaluation_duration_seconds", pair, result.seconds)
    _add(families, "version_info", (*pair, result.version), 1.0)
    for outcome in Outcome:
        is_it = float(findings.verdict.outcome is outcome)
        _add(families, "verdict", (*pair, outcome), is_it)
    if findings.doubt is not None:
        for status in sorted(UNGRADED):
            share = findings.doubt.ungraded.get(status, 0.0)
            _add(families, "ungraded_ratio", (*pair, status), share)
        is_suspected = findings.doubt.format_change is not None
        _add(families, "format_change_suspected", pair, float(is_suspected))
    if isinstance(findings.estimate, Estimate):
        _add(families, "interval_level_ratio", pair, findings.estimate.interval.level)
        _add(families, "ess_ratio", pair, findings.estimate.ess_ratio)
        _add(families, "effective_sample_size", pair, result.effective_sample_size)
        _add_bounds(families, pair, ESTIMATE_NAMES, clipped(findings.estimate, lowest=0.0))
    if findings.difference is not None:
        _add_bounds(families, pair, DIFFERENCE_NAMES, clipped(findings.difference, lowest=-1.0))


def _add_bounds(
    families: Mapping[str, Metric], pair: Pair, names: Sequence[str], values: Sequence[float]
) -> None:
    for name, value in zip(names, values, strict=True):
        _add(families, name, pair, value)


def clipped(found: Estimate | Difference, *, lowest: float) -> tuple[float, float, float]:
    """Value, lower and upper bound, cut to [lowest, 1]: unbiased numbers may lie outside."""
    values = (found.value, found.interval.lower, found.interval.upper)
    value, lower, upper = (min(1.0, max(lowest, number)) for number in values)
    return value, lower, upper
