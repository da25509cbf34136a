"""What any store of kept answers must do."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from monitor.adapters.embedded.kept_answers import SqliteKeptAnswers
from monitor.domain.answers import Status
from monitor.domain.identifiers import EvaluationId, ItemId
from monitor.domain.kept_answers import KeptAnswer
from monitor.ports import KeptAnswers
from tests.unit.service.fakes import MemoryKeptAnswers

NOON = datetime(2026, 11, 29, 12, 0, 0, 123456, tzinfo=UTC)
E1, E2 = EvaluationId("e1"), EvaluationId("e2")
ANSWER = KeptAnswer(
    evaluation_id=E1,
    item=ItemId("a"),
    status=Status.NO_ANSWER,
    extracted=None,
    text="I am not sure.",
    at=NOON,
)


def answer(item: str, **changes: object) -> KeptAnswer:
    return replace(ANSWER, item=ItemId(item), **changes)  # type: ignore[arg-type]


@pytest.fixture(params=["memory", "sqlite"])
async def answers(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[KeptAnswers]:
    if request.param == "memory":
        yield MemoryKeptAnswers()
        return
    opened = await SqliteKeptAnswers.open(tmp_path, megabytes=1)
    yield opened
    await opened.close()


KEPT = [
    ANSWER,
    answer("b", status=Status.GRADED, extracted="42", text="It is 42.\n\n\0 \U0001f600"),
    answer("c", text=""),
    answer("d", text=None),
    answer("", extracted=""),
]


@pytest.mark.parametrize("kept", KEPT, ids=lambda kept: kept.item)
async def test_what_was_kept_is_found(answers: KeptAnswers, kept: KeptAnswer) -> None:
    await answers.keep(kept)
    assert await answers.find(E1) == [kept]


async def test_answers_are_found_by_their_evaluation_oldest_first(answers: KeptAnswers) -> None:
    late, early = answer("a", at=NOON + timedelta(hours=1)), answer("b")
    for each in (late, early, answer("a", evaluation_id=E2)):
        await answers.keep(each)
    assert await answers.find(E1) == [early, late]
    assert await answers.find(EvaluationId("e3")) == []


async def test_an_item_has_its_last_answer(answers: KeptAnswers) -> None:
    await answers.keep(ANSWER)
    await answers.keep(answer("a", text="42"))
    assert await answers.find(E1) == [answer("a", text="42")]


async def test_what_is_older_goes(answers: KeptAnswers) -> None:
    old, kept = answer("a"), answer("b", at=NOON + timedelta(seconds=1))
    await answers.keep(old)
    await answers.keep(kept)
    assert await answers.purge(NOON) == 0
    assert await answers.purge(NOON + timedelta(seconds=1)) == 1
    assert await answers.find(E1) == [kept]
