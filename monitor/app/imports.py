"""Suites of other tools become suites of this one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from monitor.adapters.grader_processes import GraderProcesses
from monitor.adapters.suite_files import write_suite
from monitor.domain.errors import Problem, SuiteError
from monitor.domain.identifiers import ItemId
from monitor.domain.suites import Suite
from monitor.grading.graders import Grading, self_check
from monitor.settings import LimitSettings
from monitor.wire.imports import drafting, formats, readings
from monitor.wire.imports.readings import Format, Reading, Remark
from monitor.wire.suites import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to be imported, and as what.

    name: of the suite; empty for one by the first file's name. grader: None for a suggested one.
    columns: column by field of an item.
    """

    files: Sequence[Path]
    format: Format | None = None
    name: str = ""
    grader: Mapping[str, Any] | None = None
    columns: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """A suite, and everything that is to be said of it.

    repeats: records that say again what another has said. left_out: how many became no item.
    """

    suite: Suite
    repeats: int
    left_out: int
    notes: Sequence[str]
    losses: Sequence[Problem]
    changes: Sequence[Problem]


async def import_suite(wanted: Wanted, folder: Path) -> Imported:
    """Read files, write a suite, and say what became of every record.

    Each target is graded against itself; an item that its own grader does not take is left out.

    Args:
        wanted: what is to be imported.
        folder: for the suite.

    Raises:
        SuiteError: a file cannot be read, nothing in it can be used, or nothing can be written.
    """
    reading = _read(wanted)
    name = wanted.name or drafting.name_of(str(wanted.files[0]))
    assembled = drafting.assemble(reading, name=name, grader=wanted.grader)
    graders = GraderProcesses(seconds=LimitSettings().grader_seconds, workers=1)
    try:
        failed = await _failures(assembled.suite, graders.grade)
    finally:
        await graders.close()
    if failed:
        assembled = drafting.without(assembled, failed, reading)
    write_suite(assembled.suite, folder, description=f"Imported from {_names(wanted.files)}")
    return Imported(
        suite=assembled.suite,
        repeats=assembled.repeats,
        left_out=len(reading.left_out),
        notes=reading.notes,
        losses=readings.problems(reading.left_out),
        changes=readings.problems(reading.changed),
    )


def _read(wanted: Wanted) -> Reading:
    reading = Reading()
    problems: list[Problem] = []
    for file in wanted.files:
        try:
            formats.read(_source(file), wanted.format, wanted.columns, reading)
        except SuiteError as error:
            problems.extend(error.problems)
    if problems:
        raise SuiteError([*readings.problems(reading.left_out), *problems])
    return reading


def _source(file: Path) -> Source:
    try:
        # To open a pipe waits until something is written into it, perhaps for ever.
        is_other = file.exists() and not file.is_file()
        content = b"" if is_other else file.read_bytes()
    except OSError as error:
        what = f"cannot be read: {error.strerror}"
        raise SuiteError([Problem(where=str(file), what=what, todo="name a file")]) from error
    if is_other:
        what = "is no regular file"
        raise SuiteError([Problem(where=str(file), what=what, todo="name a file")])
    return Source(name=str(file), content=content)


async def _failures(suite: Suite, grading: Grading) -> dict[ItemId, Remark]:
    """Why items cannot be graded, by their id."""
    failures = {}
    for item in suite.items:
        found = await self_check(replace(suite, items=(item,)), grading)
        if found:
            what = "is not right by the grader, so that no answer could be"
            failures[item.id] = Remark(field="target", what=what, todo=found[0].todo)
    return failures


def _names(files: Sequence[Path]) -> str:
    return ", ".join(file.name for file in files)
