"""`variant-monitor check` and `suite check`."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from monitor.app import checks, suite_checks
from monitor.app.reports import Report
from monitor.app.suite_checks import Figures
from monitor.cli.exits import ExitCode
from monitor.cli.output import print_json, print_line, print_rows
from monitor.domain.errors import Problem

SHOWN_AT_MOST = 8


def check(config: Path, *, offline: bool, as_json: bool) -> ExitCode:
    """Check a configuration and print the findings."""
    found = asyncio.run(checks.check(config, offline=offline))
    if as_json:
        print_json(_document(found))
    else:
        _print_lines(found, str(config))
    return _code(found)


def check_suite(path: Path, *, as_json: bool) -> ExitCode:
    """Check a suite and print it in numbers, and the findings."""
    found = asyncio.run(suite_checks.check_file(path))
    if as_json:
        figures = asdict(found.figures) if found.figures else None
        print_json({**_document(found.report), "figures": figures})
    else:
        if found.figures:
            print_rows([*_rows(found.figures)])
        _print_lines(found.report, str(path))
    return _code(found.report)


def _code(found: Report) -> ExitCode:
    return ExitCode.USAGE if found.problems else ExitCode.MET


def _document(found: Report) -> dict[str, Any]:
    return {
        "problems": documents(found.problems),
        "warnings": documents(found.warnings),
        "notes": found.notes,
    }


def documents(problems: Sequence[Problem]) -> list[dict[str, str]]:
    """Findings as JSON."""
    return [{"where": each.where, "what": each.what, "todo": each.todo} for each in problems]


def _print_lines(found: Report, name: str) -> None:
    for note in found.notes:
        print_line(f"ok: {note}")
    for warning in found.warnings:
        print_line(f"warning: {warning}")
    for problem in found.problems:
        print_line(f"error: {problem}")
    errors = len(found.problems)
    print_line(f"{name}: {f'{errors} to correct' if errors else 'nothing wrong'}")


def _rows(figures: Figures) -> Iterator[tuple[str, str]]:
    """Name and text of each line of the table."""
    yield "items", f"{figures.items:,}"
    yield "groups", _counts(figures.groups)
    yield "graders", _counts(figures.graders)
    yield "targets", f"{figures.different_targets:,} different"
    yield "tokens", _tokens(figures.question_tokens, figures.items, "a question, estimated")
    yield "", _tokens(figures.answer_tokens, figures.items, "an answer at most")


def _counts(counts: Mapping[str, int]) -> str:
    shown = [f"{name or 'none'} {count:,}" for name, count in counts.items()][:SHOWN_AT_MOST]
    more = len(counts) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _tokens(each: int, items: int, what: str) -> str:
    return f"{each:,} {what}; {each * items:,} for all items"
