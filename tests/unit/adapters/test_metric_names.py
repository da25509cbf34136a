from monitor.adapters.metric_names import METRICS, ON_SUITE


def test_what_is_about_results_names_variant_and_suite_first() -> None:
    process_wide = {"events_total", "dead_letters_total", "last_event_timestamp_seconds"}
    process_wide |= {"assigned_partitions", "consumer_lag_records", "restore_duration_seconds"}
    process_wide |= {"transactions_total", "build_info"}
    on_suite = {name for name, metric in METRICS.items() if metric.labels[:2] == ON_SUITE}
    assert on_suite == set(METRICS) - process_wide
