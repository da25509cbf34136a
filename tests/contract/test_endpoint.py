"""What the service may rely on, whoever answers."""

import json
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import httpx2
import pytest

from monitor.adapters.openai_endpoint import OpenAIEndpoint
from monitor.domain.answers import Breakdown, Broken, ChatRequest, Completed, Refused
from monitor.domain.suites import Generation, Message
from monitor.ports import Endpoint
from tests.contract.raw_server import RawServer, raw_server, response

QUESTION = ChatRequest(
    model="tiny",
    messages=(Message(role="user", content="Is it B? Answer with a letter."),),
    generation=Generation(max_tokens=8),
)
PATIENT = 60.0


class Deployment(Protocol):
    """A server, and how to make its next reply what a test needs."""

    @property
    def url(self) -> str: ...

    async def answers(self, text: str, finish_reason: str) -> None: ...
    async def refuses(self, http_status: int, retry_after: float | None = None) -> None: ...
    async def stalls(self) -> None: ...


@dataclass
class RawDeployment:
    """Bytes written here."""

    server: RawServer

    @property
    def url(self) -> str:
        return self.server.url

    async def answers(self, text: str, finish_reason: str) -> None:
        message = {"role": "assistant", "content": text}
        choices = [{"index": 0, "message": message, "finish_reason": finish_reason}]
        usage = {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10}
        self.server.reply = response(json.dumps({"choices": choices, "usage": usage}))

    async def refuses(self, http_status: int, retry_after: float | None = None) -> None:
        headers = () if retry_after is None else (f"Retry-After: {retry_after:g}",)
        self.server.reply = response('{"error": {"message": "No."}}', http_status, headers)

    async def stalls(self) -> None:
        self.server.stalls = True


@dataclass
class MockDeployment:
    """llmock, which was not written here."""

    root: str

    @property
    def url(self) -> str:
        return f"{self.root}/v1"

    async def behave(self, **behavior: object) -> None:
        async with httpx2.AsyncClient(trust_env=False) as client:
            (await client.delete(f"{self.root}/_llmock/scenario")).raise_for_status()
            scenario = {"behaviors": [behavior]}
            made = await client.post(f"{self.root}/_llmock/scenario", json=scenario)
            made.raise_for_status()

    async def answers(self, text: str, finish_reason: str) -> None:
        await self.behave(type="reply", text=text, finish_reason=finish_reason)

    async def refuses(self, http_status: int, retry_after: float | None = None) -> None:
        await self.behave(type="fail", status=http_status, retry_after=retry_after)

    async def stalls(self) -> None:
        await self.behave(type="delay", seconds=30)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def llmock() -> Iterator[str]:
    command = Path(sys.executable).with_name("llmock")
    if not command.exists():
        pytest.skip(f"{command} is not installed")
    port = free_port()
    with subprocess.Popen(
        [command, "serve", "--host", "127.0.0.1", "--port", str(port)],
        stderr=subprocess.STDOUT,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout
        started = any("Uvicorn running on" in line for line in process.stdout)
        assert started, "llmock ended before it was ready"
        yield f"http://127.0.0.1:{port}"
        process.kill()


@pytest.fixture(params=["raw", "llmock"])
async def deployment(request: pytest.FixtureRequest) -> AsyncIterator[Deployment]:
    if request.param == "llmock":
        yield MockDeployment(request.getfixturevalue("llmock"))
        return
    async with raw_server() as server:
        yield RawDeployment(server)


@pytest.fixture
async def endpoint(deployment: Deployment) -> AsyncIterator[Endpoint]:
    made = OpenAIEndpoint(deployment.url, api_key="sk-test-0123456789")
    yield made
    await made.close()


@pytest.mark.parametrize("finish_reason", ["stop", "length"])
async def test_an_answer(deployment: Deployment, endpoint: Endpoint, finish_reason: str) -> None:
    await deployment.answers("B", finish_reason)
    exchange = await endpoint.ask(QUESTION, seconds=PATIENT)
    assert isinstance(exchange, Completed)
    assert (exchange.content, exchange.finish_reason) == ("B", finish_reason)
    assert exchange.prompt_tokens
    assert exchange.completion_tokens


@pytest.mark.parametrize("http_status", [400, 401, 404, 429, 500, 503])
async def test_a_refusal(deployment: Deployment, endpoint: Endpoint, http_status: int) -> None:
    await deployment.refuses(http_status)
    exchange = await endpoint.ask(QUESTION, seconds=PATIENT)
    assert isinstance(exchange, Refused)
    assert exchange.http_status == http_status
    assert exchange.message


@pytest.mark.parametrize("http_status", [429, 503])
async def test_a_refusal_with_a_wait(
    deployment: Deployment, endpoint: Endpoint, http_status: int
) -> None:
    await deployment.refuses(http_status, retry_after=2)
    exchange = await endpoint.ask(QUESTION, seconds=PATIENT)
    assert isinstance(exchange, Refused)
    assert exchange.retry_after == 2.0


async def test_one_call_is_one_attempt(deployment: Deployment, endpoint: Endpoint) -> None:
    await deployment.refuses(503)
    assert isinstance(await endpoint.ask(QUESTION, seconds=PATIENT), Refused)
    await deployment.answers("B", "stop")
    assert isinstance(await endpoint.ask(QUESTION, seconds=PATIENT), Completed)


async def test_a_stalled_response_is_given_up(deployment: Deployment, endpoint: Endpoint) -> None:
    await deployment.stalls()
    exchange = await endpoint.ask(QUESTION, seconds=0.2)
    assert exchange == Broken(cause=Breakdown.TIMEOUT, detail="no response within 0.2 s")


async def test_nobody_there() -> None:
    endpoint = OpenAIEndpoint(f"http://127.0.0.1:{free_port()}/v1")
    exchange = await endpoint.ask(QUESTION, seconds=PATIENT)
    assert isinstance(exchange, Broken)
    assert exchange.cause == Breakdown.CONNECT
    assert isinstance(await endpoint.models(seconds=PATIENT), Broken)
    await endpoint.close()


async def test_models(deployment: Deployment, endpoint: Endpoint) -> None:
    if isinstance(deployment, RawDeployment):
        deployment.server.reply = response('{"object": "list", "data": [{"id": "tiny"}]}')
    names = await endpoint.models(seconds=PATIENT)
    assert isinstance(names, tuple)
    assert names


async def test_models_that_are_refused(deployment: Deployment, endpoint: Endpoint) -> None:
    await deployment.refuses(404)
    exchange = await endpoint.models(seconds=PATIENT)
    assert isinstance(exchange, Refused)
    assert exchange.http_status == 404
