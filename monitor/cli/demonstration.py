"""`variant-monitor demo`."""

import asyncio
import json
import tempfile
from contextlib import ExitStack
from pathlib import Path

from monitor.adapters import structured_logs
from monitor.adapters.suite_files import read_suite
from monitor.adapters.system_clock import SystemClock
from monitor.app.demo import Demonstration, Shown, demonstrate
from monitor.cli.output import (
    bounds,
    plain_draws,
    print_json,
    print_line,
    print_table,
    print_text,
    say,
)
from monitor.cli.progress import ProgressTelemetry
from monitor.domain.results import Estimate
from monitor.domain.suites import Suite
from monitor.settings import LogSettings

COLUMNS = ("version", "estimate, 95 %", "truth", "change", "verdict", "USD", "saved")

SAVED = (
    "saved: queries saved against plain random sampling with as narrow an interval,",
    "drawn from the same {} items, none twice: that the pool is finite counts.",
)


def run(*, as_json: bool, keep: bool, state: Path | None, suite: Path | None) -> None:
    """Run the demo and print its summary; with `keep`, serve on until interrupted.

    Raises:
        UsageError, SuiteError, StateError: suite or folder cannot be used.
    """
    structured_logs.configure(LogSettings(format="console", level="error"))
    with ExitStack() as stack:
        folder = state or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        asked = None if suite is None else read_suite(suite)
        asyncio.run(_run(folder, asked, as_json=as_json, keep=keep))


async def _run(folder: Path, suite: Suite | None, *, as_json: bool, keep: bool) -> None:
    progress, now = ProgressTelemetry(), SystemClock().now()
    try:
        async with demonstrate(folder, now=now, suite=suite, listeners=[progress]) as found:
            progress.close()
            if as_json:
                print_json([json.loads(each.value)["data"]["statistics"] for each in found.shown])
            else:
                _print(found)
            if keep:
                say(f"serving {found.status_url}/ until interrupted")
                await asyncio.Event().wait()
    finally:
        progress.close()


def _print(found: Demonstration) -> None:
    share, items = found.draws / found.population, found.population
    title = f"Four versions of one variant go live; each is asked {share:.0%} of {items} items."
    print_table(title, COLUMNS, [_row(each) for each in found.shown])
    for each in found.shown:
        statistics = each.completed.data.statistics
        print_text(f"{statistics.subject.version}: {statistics.verdict.sentence}")
    print_line("")
    for line in SAVED:
        print_text(line.format(items))
    print_text(
        f"Replayed from their records: {len(found.shown)} of {len(found.shown)} results agree to "
        "the byte."
    )
    print_line("")
    print_line("From the metrics page, rounded to four digits:")
    for line in found.metrics:
        print_line(line)


def _row(shown: Shown) -> list[str]:
    found, spend = shown.completed.data.statistics, shown.completed.data.spend
    if found.plan is None or not isinstance(found.estimate, Estimate):
        return [found.subject.version, *["unknown"] * (len(COLUMNS) - 1)]
    difference = found.difference
    return [
        found.subject.version,
        f"{found.estimate_clipped:.3f} {bounds(found.estimate.interval, 3)}",
        "unknown" if shown.truth is None else f"{shown.truth:.3f}",
        "" if difference is None else f"{difference.value:+.3f}",
        found.verdict.outcome,
        "unknown" if spend.cost is None else f"{spend.cost.amount:.4f}",
        _saving(found.plan.draws, found.plan.population, found.estimate.ess_ratio),
    ]


def _saving(draws: int, population: int, ess_ratio: float | None) -> str:
    """Share of queries saved against plain random sampling with an equally narrow interval."""
    if ess_ratio is None:
        return "unknown"
    return f"{1.0 - draws / plain_draws(draws, population, ess_ratio):.0%}"
