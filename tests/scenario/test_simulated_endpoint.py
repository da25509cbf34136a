"""The simulated endpoint on a real socket, asked by the client that the product uses."""

import asyncio
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest

from monitor.adapters.openai_endpoint import OpenAIEndpoint
from monitor.domain.answers import ChatRequest, Exchange, Fault as EndpointFault, Refused, Status
from monitor.domain.suites import AnswerRules, Suite
from monitor.engine import statuses
from monitor.grading import graders
from monitor.history import outcomes
from monitor.prompting import templates
from monitor.simulation import answers, serving, suites
from monitor.simulation.answers import SimulatedModel
from monitor.simulation.knobs import Fault, Knobs, Trigger
from monitor.simulation.server import Simulation

SUITE = suites.arithmetic_suite(60)
IDS = [str(item.id) for item in SUITE.items]
BOOK = answers.item_response_book(
    [
        SimulatedModel(name="v1", accuracy=0.8),
        SimulatedModel(name="v2", accuracy=0.6, version_of="v1"),
    ],
    items=IDS,
)


def simulation(*, api_key: str | None = None, **knobs: Any) -> Simulation:  # noqa: ANN401
    return Simulation(SUITE, BOOK, knobs=Knobs(**knobs), api_key=api_key)


def client(base_url: str) -> openai.AsyncOpenAI:
    http = httpx2.AsyncClient(trust_env=False)
    return openai.AsyncOpenAI(
        base_url=base_url, api_key="sk-made-up", max_retries=0, http_client=http
    )


async def ask(
    api: openai.AsyncOpenAI, index: int = 0, model: str = "v1", suite: Suite = SUITE
) -> str:
    asked = suite.prompt.user.replace("{{ input }}", str(suite.items[index].input))
    completion = await api.chat.completions.create(
        model=model, messages=[{"role": "user", "content": asked}], temperature=0.0
    )
    return completion.choices[0].message.content or ""


async def scores(api: openai.AsyncOpenAI, model: str, suite: Suite = SUITE) -> list[float | None]:
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(ask(api, index, model, suite)) for index in range(len(suite.items))
        ]
    return [
        graders.grade(suite.grader, item, task.result()).score
        for item, task in zip(suite.items, tasks, strict=True)
    ]


async def test_graded_answers_are_the_book() -> None:
    simulated = simulation(latency=0.005, latency_sigma=0.5)
    async with serving.serving_async(simulated) as base_url, client(base_url) as api:
        for model in BOOK.models:
            assert tuple(await scores(api, model)) == BOOK.rows()[model]
    assert (BOOK.truth("v1"), BOOK.truth("v2")) == (0.8, 0.6)
    assert simulated.ledger.answered("v2") == dict.fromkeys(IDS, 1)
    assert simulated.ledger.document()["most_under_way"] > 1


async def test_recorded_outcomes_are_served(shared_data: Path) -> None:
    matrix = outcomes.read_outcomes(shared_data / "outcomes" / "bfcl_v1.npz")
    few, model = slice(0, 1700, 17), "gpt-4o-2024-08-06"
    items = matrix.items[few]
    suite = suites.recorded_suite(items, (matrix.groups or ())[few])
    book = answers.recorded_book(matrix.outcomes[:, few], models=matrix.models, items=items)
    async with serving.serving_async(Simulation(suite, book)) as base_url, client(base_url) as api:
        served = await scores(api, model, suite)
    assert served == matrix.outcomes[matrix.models.index(model), few].tolist()


async def test_the_client_understands_errors() -> None:
    faults = {Fault.RATE_LIMIT: Trigger(items=frozenset(IDS[:1]))}
    simulated = simulation(faults=faults, api_key="sk-made-up")
    async with serving.serving_async(simulated) as base_url, client(base_url) as api:
        assert [model.id async for model in api.models.list()] == ["v1", "v2"]
        with pytest.raises(openai.NotFoundError, match="`v9` does not exist"):
            await ask(api, model="v9")
        with pytest.raises(openai.RateLimitError):
            await ask(api)
        with pytest.raises(openai.AuthenticationError):
            await ask(api.with_options(api_key="sk-other"))


STATUSES: dict[Fault, Status | EndpointFault] = {
    Fault.RATE_LIMIT: Status.RATE_LIMITED,
    Fault.QUOTA: EndpointFault.QUOTA_EXHAUSTED,
    Fault.SERVER_ERROR: Status.SERVER_ERROR,
    Fault.CONTEXT_LENGTH: Status.CONTEXT_LENGTH,
    Fault.CONTENT_FILTER: Status.CONTENT_FILTER,
    Fault.HANG: Status.TIMEOUT,
    Fault.DISCONNECT: Status.CONNECT,
    Fault.MALFORMED: Status.MALFORMED,
    Fault.NO_CHOICES: Status.MALFORMED,
    Fault.EMPTY_CONTENT: Status.EMPTY_CONTENT,
    Fault.REASONING_ONLY: Status.EMPTY_CONTENT,
    Fault.TRUNCATED: Status.TRUNCATED,
    Fault.REFUSAL: Status.REFUSAL,
    Fault.NO_ANSWER: Status.NO_ANSWER,
}


async def exchange(base_url: str, *, seconds: float) -> Exchange:
    item = SUITE.items[0]
    endpoint = OpenAIEndpoint(base_url)
    request = ChatRequest(
        model="v1", messages=templates.render(SUITE, item), generation=SUITE.generation
    )
    try:
        return await endpoint.ask(request, seconds=seconds)
    finally:
        await endpoint.close()


def status(received: Exchange) -> Status | EndpointFault:
    match statuses.read_exchange(received, AnswerRules()):
        case statuses.Gradable() as gradable:
            grade = graders.grade(SUITE.grader, SUITE.items[0], gradable.text)
            return statuses.settle_grade(gradable, grade).status
        case statuses.EndpointFault(fault=fault):
            return fault
        case reading:
            return reading.status


@pytest.mark.parametrize("fault", Fault)
async def test_the_product_takes_each_fault_for_what_it_is(fault: Fault) -> None:
    simulated = simulation(faults={fault: Trigger()})
    async with serving.serving_async(simulated) as base_url:
        # Only a hang is waited for to its end, and it has none.
        received = await exchange(base_url, seconds=0.2 if fault is Fault.HANG else 60.0)
    assert status(received) == STATUSES[fault]


async def test_the_product_learns_how_long_to_wait() -> None:
    simulated = simulation(faults={Fault.RATE_LIMIT: Trigger()}, retry_after=0.25)
    async with serving.serving_async(simulated) as base_url:
        received = await exchange(base_url, seconds=60.0)
    assert isinstance(received, Refused)
    assert received.retry_after == 0.25


async def test_a_rate_is_kept_over_many_questions() -> None:
    async with serving.serving_async(simulation(rate=0.001)) as base_url, client(base_url) as api:
        assert "=" in await ask(api, 0)
        with pytest.raises(openai.RateLimitError) as caught:
            await ask(api, 1)
    assert 900 < int(caught.value.response.headers["retry-after"]) <= 1000


async def test_a_broken_connection_is_one() -> None:
    simulated = simulation(faults={Fault.DISCONNECT: Trigger(first=1)})
    async with serving.serving_async(simulated) as base_url, client(base_url) as api:
        with pytest.raises(openai.APIConnectionError) as caught:
            await ask(api)
        assert isinstance(caught.value.__cause__, httpx2.RemoteProtocolError)
        assert "=" in await ask(api)


async def test_who_stops_waiting_is_not_answered() -> None:
    simulated = simulation(faults={Fault.HANG: Trigger(first=1)})
    async with serving.serving_async(simulated) as base_url, client(base_url) as api:
        with pytest.raises(openai.APITimeoutError):
            await ask(api.with_options(timeout=0.05))
        assert "=" in await ask(api)
    assert simulated.ledger.asked("v1") == {IDS[0]: 2}
    assert simulated.ledger.answered("v1") == {IDS[0]: 1}


async def test_stopping_breaks_hanging_requests_off() -> None:
    simulated = simulation(faults={Fault.HANG: Trigger()})
    async with client("http://unused") as api:
        async with serving.serving_async(simulated) as base_url:
            hanging = asyncio.ensure_future(ask(api.with_options(base_url=base_url)))
            while not simulated.ledger.asked("v1"):  # noqa: ASYNC110 - counted by another thread
                await asyncio.sleep(0)
        with pytest.raises(openai.APIError):
            await hanging
    assert "simulation" not in {thread.name for thread in threading.enumerate()}


SERVE = """
from monitor.simulation import answers, serving, server, suites
suite = suites.recorded_suite(["a"])
model = answers.SimulatedModel(name="m", accuracy=1.0)
book = answers.item_response_book([model], items=["a"])
announce = lambda base_url: print(base_url, flush=True)
serving.serve(server.Simulation(suite, book), host="127.0.0.1", port=0, announce=announce)
"""


def test_serving_for_good_ends_with_a_signal() -> None:
    with subprocess.Popen([sys.executable, "-c", SERVE], stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout
        base_url = run.stdout.readline().strip()
        assert httpx2.get(f"{base_url}/models", trust_env=False).status_code == 200
        run.send_signal(signal.SIGTERM)
        assert run.wait() == -signal.SIGTERM
