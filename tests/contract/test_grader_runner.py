"""What everything that runs graders must do; add an implementation to `RUNNERS`."""

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest

from monitor.adapters.grader_processes import GraderProcesses
from monitor.domain.answers import Grade, Ungraded
from monitor.domain.identifiers import Digest, ItemId
from monitor.domain.suites import GraderSpec, Item
from monitor.ports import GraderRunner

RUNNERS: list[Callable[[], GraderProcesses]] = [
    lambda: GraderProcesses(seconds=1.0, workers=1),
    lambda: GraderProcesses(seconds=1.0, workers=3),
]
ITEM = Item(id=ItemId("1"), input="?", target=("x",), digest=Digest("d"))
# Twice the time for each further a before what does not fit.
CATASTROPHIC = GraderSpec(kind="regex", options={"pattern": r"(a+)+$|x", "group": 0})
ENDLESS = "a" * 60 + "!"
RIGHT = Grade(score=1.0, extracted="x")
OVER = Grade(ungraded=Ungraded.TIME_LIMIT)


@pytest.fixture(params=RUNNERS, ids=["one worker", "three workers"])
async def runner(request: pytest.FixtureRequest) -> AsyncIterator[GraderRunner]:
    made: GraderProcesses = request.param()
    yield made
    await made.close()


@pytest.mark.parametrize(
    ("spec", "text", "grade"),
    [
        (GraderSpec(kind="exact"), "x", RIGHT),
        (GraderSpec(kind="exact"), "y", Grade(score=0.0, extracted="y")),
        (GraderSpec(kind="exact"), "", Grade(ungraded=Ungraded.NO_ANSWER)),
        (CATASTROPHIC, "x", RIGHT),
        (CATASTROPHIC, "aa", Grade(score=0.0, extracted="aa")),
        (CATASTROPHIC, "", Grade(ungraded=Ungraded.NO_ANSWER)),
        (GraderSpec(kind="exact"), "\ud800 \x00", Grade(score=0.0, extracted="\ud800 \x00")),
        (CATASTROPHIC, "\ud800\x00\n x", RIGHT),
    ],
)
async def test_grades(runner: GraderRunner, spec: GraderSpec, text: str, grade: Grade) -> None:
    assert await runner.grade(spec, ITEM, text) == grade


async def test_grader_that_hangs_ends_and_the_next_answer_is_graded(runner: GraderRunner) -> None:
    assert await runner.grade(CATASTROPHIC, ITEM, ENDLESS) == OVER
    assert await runner.grade(CATASTROPHIC, ITEM, "x") == RIGHT


async def test_answers_at_once_each_get_their_own_grade(runner: GraderRunner) -> None:
    texts = ["x", "aa", "", ENDLESS] + ["x", "a", "aaa", ""] * 5
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(runner.grade(CATASTROPHIC, ITEM, text)) for text in texts]
    extracted = [task.result().extracted or "" for task in tasks]
    assert extracted == ["" if text == ENDLESS else text for text in texts]
    assert tasks[3].result() == OVER


async def test_what_hangs_does_not_hold_up_the_loop(runner: GraderRunner) -> None:
    hanging = asyncio.create_task(runner.grade(CATASTROPHIC, ITEM, ENDLESS))
    await asyncio.sleep(0)
    assert await runner.grade(GraderSpec(kind="exact"), ITEM, "x") == RIGHT
    assert not hanging.done()
    assert await hanging == OVER
