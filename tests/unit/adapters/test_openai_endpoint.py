import asyncio
import gzip
import json
import logging
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from monitor.adapters import image_files, openai_endpoint
from monitor.adapters.openai_endpoint import OpenAIEndpoint
from monitor.domain.answers import Breakdown, Broken, ChatRequest, Completed, Refused
from monitor.domain.errors import ConfigError
from monitor.domain.suites import Generation, Message
from tests.contract.raw_server import RawServer, raw_server, response
from tests.unit.wire import pictures

KEY = "sk-secret-0123456789"
QUESTION = ChatRequest(
    model="tiny",
    messages=(Message(role="user", content="2 + 2?"),),
    generation=Generation(max_tokens=8),
)
ANSWER = '{"choices":[{"finish_reason":"stop","index":0,"message":{"content":"4"}}]}'
PATIENT = 60.0
COMPLETED = Completed(content="4", finish_reason="stop")


@pytest.fixture
async def server() -> AsyncIterator[RawServer]:
    async with raw_server() as made:
        made.reply = response(ANSWER)
        yield made


@pytest.fixture
async def endpoint(server: RawServer) -> AsyncIterator[OpenAIEndpoint]:
    made = OpenAIEndpoint(server.url, api_key=KEY)
    yield made
    await made.close()


async def test_what_is_sent(server: RawServer, endpoint: OpenAIEndpoint) -> None:
    assert await endpoint.ask(QUESTION, seconds=PATIENT) == COMPLETED
    head, body = server.requests[0].split(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    assert first == "POST /v1/chat/completions HTTP/1.1"
    headers = dict(line.lower().split(": ", 1) for line in lines)
    assert headers["authorization"] == f"bearer {KEY}"
    assert headers["user-agent"] == "model-variant-monitor"
    assert json.loads(body) == {
        "model": "tiny",
        "messages": [{"role": "user", "content": "2 + 2?"}],
        "temperature": 0.0,
        "max_tokens": 8,
    }


def showing(folder: Path) -> ChatRequest:
    """A question that shows the one picture in the folder."""
    (folder / "p.png").write_bytes(pictures.png(7))
    picture = replace(image_files.finder(folder)("p.png"), detail="low")
    return replace(QUESTION, messages=(Message(role="user", content=(picture,)),))


async def test_pictures_are_sent_with_their_bytes(
    server: RawServer, endpoint: OpenAIEndpoint, tmp_path: Path
) -> None:
    assert await endpoint.ask(showing(tmp_path), seconds=PATIENT) == COMPLETED
    (message,) = json.loads(server.requests[0].split(b"\r\n\r\n")[1])["messages"]
    url = pictures.data_url(pictures.png(7))
    image = {"type": "image_url", "image_url": {"url": url, "detail": "low"}}
    assert message == {"role": "user", "content": [image]}


async def test_a_picture_that_has_changed_is_not_sent(
    server: RawServer, endpoint: OpenAIEndpoint, tmp_path: Path
) -> None:
    request = showing(tmp_path)
    (tmp_path / "p.png").write_bytes(pictures.png(8))
    exchange = await endpoint.ask(request, seconds=PATIENT)
    assert isinstance(exchange, Broken)
    assert exchange.cause is Breakdown.IMAGE
    assert f"{tmp_path}/p.png has changed since the suite was read" in exchange.detail
    assert server.requests == []


async def test_nothing_is_taken_from_the_environment(
    server: RawServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-ambient")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-ambient")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Ambient: yes\nAuthorization: Bearer ambient")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    endpoint = OpenAIEndpoint(server.url)
    assert await endpoint.ask(QUESTION, seconds=PATIENT) == COMPLETED
    sent = server.requests[0].lower()
    assert b"ambient" not in sent
    assert b"authorization" not in sent
    assert b"x-stainless" not in sent
    await endpoint.close()


async def test_the_token_limit_may_have_another_name(server: RawServer) -> None:
    endpoint = OpenAIEndpoint(server.url, limit_field="max_completion_tokens")
    await endpoint.ask(QUESTION, seconds=PATIENT)
    assert b'"max_completion_tokens":8' in server.requests[0]
    await endpoint.close()


REFUSALS = [
    ('{"detail":"Invalid API key"}', Refused(http_status=401, message="Invalid API key")),
    (
        '{"detail":"Server is pinned to \'./tiny\'"}',
        Refused(http_status=400, message="Server is pinned to './tiny'"),
    ),
    (
        '{"detail":[{"loc":["body"],"msg":"bad JSON"}]}',
        Refused(http_status=422, message="body: bad JSON"),
    ),
    ("Internal Server Error", Refused(http_status=500, message="Internal Server Error")),
    ("<html>\r\n<b>Bad</b></html>", Refused(http_status=502, message="<html> <b>Bad</b></html>")),
    (
        '{"error":{"message":"RPM limit=2","type":"throttling_error","param":null,"code":"429"}}',
        Refused(http_status=429, kind="throttling_error", message="RPM limit=2"),
    ),
    (
        '{"error":{"message":"Too long","type":"t","code":"context_length_exceeded"}}',
        Refused(http_status=400, code="context_length_exceeded", kind="t", message="Too long"),
    ),
    ("", Refused(http_status=503)),
]


@pytest.mark.parametrize(("body", "refused"), REFUSALS)
async def test_refusals_of_real_servers(
    server: RawServer, endpoint: OpenAIEndpoint, body: str, refused: Refused
) -> None:
    server.reply = response(body, refused.http_status)
    assert await endpoint.ask(QUESTION, seconds=PATIENT) == refused
    assert len(server.requests) == 1


WAITS = [
    (("retry-after: 2", "retry-after-ms: 1500"), 1.5),
    (("llm_provider-retry-after: 60",), 60.0),
    (
        ("Date: Sun, 29 Nov 2026 12:00:00 GMT", "Retry-After: Sun, 29 Nov 2026 12:00:05 GMT"),
        5.0,
    ),
]


@pytest.mark.parametrize(("headers", "wait"), WAITS)
async def test_waits_are_found(
    server: RawServer, endpoint: OpenAIEndpoint, headers: tuple[str, ...], wait: float
) -> None:
    server.reply = response("{}", 429, headers)
    exchange = await endpoint.ask(QUESTION, seconds=PATIENT)
    assert isinstance(exchange, Refused)
    assert exchange.retry_after == wait


ODD_HEADERS = [
    "Date: Dimanche, 29 ao\u00fbt",
    "Retry-After: \u2603",
    "Retry-After: Sun, 29 Nov 2026 12:01:30 -99999999999999",
]


@pytest.mark.parametrize("header", ODD_HEADERS)
@pytest.mark.parametrize("http_status", [200, 429])
async def test_an_odd_header_costs_no_answer(
    server: RawServer, endpoint: OpenAIEndpoint, header: str, http_status: int
) -> None:
    date = "Date: Sun, 29 Nov 2026 12:00:00 GMT"
    server.reply = response(ANSWER, http_status, (header, date))
    exchange = await endpoint.ask(QUESTION, seconds=PATIENT)
    assert exchange == COMPLETED or isinstance(exchange, Refused)
    assert isinstance(exchange, Refused) is (http_status == 429)


@pytest.mark.parametrize("http_status", [301, 302, 307, 308])
async def test_redirects_are_not_followed(
    server: RawServer, endpoint: OpenAIEndpoint, http_status: int
) -> None:
    server.reply = response("", http_status, (f"Location: {server.url}/elsewhere",))
    exchange = await endpoint.ask(QUESTION, seconds=PATIENT)
    assert isinstance(exchange, Refused)
    assert exchange.http_status == http_status
    assert len(server.requests) == 1


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
BROKEN = [
    (b"", Breakdown.CONNECT),
    (b"HTTP/1.1 200", Breakdown.CONNECT),
    (b"SSH-2.0-OpenSSH\r\n\r\n", Breakdown.CONNECT),
    (response(ANSWER)[:-9], Breakdown.CONNECT),
    (CHUNKED + b'5\r\n{"cho\r\n', Breakdown.CONNECT),
    (response("not gzip", headers=("Content-Encoding: gzip",)), Breakdown.MALFORMED),
    (response(ANSWER[:-9]), Breakdown.MALFORMED),
    (response(""), Breakdown.MALFORMED),
    (response(b"\xff\xfe\xfd"), Breakdown.MALFORMED),
    (response("[" * 50_000), Breakdown.MALFORMED),
    (response("data: {}\n\ndata: [DONE]\n\n"), Breakdown.MALFORMED),
    (response('{"choices":[]}'), Breakdown.NO_CHOICES),
    (response("", 204), Breakdown.MALFORMED),
]


@pytest.mark.parametrize(("reply", "cause"), BROKEN, ids=range(len(BROKEN)))
async def test_broken_responses(
    server: RawServer, endpoint: OpenAIEndpoint, reply: bytes, cause: Breakdown
) -> None:
    server.reply = reply
    exchange = await endpoint.ask(QUESTION, seconds=PATIENT)
    assert isinstance(exchange, Broken)
    assert exchange.cause == cause
    assert exchange.detail


async def test_a_packed_body_is_unpacked(server: RawServer, endpoint: OpenAIEndpoint) -> None:
    server.reply = response(gzip.compress(ANSWER.encode()), headers=("Content-Encoding: gzip",))
    assert await endpoint.ask(QUESTION, seconds=PATIENT) == COMPLETED


@pytest.mark.parametrize("http_status", [200, 500])
@pytest.mark.parametrize("packed", [False, True])
async def test_a_huge_body_is_not_read_on(
    server: RawServer, endpoint: OpenAIEndpoint, http_status: int, *, packed: bool
) -> None:
    body = b" " * (openai_endpoint.LARGEST_BODY + 1)
    headers = ("Content-Encoding: gzip",) if packed else ()
    server.reply = response(gzip.compress(body) if packed else body, http_status, headers)
    exchange = await endpoint.ask(QUESTION, seconds=PATIENT)
    assert isinstance(exchange, Broken)
    assert exchange.cause == Breakdown.MALFORMED
    assert "larger" in exchange.detail


@pytest.mark.parametrize("reply", [b"", b"HTTP/1.1 200 OK\r\n", CHUNKED])
async def test_a_stall_anywhere_is_given_up(
    server: RawServer, endpoint: OpenAIEndpoint, reply: bytes
) -> None:
    server.reply, server.stalls = reply, True
    exchange = await endpoint.ask(QUESTION, seconds=0.1)
    assert exchange == Broken(cause=Breakdown.TIMEOUT, detail="no response within 0.1 s")


async def test_a_trickle_is_given_up_and_hung_up_on(
    server: RawServer, endpoint: OpenAIEndpoint
) -> None:
    server.reply = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n "
    server.drips = True
    exchange = await endpoint.ask(QUESTION, seconds=0.2)
    assert exchange == Broken(cause=Breakdown.TIMEOUT, detail="no response within 0.2 s")
    await asyncio.wait_for(server.hung_up.wait(), PATIENT)


async def test_a_connection_that_was_closed_meanwhile_is_replaced(
    server: RawServer, endpoint: OpenAIEndpoint
) -> None:
    for _ in range(3):
        assert await endpoint.ask(QUESTION, seconds=PATIENT) == COMPLETED
    assert len(server.requests) == 3


async def test_connections_are_held_only_while_it_is_asked(
    server: RawServer, endpoint: OpenAIEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openai_endpoint, "IDLE_SECONDS", 0.01)
    server.stalls = True
    for _ in range(2):
        assert not endpoint.is_open
        assert await endpoint.ask(QUESTION, seconds=PATIENT) == COMPLETED
        await asyncio.wait_for(server.hung_up.wait(), PATIENT)
        server.hung_up.clear()


@pytest.mark.usefixtures("server")
async def test_an_idle_moment_does_not_cost_a_connection(endpoint: OpenAIEndpoint) -> None:
    for _ in range(2):
        assert await endpoint.ask(QUESTION, seconds=PATIENT) == COMPLETED
        assert endpoint.is_open
    await endpoint.close()
    assert not endpoint.is_open


async def test_cancelling_hangs_up(server: RawServer, endpoint: OpenAIEndpoint) -> None:
    server.reply, server.stalls = b"", True
    asked = asyncio.create_task(endpoint.ask(QUESTION, seconds=PATIENT))
    await asyncio.wait_for(server.asked.wait(), PATIENT)
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    await asyncio.wait_for(server.hung_up.wait(), PATIENT)


@pytest.mark.parametrize(
    "reply",
    [
        response(f'{{"error":{{"message":"Bad {KEY}","type":"{KEY}","code":"{KEY}"}}}}', 401),
        response("x" * 290 + KEY, 400),
        response(f"not JSON, but {KEY}"),
        response(f'{{"error":"{KEY}"}}'),
        b"HTTP/1.1 200 OK\r\nno colon " + KEY.encode() + b"\r\n\r\n",
    ],
    ids=range(5),
)
async def test_the_key_is_never_shown(
    server: RawServer, endpoint: OpenAIEndpoint, caplog: pytest.LogCaptureFixture, reply: bytes
) -> None:
    for library in ("openai", "httpx2"):
        caplog.set_level(logging.DEBUG, library)
    server.reply = reply
    exchange = await endpoint.ask(QUESTION, seconds=PATIENT)
    assert "sk-secret" not in f"{exchange} {endpoint!r} {caplog.text}"


ODD_KEY = 'sk-"secret"/0123456789'
CODED = "".join(f"\\u{ord(character):04X}" for character in ODD_KEY)
WRITTEN = [
    json.dumps(ODD_KEY),
    json.dumps(ODD_KEY).replace("/", r"\/"),
    f'"{CODED}"',
    json.dumps(f'no {{"key": {json.dumps(ODD_KEY)}}}'),
]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32-be"])
@pytest.mark.parametrize("written", WRITTEN)
async def test_nor_is_it_in_another_spelling(
    server: RawServer, written: str, encoding: str
) -> None:
    endpoint = OpenAIEndpoint(server.url, api_key=ODD_KEY)
    body = f'{{"error":{{"message":{written},"code":{written},"type":{written}}}}}'
    server.reply = response(body.encode(encoding), 400)
    refused = await endpoint.ask(QUESTION, seconds=PATIENT)
    assert isinstance(refused, Refused)
    for text in (refused.message, refused.code, refused.kind):
        assert "secret" not in text
        assert "***" in text
    await endpoint.close()


async def test_nor_in_the_names_of_models(server: RawServer, endpoint: OpenAIEndpoint) -> None:
    server.reply = response(json.dumps({"data": [{"id": KEY}]}).replace("-", r"\u002d"))
    assert await endpoint.models(seconds=PATIENT) == ("*" * (len(KEY) + 5 * KEY.count("-")),)


@pytest.mark.parametrize("body", ["\\" * 2**20, "s" * 2**20, "\\u0073" * 2**18])
async def test_what_is_no_key_is_kept(
    server: RawServer, endpoint: OpenAIEndpoint, body: str
) -> None:
    server.reply = response(ANSWER.replace("4", f"{body * 2} {KEY[:-1]}"))
    completed = await endpoint.ask(QUESTION, seconds=PATIENT)
    assert isinstance(completed, Completed)
    assert completed.content
    assert completed.content.endswith(KEY[:-1])


@pytest.mark.parametrize("key", ["sk-one two", "sk-\u00e9", "sk-\x01", "sk-a\nsk-b"])
def test_an_unusable_key_is_told_without_it(key: str) -> None:
    with pytest.raises(ConfigError, match="credential") as caught:
        OpenAIEndpoint("http://127.0.0.1/v1", api_key=key)
    assert "sk-" not in str(caught.value)


async def test_a_key_from_a_file_may_end_its_line(server: RawServer) -> None:
    endpoint = OpenAIEndpoint(server.url, api_key=f"{KEY}\n")
    assert await endpoint.ask(QUESTION, seconds=PATIENT) == COMPLETED
    assert f"Authorization: Bearer {KEY}\r\n".encode() in server.requests[0]
    await endpoint.close()


@pytest.mark.parametrize(
    "base_url", ["", "example.com/v1", "ftp://example.com", "http://", "http://[::1", "http://x:y"]
)
def test_an_unusable_address_is_told(base_url: str) -> None:
    with pytest.raises(ConfigError, match="base URL"):
        OpenAIEndpoint(base_url)


async def test_models_of_another_shape(server: RawServer, endpoint: OpenAIEndpoint) -> None:
    server.reply = response('{"models":[]}')
    exchange = await endpoint.models(seconds=PATIENT)
    assert isinstance(exchange, Broken)
    assert exchange.cause == Breakdown.MALFORMED
