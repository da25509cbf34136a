"""What commands print: tables for people, JSON for programs."""

import json
import sys
from collections.abc import Mapping, Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from monitor.domain.results import Estimate, Interval, Money
from monitor.wire.results import CompletedEvaluation

# Wide enough for every table: what is not a terminal does not wrap.
PLAIN_WIDTH = 200


def print_json(document: object) -> None:
    """One JSON document on standard output."""
    sys.stdout.write(json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n")


def console() -> Console:
    """A console for tables; colours and the window's width only on a terminal."""
    width = None if sys.stdout.isatty() else PLAIN_WIDTH
    # Texts from elsewhere stay as they are, brackets and colons included.
    return Console(highlight=False, markup=False, emoji=False, width=width)


def print_result(value: bytes, completed: CompletedEvaluation, *, as_json: bool) -> None:
    """A published result, whole as JSON or in short as a table."""
    if as_json:
        print_json(json.loads(value))
        return
    table = Table(show_header=False, box=None, pad_edge=False)
    for name, text in result_rows(completed).items():
        table.add_row(name, text)
    console().print(table)


def result_rows(completed: CompletedEvaluation) -> Mapping[str, str]:
    """Name and text of each line of a result's table."""
    found, spend = completed.data.statistics, completed.data.spend
    subject, verdict = found.subject, found.verdict
    rows = {
        "evaluation": subject.evaluation_id,
        "variant": f"{subject.variant} {subject.version} on {subject.suite}",
        "verdict": f"{verdict.outcome} ({verdict.reason})",
        "": verdict.sentence,
    }
    if found.plan is not None:
        inference = found.plan.inference
        rows["plan"] = f"{found.plan.draws} of {found.plan.population}, {inference.design}"
        rows["reason"] = found.plan.reason
    if isinstance(found.estimate, Estimate):
        rows["estimate"] = f"{found.estimate_clipped:.4f} {bounds(found.estimate.interval)}"
        if found.missing:
            rows["worst case"] = bounds(found.estimate.worst_case)
    if found.effective_sample_size is not None:
        rows["worth"] = f"{found.effective_sample_size:.0f} plain random draws"
    if found.difference is not None:
        against = f"against {found.difference.previous_version}"
        rows["difference"] = (
            f"{found.difference.value:+.4f} {bounds(found.difference.worst_case)} {against}"
        )
    rows["answers"] = ", ".join(f"{count} {name}" for name, count in found.counts.items()) or "none"
    rows["spend"] = f"{spend.attempts} requests, {money(spend.cost)}"
    if spend.maybe_repeated:
        rows["spend"] += f"; {spend.maybe_repeated} perhaps paid twice"
    return rows


def bounds(interval: Interval, digits: int = 4) -> str:
    """An interval in brackets."""
    return f"[{interval.lower:.{digits}f}, {interval.upper:.{digits}f}]"


def money(cost: Money | None) -> str:
    """An amount with its currency."""
    return "no price configured" if cost is None else f"{cost.amount:.4f} {cost.currency}"


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table with a header, as wide as it needs to be."""
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1))
    for column in columns:
        table.add_column(column, no_wrap=True)
    for row in rows:
        table.add_row(*row)
    console().print(table)


def print_line(text: str) -> None:
    """A line as it is, however long."""
    sys.stdout.write(text + "\n")


def say(text: str) -> None:
    """A remark, on standard error."""
    sys.stderr.write(text + "\n")
