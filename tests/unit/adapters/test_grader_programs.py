import asyncio
import sys
from collections.abc import AsyncIterator

import pytest

from monitor.adapters import command_grader
from monitor.adapters.grader_programs import GraderPrograms
from monitor.domain.answers import Grade, Ungraded
from monitor.domain.identifiers import Digest, ItemId
from monitor.domain.suites import GraderSpec, Item
from tests.unit.service.fakes import InlineGraders

ITEM = Item(id=ItemId("1"), input="?", target=("x",), digest=Digest("d"))


@pytest.fixture
async def programs() -> AsyncIterator[GraderPrograms]:
    made = GraderPrograms(
        InlineGraders(),
        commands={"tests": (sys.executable, "-c", "print('{\"score\": 0.25}')")},
        urls={"sandbox": "http://127.0.0.1:1/"},
        seconds=60.0,
        at_once=2,
    )
    yield made
    await made.close()


def spec(kind: str, name: str) -> GraderSpec:
    return GraderSpec(kind=kind, options={"name": name})


async def test_a_command_that_is_allowed_is_run(programs: GraderPrograms) -> None:
    assert await programs.grade(spec("command", "tests"), ITEM, "x") == Grade(score=0.25)


@pytest.mark.parametrize("kind", ["command", "http"])
@pytest.mark.parametrize("name", ["other", "/bin/true", "http://127.0.0.1:1/", ""])
async def test_what_is_not_allowed_is_not_run(
    kind: str, name: str, programs: GraderPrograms
) -> None:
    grade = await programs.grade(spec(kind, name), ITEM, "x")
    assert grade == Grade(ungraded=Ungraded.FAILED)


async def test_a_service_that_is_down_is_a_failure(programs: GraderPrograms) -> None:
    grade = await programs.grade(spec("http", "sandbox"), ITEM, "x")
    assert grade == Grade(ungraded=Ungraded.FAILED)


async def test_all_other_graders_are_run_as_before(programs: GraderPrograms) -> None:
    grade = await programs.grade(GraderSpec(kind="exact"), ITEM, "x")
    assert grade == Grade(score=1.0, extracted="x")


async def test_only_so_many_run_at_once(
    programs: GraderPrograms, monkeypatch: pytest.MonkeyPatch
) -> None:
    running, most = 0, 0

    async def counted(*_: object, seconds: float) -> Grade:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return Grade(score=seconds / 60.0)

    monkeypatch.setattr(command_grader, "grade", counted)
    async with asyncio.TaskGroup() as group:
        for _ in range(9):
            group.create_task(programs.grade(spec("command", "tests"), ITEM, "x"))
    assert most == 2
