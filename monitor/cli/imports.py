"""`variant-monitor suite import`."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from monitor.adapters.suite_files import MANIFEST
from monitor.app import imports
from monitor.app.imports import Imported, Wanted
from monitor.cli.checks import documents
from monitor.cli.exits import ExitCode
from monitor.cli.output import print_json, print_line
from monitor.domain.errors import UsageError
from monitor.wire import yaml_documents
from monitor.wire.imports.readings import Format
from monitor.wire.imports.samples import FIELDS
from monitor.wire.suite_models import ITEMS


def import_suite(
    files: Sequence[Path],
    folder: Path,
    *,
    file_format: Format | None,
    name: str,
    grader: str,
    columns: Sequence[str],
    as_json: bool,
) -> ExitCode:
    """Import a suite and print what became of each record.

    Raises:
        UsageError: there is a suite already, or an option cannot be read.
        SuiteError: nothing can be imported.
    """
    for name_of_part in (MANIFEST, ITEMS):
        if (folder / name_of_part).exists():
            raise UsageError(f"{folder / name_of_part} is there already; name another folder")
    wanted = Wanted(
        files=files,
        format=file_format,
        name=name,
        grader=_grader(grader),
        columns=_columns(columns),
    )
    found = asyncio.run(imports.import_suite(wanted, folder))
    if as_json:
        print_json(_document(found))
    else:
        _print_lines(found, folder)
    return ExitCode.NOT_MET if found.left_out else ExitCode.MET


def _grader(text: str) -> dict[str, Any] | None:
    """A grader as suite.yaml has it, or the name of one."""
    if not text:
        return None
    if not text.lstrip().startswith("{"):
        return {"kind": text}
    document, problems = yaml_documents.parse(text.encode(), name="--grader")
    if problems or not isinstance(document.content, dict) or "kind" not in document.content:
        raise UsageError("--grader is neither the name of a grader nor such as {kind: numeric}")
    return document.content


def _columns(pairs: Sequence[str]) -> dict[str, str]:
    columns = {}
    for pair in pairs:
        name, separator, column = pair.partition("=")
        if name not in FIELDS or not separator:
            raise UsageError(f"--column {pair!r} is not FIELD=COLUMN; fields: {', '.join(FIELDS)}")
        columns[name] = column
    return columns


def _document(found: Imported) -> dict[str, Any]:
    return {
        "suite": found.suite.name,
        "items": len(found.suite.items),
        "repeats": found.repeats,
        "left_out": found.left_out,
        "grader": {"kind": found.suite.grader.kind, **found.suite.grader.options},
        "notes": found.notes,
        "losses": documents(found.losses),
        "changes": documents(found.changes),
    }


def _print_lines(found: Imported, folder: Path) -> None:
    for note in found.notes:
        print_line(f"ok: {note}")
    for change in found.changes:
        print_line(f"warning: {change}")
    for loss in found.losses:
        print_line(f"left out: {loss}")
    repeats = f", {found.repeats} records that repeat one" if found.repeats else ""
    print_line(f"{folder}: {len(found.suite.items)} items{repeats}, {found.left_out} left out")
    print_line(f"try: variant-monitor suite check {folder}")
