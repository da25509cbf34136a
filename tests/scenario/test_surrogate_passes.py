"""A surrogate pass over real HTTP and a real store, broken off and taken up again."""

import asyncio
from pathlib import Path

import pytest

from monitor.adapters.embedded.paid_answers import SqlitePaidAnswers
from monitor.adapters.grader_processes import GraderProcesses
from monitor.adapters.openai_endpoint import OpenAIEndpoint
from monitor.adapters.system_clock import SystemClock
from monitor.domain.facts import Fact, SurrogateAnswered
from monitor.domain.surrogates import SurrogateSettings, SurrogateSignal
from monitor.service.asking import Patience
from monitor.service.catalog import Target
from monitor.service.equivalences import Canonical
from monitor.service.lanes import Lane
from monitor.service.surrogate_pass import Passed, Surrogate, SurrogatePass, Tools
from monitor.simulation import answers, serving, suites
from monitor.simulation.answers import SimulatedModel
from monitor.simulation.knobs import Fault, Knobs, Trigger
from monitor.simulation.server import Simulation
from monitor.wire import signals

ITEMS, SAMPLES, CONCURRENCY = 40, 8, 4
SUITE = suites.arithmetic_suite(ITEMS)
BOOK = answers.item_response_book(
    [SimulatedModel(name="small", accuracy=0.5), SimulatedModel(name="large", accuracy=0.8)],
    items=[str(item.id) for item in SUITE.items],
)
BREAKING = 100  # answers of 320


class Watch:
    """Implements `ports.Telemetry`: says when so many answers have come."""

    def __init__(self) -> None:
        self.far_enough = asyncio.Event()

    def record(self, fact: Fact) -> None:
        if isinstance(fact, SurrogateAnswered) and fact.settled == BREAKING:
            self.far_enough.set()


async def a_pass(base_url: str, directory: Path, watch: Watch | None = None) -> Passed:
    """Make a pass as a process would, with a store of its own."""
    endpoint, store = OpenAIEndpoint(base_url), await SqlitePaidAnswers.open(directory)
    graders, clock = GraderProcesses(), SystemClock()
    target = Target(
        model="small",
        base_url=base_url,
        endpoint=endpoint,
        lane=Lane(concurrency=CONCURRENCY, clock=clock),
        concurrency=CONCURRENCY,
        patience=Patience(backoff=0.0),
        gate_seconds=0.0,
        price=None,
    )
    tools = Tools(
        answers=store,
        graders=graders,
        clock=clock,
        telemetry=watch or Watch(),
        jitter=lambda: 0.0,
    )
    surrogate = Surrogate(
        name="small", target=target, settings=SurrogateSettings(samples=SAMPLES, retry_share=0.5)
    )
    try:
        made = SurrogatePass(SUITE, surrogate, tools, software="0")
        return await made.run(Canonical(SUITE, graders))
    finally:
        await endpoint.close()
        await graders.close()
        await store.close()


async def broken_off(base_url: str, directory: Path) -> None:
    """Make a pass that dies when about a third of it is done."""
    watch = Watch()
    dying = asyncio.create_task(a_pass(base_url, directory, watch))
    await watch.far_enough.wait()
    dying.cancel()
    with pytest.raises(asyncio.CancelledError):
        await dying


def told(signal: SurrogateSignal, *, right: bool) -> float:
    """Mean entropy of the items that the surrogate usually gets right, or wrong."""
    chosen = [
        entropy
        for entropy, outcome in zip(signal.entropy, BOOK.rows()["small"], strict=True)
        if outcome is right
    ]
    return sum(chosen) / len(chosen)


async def test_what_was_bought_before_it_died_is_not_bought_again(tmp_path: Path) -> None:
    knobs = Knobs(faults={Fault.SERVER_ERROR: Trigger(share=0.05)}, latency=0.01)
    simulated = Simulation(SUITE, BOOK, knobs=knobs)
    async with serving.serving_async(simulated) as base_url:
        await broken_off(base_url, tmp_path)
        passed = await a_pass(base_url, tmp_path)
        asked = simulated.ledger.asked("small")
        again = await a_pass(base_url, tmp_path)
        assert simulated.ledger.asked("small") == asked
    bought = sum(simulated.ledger.answered("small").values())
    # Nothing but what was under way when it died may have been lost.
    assert ITEMS * SAMPLES <= bought <= ITEMS * SAMPLES + CONCURRENCY
    assert passed.signal.answered == (SAMPLES,) * ITEMS
    assert signals.encode(again.signal) == signals.encode(passed.signal)
    assert again.bought.attempts == 0


async def test_a_surrogate_is_less_sure_of_what_it_gets_wrong(tmp_path: Path) -> None:
    simulated = Simulation(SUITE, BOOK)
    async with serving.serving_async(simulated) as base_url:
        signal = (await a_pass(base_url, tmp_path)).signal
    assert told(signal, right=False) > 2 * told(signal, right=True)
    assert signal.pass_rate is not None
    assert 0.35 < sum(signal.pass_rate) / ITEMS < 0.75
