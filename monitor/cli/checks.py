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
    return _report(found, str(config), as_json=as_json)


def check_suite(path: Path, *, as_json: bool) -> ExitCode:
    """Check a suite and print the findings."""
    return _report(checks.check_suite(path), str(path), as_json=as_json)


def _report(problems: Sequence[Problem], name: str, *, as_json: bool) -> ExitCode:
    if as_json:
        print_json(
            [{"where": each.where, "what": each.what, "todo": each.todo} for each in problems]
        )
    else:
        for problem in problems:
            print_line(str(problem))
        if not problems:
            print_line(f"{name}: nothing wrong")
    return ExitCode.USAGE if problems else ExitCode.MET
