"""An HTTP server that sends exactly the bytes it is given, as odd as they may be."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


def response(
    body: bytes | str, http_status: int = 200, headers: tuple[str, ...] = ("X-Test: 1",)
) -> bytes:
    """A whole HTTP response with its length."""
    content = body.encode() if isinstance(body, str) else body
    head = [f"HTTP/1.1 {http_status} Words", *headers, f"Content-Length: {len(content)}"]
    return "\r\n".join([*head, "", ""]).encode() + content


@dataclass
class RawServer:
    """Sends `reply` to every request, then closes, stalls or drips.

    stalls: keep the connection open after the reply. drips: send the last byte for ever, one at
    a time. requests: head and body of each request as it came.
    """

    port: int = 0
    reply: bytes = b""
    stalls: bool = False
    drips: bool = False
    requests: list[bytes] = field(default_factory=list)
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    hung_up: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            self.requests.append(await read_request(reader))
            self.asked.set()
            writer.write(self.reply)
            while self.drips:
                await writer.drain()
                await asyncio.sleep(0.005)
                writer.write(self.reply[-1:])
            if self.stalls:
                await reader.read()
        except ConnectionError:
            pass
        finally:
            self.hung_up.set()
            writer.close()


async def read_request(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return head + await reader.readexactly(int(line.split(b":")[1]))
    return head


@asynccontextmanager
async def raw_server() -> AsyncIterator[RawServer]:
    raw = RawServer()
    server = await asyncio.start_server(raw.serve, "127.0.0.1", 0)
    raw.port = server.sockets[0].getsockname()[1]
    async with server:
        yield raw
