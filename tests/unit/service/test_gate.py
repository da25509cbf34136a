import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from monitor.domain.answers import (
    Breakdown,
    Broken,
    ChatRequest,
    Completed,
    Exchange,
    Fault,
    Refused,
)
from monitor.domain.facts import EndpointAwaited, Fact
from monitor.domain.identifiers import EvaluationId
from monitor.engine.statuses import EndpointFault
from monitor.service import gate
from monitor.service.asking import Patience
from monitor.service.catalog import Target
from monitor.service.lanes import Lane
from tests.unit.service.hand_clock import HandClock

DOWN = Broken(cause=Breakdown.CONNECT, detail="refused")
Reply = tuple[str, ...] | Exchange


@dataclass
class Listing:
    """An endpoint that says in turn what it serves; the last reply is repeated."""

    replies: Sequence[Reply]
    asked: list[float] = field(default_factory=list)

    async def models(self, *, seconds: float) -> Reply:
        self.asked.append(seconds)
        return self.replies[min(len(self.asked), len(self.replies)) - 1]

    async def ask(self, request: ChatRequest, *, seconds: float) -> Exchange:
        raise AssertionError(request, seconds)


@dataclass
class Waits:
    """Keeps what is told while the gate is closed."""

    told: list[EndpointAwaited] = field(default_factory=list)

    def record(self, fact: Fact) -> None:
        assert isinstance(fact, EndpointAwaited)
        self.told.append(fact)


@dataclass
class Arrival:
    """How waiting ended, when, and what was told meanwhile."""

    fault: EndpointFault | None
    seconds: float
    told: list[EndpointAwaited]
    asked: list[float]


async def wait_for(*replies: Reply, gate_seconds: float = 60.0) -> Arrival:
    clock, waits, endpoint = HandClock(), Waits(), Listing(replies)
    target = Target(
        model="tiny",
        base_url="http://tiny/v1",
        endpoint=endpoint,
        lane=Lane(concurrency=1, clock=clock),
        concurrency=1,
        patience=Patience(),
        gate_seconds=gate_seconds,
        price=None,
    )
    waiting = asyncio.create_task(
        gate.wait_for_endpoint(
            target, evaluation_id=EvaluationId("e"), clock=clock, telemetry=waits
        )
    )
    await clock.run()
    return Arrival(waiting.result(), clock.seconds, waits.told, endpoint.asked)


@pytest.mark.parametrize(
    "reply",
    [
        ("tiny",),
        ("other", "tiny"),
        (),
        *(Refused(http_status=status) for status in (400, 404, 405, 422, 501)),
        Completed(content="hello", finish_reason="stop"),
    ],
)
async def test_an_endpoint_that_is_up_is_let_through_at_once(reply: Reply) -> None:
    arrival = await wait_for(reply)
    assert (arrival.fault, arrival.seconds, arrival.told) == (None, 0.0, [])


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        (Refused(http_status=401, message="bad key"), Fault.UNAUTHORIZED),
        (Refused(http_status=403), Fault.FORBIDDEN),
    ],
)
async def test_whoever_is_turned_away_does_not_wait(reply: Reply, fault: Fault) -> None:
    arrival = await wait_for(reply)
    assert arrival.fault is not None
    assert (arrival.fault.fault, arrival.seconds) == (fault, 0.0)
    assert "list of models" in arrival.fault.detail


@pytest.mark.parametrize(
    ("reply", "fault", "detail"),
    [
        (DOWN, Fault.UNREACHABLE, "no answer (connect): refused"),
        (Refused(http_status=503), Fault.UNREACHABLE, "HTTP 503"),
        (Refused(http_status=429), Fault.UNREACHABLE, "HTTP 429"),
        (("other",), Fault.UNKNOWN_MODEL, "serves other, not tiny"),
    ],
)
async def test_what_never_comes_up_is_a_fault_in_the_end(
    reply: Reply, fault: Fault, detail: str
) -> None:
    arrival = await wait_for(reply)
    assert arrival.fault is not None
    assert arrival.fault.fault is fault
    assert detail in arrival.fault.detail
    assert "after waiting 60 s" in arrival.fault.detail


async def test_waits_grow_and_stay_within_the_time_of_the_gate() -> None:
    arrival = await wait_for(DOWN)
    assert [told.waited for told in arrival.told] == [0.0, 0.5, 1.5, 3.5, 7.5, 15.5, 30.5]
    assert arrival.seconds == 45.5
    assert set(arrival.asked) == {gate.PROBE_SECONDS}


async def test_a_gate_without_time_asks_once() -> None:
    arrival = await wait_for(DOWN, gate_seconds=0.0)
    assert arrival.fault is not None
    assert len(arrival.asked) == 1


async def test_a_rollout_is_waited_for() -> None:
    """Nothing listens, then the old model answers, then the new one."""
    arrival = await wait_for(DOWN, Refused(http_status=503), ("old",), ("tiny",))
    assert arrival.fault is None
    assert [told.detail.split()[0] for told in arrival.told] == ["no", "HTTP", "serves"]


@pytest.mark.parametrize(
    "reply",
    [
        Refused(http_status=500, message="m" * 10**6),
        Broken(cause=Breakdown.MALFORMED, detail="d" * 10**6),
        ("n" * 10**6,) * 9,
    ],
    ids=["message", "detail", "names"],
)
async def test_whatever_is_said_at_length_is_cut_short(reply: Reply) -> None:
    arrival = await wait_for(reply, gate_seconds=0.0)
    assert arrival.fault is not None
    assert len(arrival.fault.detail) < 1200


async def test_a_long_list_of_models_is_cut_short() -> None:
    arrival = await wait_for(tuple(f"model-{number}" for number in range(900)), gate_seconds=0.0)
    assert arrival.fault is not None
    assert len(arrival.fault.detail) < 120
