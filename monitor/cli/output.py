"""What commands print: tables for people, JSON for programs."""

import json
import shutil
import sys
import textwrap
from collections.abc import Collection, Iterator, Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from monitor.domain.results import Estimate, Interval, Money
from monitor.wire.results import CompletedEvaluation, Statistics

# Wide enough for every table: what is not a terminal does not wrap.
PLAIN_WIDTH = 200
PLAIN_DESIGN = "simple"


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
    print_rows([*result_rows(completed)])


def print_rows(rows: Sequence[tuple[str, str]]) -> None:
    """Names and what is to be said of each, side by side."""
    table = Table(show_header=False, box=None, pad_edge=False)
    for row in rows:
        table.add_row(*row)
    _show(table)


def result_rows(completed: CompletedEvaluation) -> Iterator[tuple[str, str]]:
    """Name and text of each line of a result's table."""
    found, spend = completed.data.statistics, completed.data.spend
    subject, verdict = found.subject, found.verdict
    yield "evaluation", subject.evaluation_id
    yield "variant", f"{subject.variant} {subject.version} on {subject.suite}"
    yield "verdict", f"{verdict.outcome} ({verdict.reason})"
    yield "", verdict.sentence
    if isinstance(found.estimate, Estimate):
        yield "estimate", f"{found.estimate_clipped:.4f} {bounds(found.estimate.interval)}"
        if found.missing:
            yield "worst case", bounds(found.estimate.worst_case)
    yield from _worth(found)
    if found.difference is not None:
        against = f"against {found.difference.previous_version}"
        yield (
            "difference",
            f"{found.difference.value:+.4f} {bounds(found.difference.worst_case)} {against}",
        )
    yield "answers", ", ".join(f"{count} {name}" for name, count in found.counts.items()) or "none"
    if found.doubt is not None and found.doubt.ungraded:
        shares = (f"{share:.1%} {name}" for name, share in found.doubt.ungraded.items())
        yield "ungraded", ", ".join(shares)
    repeated = f"; {spend.maybe_repeated} perhaps paid twice" if spend.maybe_repeated else ""
    yield "spend", f"{spend.attempts} requests, {money(spend.cost)}{repeated}"
    for purpose, line in spend.others.items():
        yield f"{purpose} spend", f"{line.attempts} requests, {money(line.cost)}"
    for name, figures in completed.data.judging.items():
        turned = f"; {figures.flips} of {figures.comparisons} pairs turned with their order"
        yield (
            f"judge {name}",
            f"{figures.model}: {figures.calls} replies, {figures.unusable} of them unusable"
            + (turned if figures.comparisons else ""),
        )


def _worth(found: Statistics) -> Iterator[tuple[str, str]]:
    """What the choice of draws has brought; plain ones are worth what they are: not a word."""
    plan, estimate = found.plan, found.estimate
    if plan is None or not isinstance(estimate, Estimate) or estimate.ess_ratio is None:
        return
    if plan.inference.design == PLAIN_DESIGN:
        return
    size = plain_draws(plan.draws, plan.population, estimate.ess_ratio)
    yield "worth", f"{size:.0f} plain random draws"
    if estimate.ess_ratio < 1.0:
        yield "", "these draws made the interval wider than plain ones would have"


def plain_draws(draws: int, population: int, ess_ratio: float) -> float:
    """Plain random draws for as narrow an interval, from the same finite pool and none twice.

    Solves [1/m - 1/N] = [1/n - 1/N] / ess_ratio for m, since plain sampling without replacement
    has the variance S^2 (1/m - 1/N) (Cochran, Sampling Techniques, 1977, theorem 2.2).
    """
    return 1.0 / ((1.0 / draws - 1.0 / population) / ess_ratio + 1.0 / population)


def bounds(interval: Interval, digits: int = 4) -> str:
    """An interval in brackets."""
    return f"[{interval.lower:.{digits}f}, {interval.upper:.{digits}f}]"


def money(cost: Money | None) -> str:
    """An amount with its currency."""
    return "no price configured" if cost is None else f"{cost.amount:.4f} {cost.currency}"


def print_table(
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    foldable: Collection[str] = (),
) -> None:
    """A table with a header, as wide as it needs to be.

    Args:
        title: stands above it.
        columns: their names.
        rows: texts, one for each column.
        foldable: columns that may be broken where the terminal is too narrow.
    """
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1))
    for column in columns:
        table.add_column(column, no_wrap=column not in foldable, overflow="fold")
    for row in rows:
        table.add_row(*row)
    _show(table)


def _show(table: Table) -> None:
    """A table, without the blanks that would fill its lines up to their end."""
    screen = console()
    with screen.capture() as captured:
        screen.print(table)
    for line in captured.get().splitlines():
        print_line(line.rstrip())


def print_text(text: str) -> None:
    """Sentences; on a terminal they are broken between words."""
    if sys.stdout.isatty():
        width = shutil.get_terminal_size().columns
        text = textwrap.fill(text, width, break_long_words=False, break_on_hyphens=False)
    print_line(text)


def print_line(text: str) -> None:
    """A line as it is, however long."""
    sys.stdout.write(text + "\n")


def say(text: str) -> None:
    """A remark, on standard error."""
    sys.stderr.write(text + "\n")
