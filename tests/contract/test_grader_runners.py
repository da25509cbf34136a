"""What whoever runs graders must do, be they rules, processes or programs."""

import sys
from collections.abc import AsyncIterator

import pytest

from monitor.adapters.grader_processes import GraderProcesses
from monitor.adapters.grader_programs import GraderPrograms
from monitor.domain.answers import Grade, Ungraded
from monitor.domain.identifiers import Digest, ItemId
from monitor.domain.suites import GraderSpec, Item
from monitor.ports import GraderRunner
from tests.unit.service.fakes import InlineGraders

ITEM = Item(id=ItemId("1"), input="?", target=("x",), digest=Digest("d"))
SCORING = (sys.executable, "-c", "print('{\"score\": 1}')")
BROKEN = (sys.executable, "-c", "raise SystemExit(1)")


@pytest.fixture(params=["memory", "processes", "programs"])
async def runner(request: pytest.FixtureRequest) -> AsyncIterator[GraderRunner]:
    if request.param == "memory":
        yield InlineGraders()
        return
    processes = GraderProcesses(seconds=60.0, workers=1)
    programs = GraderPrograms(
        processes,
        commands={"scoring": SCORING, "broken": BROKEN},
        urls={},
        seconds=60.0,
        at_once=1,
    )
    yield processes if request.param == "processes" else programs
    await programs.close()
    await processes.close()


@pytest.mark.parametrize("text", ["x", "x" * 30_000])
@pytest.mark.parametrize("kind", ["exact", "regex"])
async def test_a_text_is_scored(kind: str, text: str, runner: GraderRunner) -> None:
    options = {"pattern": "x"} if kind == "regex" else {}
    grade = await runner.grade(GraderSpec(kind=kind, options=options), ITEM, text)
    assert grade.score == float(kind == "regex" or text == "x")


async def test_a_text_without_an_answer_is_a_value(runner: GraderRunner) -> None:
    grade = await runner.grade(GraderSpec(kind="exact"), ITEM, " ")
    assert grade == Grade(ungraded=Ungraded.NO_ANSWER)


@pytest.mark.parametrize("runner", ["programs"], indirect=True)
@pytest.mark.parametrize(
    ("name", "grade"),
    [("scoring", Grade(score=1.0)), ("broken", Grade(ungraded=Ungraded.FAILED))],
)
async def test_a_program_that_fails_is_a_value(
    name: str, grade: Grade, runner: GraderRunner
) -> None:
    spec = GraderSpec(kind="command", options={"name": name})
    assert await runner.grade(spec, ITEM, "x") == grade
