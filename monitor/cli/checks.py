"""`variant-monitor check` and `suite check`."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from monitor.app import checks
from monitor.cli.exits import ExitCode
from monitor.cli.output import print_json, print_line
from monitor.domain.errors import Problem


def check(config: Path, *, offline: bool, as_json: bool) -> ExitCode:
    """Check a configuration and print the findings."""
    found = asyncio.run(checks.check(config, offline=offline))
    return _print(found, str(config), as_json=as_json)


def check_suite(path: Path, *, as_json: bool) -> ExitCode:
    """Check a suite and print the findings."""
    return _print(asyncio.run(checks.check_suite(path)), str(path), as_json=as_json)


def _print(found: checks.Report, name: str, *, as_json: bool) -> ExitCode:
    if as_json:
        print_json(
            {
                "problems": _documents(found.problems),
                "warnings": _documents(found.warnings),
                "notes": found.notes,
            }
        )
    else:
        _print_lines(found, name)
    return ExitCode.USAGE if found.problems else ExitCode.MET


def _documents(problems: Sequence[Problem]) -> list[dict[str, str]]:
    return [{"where": each.where, "what": each.what, "todo": each.todo} for each in problems]


def _print_lines(found: checks.Report, name: str) -> None:
    for note in found.notes:
        print_line(f"ok: {note}")
    for warning in found.warnings:
        print_line(f"warning: {warning}")
    for problem in found.problems:
        print_line(f"error: {problem}")
    errors = len(found.problems)
    print_line(f"{name}: {f'{errors} to correct' if errors else 'nothing wrong'}")
