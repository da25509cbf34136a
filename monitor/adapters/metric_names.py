"""Every exported metric in one table; names, labels and units are a contract with alert rules."""

from dataclasses import dataclass
from typing import Literal

PREFIX = "variant_monitor_"
ON_SUITE = ("variant", "suite")

Type = Literal["counter", "gauge", "histogram", "info"]
Unit = Literal["", "ratio", "seconds"]


@dataclass(frozen=True, slots=True)
class Declared:
    """Type, unit (empty where things are counted or described), labels and help of a metric."""

    type: Type
    unit: Unit
    labels: tuple[str, ...]
    help: str


# A gauge of a result has no sample while its number is unknown.
METRICS = {
    "estimate_ratio": Declared(
        "gauge", "ratio", ON_SUITE, "Estimated share of right answers, by the last result."
    ),
    "interval_lower_ratio": Declared(
        "gauge", "ratio", ON_SUITE, "Lower bound of the interval around the estimate."
    ),
    "interval_upper_ratio": Declared(
        "gauge", "ratio", ON_SUITE, "Upper bound of the interval around the estimate."
    ),
    "interval_level_ratio": Declared(
        "gauge", "ratio", ON_SUITE, "Confidence level of the interval around the estimate."
    ),
    "difference_ratio": Declared(
        "gauge", "ratio", ON_SUITE, "Estimate minus the estimate of the version before."
    ),
    "difference_lower_ratio": Declared(
        "gauge", "ratio", ON_SUITE, "Lower bound of the interval around the difference."
    ),
    "difference_upper_ratio": Declared(
        "gauge", "ratio", ON_SUITE, "Upper bound of the interval around the difference."
    ),
    "tolerance_ratio": Declared(
        "gauge", "ratio", ON_SUITE, "Drop below the version before that is accepted."
    ),
    "effective_sample_size": Declared(
        "gauge", "", ON_SUITE, "Draws of plain random sampling that would be as precise."
    ),
    "ess_ratio": Declared(
        "gauge", "ratio", ON_SUITE, "Effective sample size over the number of draws."
    ),
    "scored_ratio": Declared(
        "gauge", "ratio", ON_SUITE, "Share of the planned draws that have a score."
    ),
    "ungraded_ratio": Declared(
        "gauge",
        "ratio",
        (*ON_SUITE, "reason"),
        "Share of the answers that came without a score from their grader, weighted to the pool.",
    ),
    "format_change_suspected": Declared(
        "gauge",
        "",
        ON_SUITE,
        "1 where the unreadable answers differ from those of the version before, else 0.",
    ),
    "verdict": Declared(
        "gauge", "", (*ON_SUITE, "verdict"), "1 for the verdict of the last result, else 0."
    ),
    "version_info": Declared(
        "info", "", (*ON_SUITE, "version"), "Version that the last result is about."
    ),
    "last_success_timestamp_seconds": Declared(
        "gauge", "seconds", ON_SUITE, "When an evaluation last ended without a fault."
    ),
    "evaluation_duration_seconds": Declared(
        "gauge", "seconds", ON_SUITE, "How long the last evaluation took."
    ),
    "evaluations_in_progress": Declared(
        "gauge", "", ON_SUITE, "Evaluations that have begun and not ended."
    ),
    "budget_queries": Declared(
        "gauge", "", ON_SUITE, "Draws planned for what is in progress, else for the last result."
    ),
    "budget_spent_queries": Declared(
        "gauge", "", ON_SUITE, "Draws of budget_queries whose answer is settled."
    ),
    "evaluations_total": Declared(
        "counter", "", (*ON_SUITE, "verdict"), "Evaluations that have ended."
    ),
    "queries_total": Declared(
        "counter", "", (*ON_SUITE, "purpose", "status"), "Queries to endpoints, by how they ended."
    ),
    "tokens_total": Declared(
        "counter", "", (*ON_SUITE, "direction"), "Tokens that endpoints reported."
    ),
    "cost_total": Declared(
        "counter", "", (*ON_SUITE, "currency"), "Money spent, by the configured prices."
    ),
    "endpoint_retries_total": Declared(
        "counter", "", (*ON_SUITE, "reason"), "Queries that were sent once more."
    ),
    "endpoint_request_duration_seconds": Declared(
        "histogram", "seconds", ON_SUITE, "How long queries to endpoints took."
    ),
    "events_total": Declared("counter", "", ("result",), "Events read, by what became of them."),
    "dead_letters_total": Declared("counter", "", ("reason",), "Events put aside as unusable."),
    "last_event_timestamp_seconds": Declared(
        "gauge", "seconds", (), "When an event was last read."
    ),
    "assigned_partitions": Declared("gauge", "", (), "Partitions that this replica serves."),
    "consumer_lag_records": Declared(
        "gauge", "", ("partition",), "Events of a partition that are not dealt with yet."
    ),
    "restore_duration_seconds": Declared(
        "gauge", "seconds", ("partition",), "How long taking over a partition took."
    ),
    "transactions_total": Declared(
        "counter", "", ("outcome",), "Transactions on the bus, by what became of them."
    ),
    "build_info": Declared("info", "", ("software",), "Software that is running."),
}
