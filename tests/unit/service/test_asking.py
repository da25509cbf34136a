import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise

import pytest

from monitor.domain.answers import (
    Breakdown,
    Broken,
    ChatRequest,
    Completed,
    Exchange,
    Fault,
    Refused,
    Status,
    Usage,
)
from monitor.domain.suites import AnswerRules, Generation
from monitor.engine.statuses import EndpointFault, Gradable, Settled
from monitor.service.asking import (
    Allowance,
    Asking,
    Attempt,
    Learnt,
    Patience,
    ask_until_settled,
)
from monitor.service.lanes import Lane
from tests.unit.service.hand_clock import HandClock

REQUEST = ChatRequest(model="tiny", messages=(), generation=Generation())
ANSWER = Completed(content="B", finish_reason="stop", prompt_tokens=11, completion_tokens=3)
BUSY = Refused(http_status=503)
CONNECT = Broken(cause=Breakdown.CONNECT, detail="refused")
TIMEOUT = Broken(cause=Breakdown.TIMEOUT)


@dataclass
class ScriptedEndpoint:
    """Answers from a script, each after so many seconds, and keeps what it was granted."""

    clock: HandClock
    script: list[Exchange]
    takes: float = 0.0
    granted: list[float] = field(default_factory=list)
    started: list[float] = field(default_factory=list)

    async def ask(self, request: ChatRequest, *, seconds: float) -> Exchange:
        assert request is REQUEST
        self.granted.append(seconds)
        self.started.append(self.clock.seconds)
        exchange = self.script[min(len(self.granted), len(self.script)) - 1]
        await self.clock.sleep(seconds if exchange is TIMEOUT else self.takes)
        return exchange

    async def models(self, *, seconds: float) -> tuple[str, ...] | Exchange:
        raise AssertionError(seconds)


@dataclass
class Bench:
    """One evaluation's asking, on a clock that is moved by hand."""

    clock: HandClock
    endpoint: ScriptedEndpoint
    told: list[Attempt]
    asking: Asking

    async def ask(self, times: int = 1) -> list[Learnt]:
        asked = [asyncio.create_task(ask_until_settled(self.asking, REQUEST)) for _ in range(times)]
        await self.clock.run()
        return [task.result() for task in asked]

    def set_patience(self, patience: Patience) -> None:
        self.asking = replace(self.asking, patience=patience)

    def set_confirmation(self, seconds: float) -> None:
        """Let the bus take so long before each attempt."""
        self.asking = replace(self.asking, confirm=lambda: self.clock.sleep(seconds))

    def set_rules(self, rules: AnswerRules) -> None:
        self.asking = replace(self.asking, rules=rules)


async def at_once() -> None:
    """The bus has nothing against it."""


@pytest.fixture
def bench() -> Callable[..., Bench]:
    def make(*script: Exchange, retries: int = 100, concurrency: int = 100) -> Bench:
        clock, told = HandClock(), list[Attempt]()
        endpoint = ScriptedEndpoint(clock, list(script))
        asking = Asking(
            endpoint=endpoint,
            lane=Lane(concurrency=concurrency, clock=clock),
            allowance=Allowance(retries=retries),
            patience=Patience(),
            rules=AnswerRules(),
            clock=clock,
            tell=told.append,
            jitter=lambda: 0.5,
            confirm=at_once,
        )
        return Bench(clock, endpoint, told, asking)

    return make


Make = Callable[..., Bench]


async def test_an_answer_settles_at_once(bench: Make) -> None:
    made = bench(ANSWER)
    assert await made.ask() == [
        Learnt(
            reading=Gradable(text="B"),
            usage=Usage(attempts=1, prompt_tokens=11, completion_tokens=3),
            completed=ANSWER,
        )
    ]
    assert made.endpoint.granted == [60.0]


async def test_failures_are_retried_and_every_attempt_counted(bench: Make) -> None:
    cut_off = replace(ANSWER, finish_reason="error")
    made = bench(CONNECT, cut_off, ANSWER)
    [learnt] = await made.ask()
    assert learnt.reading == Gradable(text="B")
    assert learnt.usage == Usage(attempts=3, prompt_tokens=22, completion_tokens=6)
    assert [attempt.retried for attempt in made.told] == [
        Status.CONNECT,
        Status.SERVER_ERROR,
        None,
    ]


async def test_what_stays_broken_is_missing_with_its_last_reason(bench: Make) -> None:
    made = bench(CONNECT, BUSY)
    [learnt] = await made.ask()
    assert learnt == Learnt(
        reading=Settled(status=Status.SERVER_ERROR, detail="HTTP 503"), usage=Usage(attempts=4)
    )
    assert made.told[-1].retried is None


@pytest.mark.parametrize(
    ("exchange", "expected"),
    [
        (Refused(http_status=401), EndpointFault),
        (Refused(http_status=400), Settled),
        (Completed(content=None, finish_reason="stop"), Settled),
    ],
)
async def test_what_no_retry_can_mend_is_not_retried(
    bench: Make, exchange: Exchange, expected: type
) -> None:
    made = bench(exchange, ANSWER)
    [learnt] = await made.ask()
    assert isinstance(learnt.reading, expected)
    assert learnt.usage.attempts == 1


async def test_waits_double_and_are_drawn(bench: Make) -> None:
    made = bench(BUSY)
    made.set_patience(Patience(attempts=6, backoff=2.0, longest_backoff=10.0))
    await made.ask()
    starts = made.endpoint.started
    waits = [later - earlier for earlier, later in pairwise(starts)]
    assert waits == [1.0, 2.0, 4.0, 5.0, 5.0]


async def test_a_wait_is_no_shorter_than_the_server_asks(bench: Make) -> None:
    made = bench(replace(BUSY, retry_after=7.0), ANSWER)
    await made.ask()
    assert made.endpoint.started == [0.0, 7.0]


async def test_a_wait_beyond_the_deadline_is_not_begun(bench: Make) -> None:
    made = bench(Refused(http_status=429, retry_after=500.0))
    [learnt] = await made.ask()
    assert learnt.reading == Settled(status=Status.RATE_LIMITED, detail="HTTP 429")
    assert made.clock.seconds == 0.0


async def test_one_deadline_holds_for_all_attempts(bench: Make) -> None:
    made = bench(TIMEOUT)
    made.set_patience(Patience(item_seconds=100.0, attempt_seconds=60.0))
    [learnt] = await made.ask()
    assert learnt.reading == Settled(status=Status.TIMEOUT)
    assert made.endpoint.granted == [60.0, 39.5]
    assert made.clock.seconds == 100.0


async def test_an_objective_charges_only_an_attempt_with_full_time(bench: Make) -> None:
    slow = bench(TIMEOUT)
    slow.set_rules(AnswerRules(latency_objective=True))
    [learnt] = await slow.ask()
    assert learnt == Learnt(
        reading=Settled(status=Status.TOO_SLOW, score=0.0), usage=Usage(attempts=1)
    )
    late = bench(replace(BUSY, retry_after=100.0), TIMEOUT)
    late.set_rules(AnswerRules(latency_objective=True))
    [learnt] = await late.ask()
    assert isinstance(learnt.reading, Settled)
    assert learnt.reading.status == Status.TIMEOUT


async def test_an_items_time_may_be_shorter_than_an_attempts(bench: Make) -> None:
    made = bench(TIMEOUT)
    made.set_rules(AnswerRules(latency_objective=True))
    made.set_patience(Patience(item_seconds=2.0, attempt_seconds=60.0))
    [learnt] = await made.ask()
    assert learnt.reading == Settled(status=Status.TOO_SLOW, score=0.0)
    assert made.endpoint.granted == [2.0]


async def test_retries_end_with_the_allowance_first_attempts_do_not(bench: Make) -> None:
    made = bench(BUSY, retries=3)
    learnt = await made.ask(times=5)
    assert sum(one.usage.attempts for one in learnt) == 5 + 3
    assert {one.reading.status for one in learnt if isinstance(one.reading, Settled)} == {
        Status.SERVER_ERROR
    }


async def test_a_negative_allowance_grants_no_retry(bench: Make) -> None:
    [learnt] = await bench(BUSY, retries=-1).ask()
    assert learnt.usage.attempts == 1


async def test_slots_are_held_during_attempts_not_during_waits(bench: Make) -> None:
    made = bench(BUSY, ANSWER, concurrency=1)
    made.endpoint.takes = 10.0
    made.set_patience(Patience(backoff=100.0))
    await made.ask(times=2)
    assert made.endpoint.started == [0.0, 10.0, 25.0]


async def test_queueing_does_not_use_up_an_items_time(bench: Make) -> None:
    made = bench(ANSWER, concurrency=1)
    made.endpoint.takes = 50.0
    learnt = await made.ask(times=10)
    assert {one.reading for one in learnt} == {Gradable(text="B")}
    assert made.endpoint.granted == [60.0] * 10


async def test_a_rate_limit_holds_everybody_back(bench: Make) -> None:
    made = bench(Refused(http_status=429, retry_after=20.0), ANSWER, concurrency=1)
    await made.ask(times=3)
    assert made.endpoint.started == [0.0, 20.0, 20.0, 20.0]
    assert made.asking.lane.limit == 1


async def test_an_item_whose_time_ends_in_the_queue_is_not_asked_again(bench: Make) -> None:
    made = bench(BUSY, ANSWER, concurrency=1)
    made.endpoint.takes = 55.0
    made.set_patience(Patience(item_seconds=60.0))
    first, *others = await made.ask(times=3)
    assert first == Learnt(
        reading=Settled(status=Status.SERVER_ERROR, detail="HTTP 503"), usage=Usage(attempts=1)
    )
    assert [one.usage.attempts for one in others] == [1, 1]
    assert len(made.told) == 3


async def test_what_was_cut_off_and_given_up_is_no_completion(bench: Make) -> None:
    [learnt] = await bench(replace(ANSWER, finish_reason="error")).ask()
    assert learnt.completed is None


async def test_an_attempt_is_told_with_its_time_and_usage(bench: Make) -> None:
    made = bench(ANSWER)
    made.endpoint.takes = 1.5
    await made.ask()
    usage = Usage(attempts=1, prompt_tokens=11, completion_tokens=3)
    assert made.told == [Attempt(seconds=1.5, retried=None, usage=usage)]


@pytest.mark.parametrize("exchange", [ANSWER, BUSY], ids=["attempt", "wait"])
async def test_cancelling_ends_it_and_gives_the_slot_back(bench: Make, exchange: Exchange) -> None:
    made = bench(exchange, concurrency=1)
    made.endpoint.takes = 10.0
    task = asyncio.create_task(ask_until_settled(made.asking, REQUEST))
    await made.clock.run(until=0.0 if exchange is ANSWER else 10.0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with asyncio.timeout(1), made.asking.lane.turn():
        pass


async def test_a_defect_of_the_endpoint_is_not_swallowed(bench: Make) -> None:
    made = bench()
    with pytest.raises(IndexError):
        await ask_until_settled(made.asking, REQUEST)


async def test_a_fault_names_itself(bench: Make) -> None:
    [learnt] = await bench(Refused(http_status=403, message="no access")).ask()
    assert learnt.reading == EndpointFault(fault=Fault.FORBIDDEN, detail="HTTP 403: no access")


async def test_waiting_for_the_bus_takes_nothing_of_the_items_time(bench: Make) -> None:
    made = bench(BUSY, ANSWER)
    made.set_patience(Patience(item_seconds=10.0, attempt_seconds=5.0))
    made.set_confirmation(1000.0)
    (learnt,) = await made.ask()
    assert learnt.usage.attempts == 2
    assert isinstance(learnt.reading, Gradable)
