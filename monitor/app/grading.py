"""What grades answers, put together as the configuration allows it."""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from monitor.adapters.embedded.paid_answers import SqlitePaidAnswers
from monitor.adapters.grader_processes import GraderProcesses
from monitor.adapters.grader_programs import GraderPrograms
from monitor.domain.errors import Problem
from monitor.domain.suites import GraderSpec, Suite
from monitor.grading import graders, judge
from monitor.ports import GraderRunner, PaidAnswers
from monitor.settings import GraderSettings, Settings, SuiteSettings


def problems(suite: Suite, own: SuiteSettings, allowed: GraderSettings) -> list[Problem]:
    """What the graders of a suite need that the configuration does not have."""
    where = f"suite {suite.name!r}"
    outside = graders.outside(suite)
    found = [_missing(spec, own, allowed) for spec in outside]
    if own.judges and all(spec.kind != judge.KIND for spec in outside):
        found.append(("names judges that no grader of it asks", "leave out its `judges`"))
    lacks = list(dict.fromkeys(each for each in found if each is not None))
    return [Problem(where=where, what=what, todo=todo) for what, todo in lacks]


def _missing(
    spec: GraderSpec, own: SuiteSettings, allowed: GraderSettings
) -> tuple[str, str] | None:
    if spec.kind == judge.KIND:
        wanted, there = judge.judges(spec.options), len(own.judges)
        if wanted == there:
            return None
        what = f"wants {wanted} judge{'s'[: wanted - 1]}, but the configuration names {there}"
        return what, "name so many of the `endpoints` under `suites`, `judges`"
    known = allowed.commands if spec.kind == "command" else allowed.urls
    name, place = spec.options["name"], "commands" if spec.kind == "command" else "urls"
    if name not in known:
        what = f"wants to be graded by the {spec.kind} {name!r}, which is not allowed"
        return what, f"add it under `graders`, `{place}`, if you trust it with every answer"
    program = known[name][0]
    if spec.kind == "command" and not _can_be_run(program):
        what = f"wants to be graded by {program!r}, which is no program that can be run"
        return what, f"give its whole path under `graders`, `commands`, `{name}`"
    return None


def _can_be_run(program: str) -> bool:
    """Whether it is found without the environment, which it will not have."""
    return Path(program).is_absolute() and shutil.which(program) is not None


@asynccontextmanager
async def open_graders(settings: Settings) -> AsyncIterator[GraderRunner]:
    """Whatever grades without being asked as a model: processes, and the programs allowed."""
    processes = GraderProcesses(seconds=settings.limits.grader_seconds)
    programs = GraderPrograms(
        processes,
        commands=settings.graders.commands,
        urls=settings.graders.urls,
        seconds=settings.graders.seconds,
        at_once=settings.graders.at_once,
    )
    try:
        yield programs
    finally:
        await programs.close()
        await processes.close()


@asynccontextmanager
async def open_paid_answers(settings: Settings) -> AsyncIterator[PaidAnswers | None]:
    """Where replies of judges are kept; not even made where no suite has judges.

    Raises:
        StateError: the file cannot be used.
    """
    if not any(suite.judges for suite in settings.suites):
        yield None
        return
    answers = await SqlitePaidAnswers.open(settings.state.directory)
    try:
        yield answers
    finally:
        await answers.close()
