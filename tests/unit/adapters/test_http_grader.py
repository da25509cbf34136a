import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from monitor.adapters import http_grader
from monitor.adapters.http_grader import HttpGrader
from monitor.domain.answers import Grade, Ungraded
from monitor.grading import external

FAILED = Grade(ungraded=Ungraded.FAILED)


class Service:
    """A server on a real socket that sends the same bytes to whoever asks, and then hangs up."""

    def __init__(self, reply: bytes | None) -> None:
        self._reply = reply
        self.heard = b""
        self.gone = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.heard += await reader.readuntil(b"\r\n\r\n")
        while b'"answer"' not in self.heard:
            self.heard += await reader.read(1000)
        if self._reply is None:
            await reader.read()
        else:
            writer.write(self._reply)
        writer.close()
        self.gone.set()


def reply(body: bytes, status: str = "200 OK", *more: str) -> bytes:
    head = [f"HTTP/1.1 {status}", f"content-length: {len(body)}", *more, "", ""]
    return "\r\n".join(head).encode() + body


@asynccontextmanager
async def listening(service: Service) -> AsyncIterator[str]:
    server = await asyncio.start_server(service.serve, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}/grade"


async def ask(sent: bytes | None, seconds: float = 30.0) -> tuple[Grade, bytes]:
    service, grader = Service(sent), HttpGrader()
    async with listening(service) as url:
        grade = await grader.grade(url, b'{"answer": "4"}', seconds=seconds)
        await grader.close()
        await service.gone.wait()
    return grade, service.heard


async def test_the_answer_goes_out_and_the_score_comes_back() -> None:
    grade, heard = await ask(reply(b'{"score": 0.5}'))
    assert grade == Grade(score=0.5)
    assert heard.startswith(b"POST /grade ")
    assert heard.endswith(b'{"answer": "4"}')
    assert b"authorization" not in heard.lower()


@pytest.mark.parametrize(
    "sent",
    [
        reply(b'{"score": 1}', "500 Internal Server Error"),
        reply(b"PASSED"),
        reply(b'{"error": "no compiler"}'),
        reply(b'{"score": 1}', "200 OK", "content-encoding: gzip"),
        b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{",
        b"no http at all\r\n\r\n",
        b"",
    ],
    ids=lambda sent: sent[:40],
)
async def test_whatever_is_no_score_is_a_failure(sent: bytes) -> None:
    grade, _ = await ask(sent)
    assert grade == FAILED


async def test_an_endless_reply_is_not_read_to_its_end(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, logger=http_grader.log.name)
    grade, _ = await ask(reply(b" " * external.LONGEST_REPLY + b'{"score": 1}'))
    assert grade == FAILED
    assert "its reply is too long" in caplog.text


async def test_an_answer_is_sent_nowhere_else() -> None:
    elsewhere = Service(reply(b'{"score": 1}'))
    async with listening(elsewhere) as url:
        grade, _ = await ask(reply(b"", "307 Temporary Redirect", f"location: {url}"))
    assert (grade, elsewhere.heard) == (FAILED, b"")


async def test_a_service_that_says_nothing_runs_over_its_time() -> None:
    grade, _ = await ask(None, seconds=0.2)
    assert grade == Grade(ungraded=Ungraded.TIME_LIMIT)


async def test_nobody_there_is_a_failure() -> None:
    grader = HttpGrader()
    assert await grader.grade("http://127.0.0.1:1/", b"{}", seconds=30.0) == FAILED
    await grader.close()
