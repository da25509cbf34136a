import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import pytest

from monitor.domain.answers import (
    Breakdown,
    Broken,
    ChatRequest,
    Completed,
    Exchange,
    Refused,
    Usage,
)
from monitor.domain.suites import AnswerRules, Generation, Message
from monitor.engine.statuses import EndpointFault, Gradable, Settled
from monitor.service.asking import Allowance, Asking, Attempt, Patience
from monitor.service.lanes import Lane
from monitor.service.paid_asking import PaidAsking, Reply
from tests.unit.service.fakes import MemoryPaidAnswers
from tests.unit.service.hand_clock import HandClock

ANSWER = Completed(content="4", finish_reason="stop", prompt_tokens=11, completion_tokens=3)
BUSY = Refused(http_status=503)


@dataclass
class ScriptedEndpoint:
    """Answers from a script, the last of it again and again; each after a second."""

    clock: HandClock
    script: Sequence[Exchange]
    asked: int = 0

    async def ask(self, request: ChatRequest, *, seconds: float) -> Exchange:  # noqa: ARG002 - of the port
        self.asked += 1
        exchange = self.script[min(self.asked, len(self.script)) - 1]
        await self.clock.sleep(1.0)
        return exchange

    async def models(self, *, seconds: float) -> tuple[str, ...] | Exchange:
        raise AssertionError(seconds)


@dataclass
class Bench:
    """Paid asking on a clock that is moved by hand; `again` is a later process."""

    script: Sequence[Exchange] = (ANSWER,)
    answers: MemoryPaidAnswers = field(default_factory=MemoryPaidAnswers)
    told: list[Attempt] = field(default_factory=list)
    revision: str = ""
    check: Callable[[Completed], None] = lambda _: None

    def __post_init__(self) -> None:
        self.clock = HandClock()
        self.endpoint = ScriptedEndpoint(self.clock, self.script)
        self.asking = PaidAsking(
            Asking(
                endpoint=self.endpoint,
                lane=Lane(concurrency=8, clock=self.clock),
                allowance=Allowance(retries=10),
                patience=Patience(),
                rules=AnswerRules(),
                clock=self.clock,
                tell=self.told.append,
                jitter=lambda: 0.5,
                confirm=lambda: asyncio.sleep(0),
            ),
            self.answers,
            base_url="http://tiny/v1",
            revision=self.revision,
            check=self.check,
        )

    def again(self, *script: Exchange) -> "Bench":
        # What is kept outlives a process; who is buying is known in that process alone.
        return Bench(script, MemoryPaidAnswers(self.answers.kept))

    async def ask(self, *samples: int, text: str = "2 + 2?") -> list[Reply]:
        asked = [
            asyncio.create_task(self.asking.ask(question(text), sample=sample))
            for sample in samples or (0,)
        ]
        await self.clock.run()
        return [task.result() for task in asked]


def question(text: str) -> ChatRequest:
    messages = (Message(role="user", content=text),)
    return ChatRequest(model="tiny", messages=messages, generation=Generation())


async def test_the_first_time_it_is_paid() -> None:
    bench = Bench()
    usage = Usage(attempts=1, prompt_tokens=11, completion_tokens=3)
    expected = Reply(reading=Gradable(text="4"), completed=ANSWER, usage=usage, stored=False)
    assert await bench.ask() == [expected]


async def test_the_second_time_it_is_found() -> None:
    bench = Bench()
    await bench.ask()
    later = bench.again(BUSY)
    nothing = Usage(attempts=0)
    expected = Reply(reading=Gradable(text="4"), completed=ANSWER, usage=nothing, stored=True)
    assert await later.ask() == [expected]
    assert (later.endpoint.asked, later.told) == (0, [])


async def test_each_sample_is_an_answer_of_its_own() -> None:
    other = replace(ANSWER, content="5")
    bench = Bench([ANSWER, other])
    replies = await bench.ask(0, 1)
    assert [reply.completed for reply in replies] == [ANSWER, other]
    assert [reply.completed for reply in await bench.again().ask(0, 1)] == [ANSWER, other]


async def test_looking_for_an_answer_asks_nothing() -> None:
    bench = Bench()
    assert await bench.asking.find(question("2 + 2?")) is None
    await bench.ask()
    assert await bench.asking.find(question("2 + 2?")) == ANSWER
    assert await bench.asking.find(question("2 + 2?"), sample=1) is None
    assert bench.endpoint.asked == 1


async def test_another_revision_has_answers_of_its_own() -> None:
    bench = Bench()
    await bench.ask()
    later = Bench(answers=bench.answers, revision="b")
    [reply] = await later.ask()
    assert not reply.stored


def refuse(_: Completed) -> None:
    raise PermissionError("not this one")


async def test_what_is_refused_is_neither_kept_nor_used() -> None:
    bench = Bench(check=refuse)
    with pytest.raises(PermissionError):
        await bench.ask()
    assert bench.answers.kept == {}
    await bench.again(ANSWER).ask()
    with pytest.raises(PermissionError):
        await bench.ask()


async def test_the_same_question_at_the_same_time_is_paid_once() -> None:
    bench = Bench()
    replies = await bench.ask(0, 0, 0)
    assert [reply.stored for reply in replies] == [False, True, True]
    assert bench.endpoint.asked == 1


async def test_two_that_ask_the_same_at_the_same_time_pay_once() -> None:
    first = Bench()
    second = Bench(answers=first.answers)
    asking = asyncio.create_task(first.ask())
    await first.clock.settle()
    later = await second.asking.ask(question("2 + 2?"))
    assert [reply.completed for reply in await asking] == [later.completed]
    assert (first.endpoint.asked, second.endpoint.asked) == (1, 0)


async def test_an_answer_is_kept_before_it_counts() -> None:
    bench = Bench()
    bench.answers.full = True
    with pytest.raises(OSError, match="full"):
        await bench.ask()


async def test_failures_on_the_way_are_counted_not_kept() -> None:
    bench = Bench([BUSY, replace(ANSWER, finish_reason="error"), ANSWER])
    [reply] = await bench.ask()
    assert reply.usage == Usage(attempts=3, prompt_tokens=22, completion_tokens=6)
    assert len(bench.answers.kept) == 1


@pytest.mark.parametrize(
    ("exchange", "reading"),
    [
        (BUSY, Settled),
        (Broken(cause=Breakdown.CONNECT), Settled),
        (replace(ANSWER, finish_reason="abort"), Settled),
        (Refused(http_status=401), EndpointFault),
    ],
)
async def test_what_is_no_answer_is_asked_again_the_next_time(
    exchange: Exchange, reading: type
) -> None:
    bench = Bench([exchange])
    [reply] = await bench.ask()
    assert isinstance(reply.reading, reading)
    assert reply.completed is None
    [later] = await bench.again(ANSWER).ask()
    assert later.completed == ANSWER


async def test_an_answer_in_which_there_is_nothing_is_asked_again_the_next_time() -> None:
    bench = Bench([replace(ANSWER, content=None)])
    [reply] = await bench.ask()
    assert (reply.completed, reply.usage.attempts) == (bench.script[0], 1)
    [later] = await bench.again(ANSWER).ask()
    assert later.completed == ANSWER


async def test_of_two_processes_the_first_answer_counts_in_both() -> None:
    first = Bench()
    second = first.again(replace(ANSWER, content="5", prompt_tokens=13))
    async with asyncio.TaskGroup() as group:
        asked = [group.create_task(bench.ask()) for bench in (first, second)]
    replies = [reply for task in asked for reply in task.result()]
    assert [reply.reading for reply in replies] == [Gradable(text="4")] * 2
    assert [reply.completed for reply in replies] == [ANSWER] * 2
    assert [reply.usage.prompt_tokens for reply in replies] == [11, 13]


async def test_a_refusal_was_paid_for_as_well() -> None:
    bench = Bench([replace(ANSWER, content=None, refusal="no")])
    [reply] = await bench.ask()
    [later] = await bench.again().ask()
    assert later == replace(reply, usage=Usage(attempts=0), stored=True)
