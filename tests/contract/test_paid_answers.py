"""What any store of paid answers must do."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from monitor.adapters.embedded.paid_answers import SqlitePaidAnswers
from monitor.domain.identifiers import Digest
from monitor.ports import PaidAnswers
from tests.unit.service.fakes import MemoryPaidAnswers

A, B = Digest("a" * 64), Digest("b" * 64)


@pytest.fixture(params=["memory", "sqlite"])
async def answers(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[PaidAnswers]:
    if request.param == "memory":
        yield MemoryPaidAnswers()
        return
    opened = await SqlitePaidAnswers.open(tmp_path)
    yield opened
    await opened.close()


async def test_what_was_not_kept_is_not_found(answers: PaidAnswers) -> None:
    await answers.keep(A, b"one")
    assert await answers.find(B) is None


@pytest.mark.parametrize("value", [b"", b"one", bytes(range(256)) * 4096])
async def test_what_was_kept_is_found(answers: PaidAnswers, value: bytes) -> None:
    await answers.keep(A, value)
    assert await answers.find(A) == value


async def test_the_first_answer_stays(answers: PaidAnswers) -> None:
    await answers.keep(A, b"one")
    await answers.keep(A, b"two")
    assert await answers.find(A) == b"one"


async def test_many_are_kept_at_once(answers: PaidAnswers) -> None:
    wanted = {Digest(f"{number:064x}"): str(number).encode() for number in range(100)}
    async with asyncio.TaskGroup() as group:
        for key, value in wanted.items():
            group.create_task(answers.keep(key, value))
    assert {key: await answers.find(key) for key in wanted} == wanted


async def test_one_at_a_time_buys_an_answer(answers: PaidAnswers) -> None:
    async def buy() -> None:
        async with answers.alone(A):
            if await answers.find(A) is None:
                bought.append(A)
                await asyncio.sleep(0)
                await answers.keep(A, b"one")

    bought: list[Digest] = []
    async with answers.alone(B), asyncio.TaskGroup() as group:
        for _ in range(3):
            group.create_task(buy())
    assert bought == [A]
