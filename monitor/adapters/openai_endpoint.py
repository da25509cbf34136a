"""An endpoint behind the OpenAI API, through the client library and with none of its comforts.

Retries, redirects, proxies and what the library takes from the environment are off: every request
is one that the evaluation knows of, and says no more than it has to.

Events may name any number of endpoints, so one holds connections only while it is being asked.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import openai

from monitor.adapters import image_files
from monitor.domain.answers import Breakdown, Broken, ChatRequest, Exchange
from monitor.domain.errors import ConfigError, Problem
from monitor.wire import completions

LARGEST_BODY = 8 * 2**20
CONNECT_SECONDS = 10.0
IDLE_SECONDS = 30.0  # connections are kept for so long after the last answer
# Shorter ones are placeholders like "x", and blotting them out would spoil the message.
SHORTEST_SECRET = 8

_SENT_HEADERS = frozenset(
    {"accept", "accept-encoding", "connection", "content-length", "content-type", "host"}
)
_KEPT_HEADERS = frozenset({b"date", b"retry-after", b"retry-after-ms", b"llm_provider-retry-after"})

_NULS = rb"\x00{0,3}"  # of UTF-16 and UTF-32

Call = Callable[[openai.AsyncOpenAI], Coroutine[Any, Any, httpx2.Response | Exchange]]


class OpenAIEndpoint:
    """Implements `ports.Endpoint`; holds connections until it was idle for a while, or `close`."""

    def __init__(
        self, base_url: str, *, api_key: str | None = None, limit_field: str = "max_tokens"
    ) -> None:
        """Make ready to ask; nothing is sent yet.

        Args:
            base_url: up to and including the version, as in `https://host/v1`.
            api_key: sent as bearer token; None sends no authorization.
            limit_field: name of the token limit in requests, `max_completion_tokens` for servers
                that refuse the older name.

        Raises:
            ConfigError: the URL or the key cannot be used in a request.
        """
        self._limit_field = limit_field
        self._base_url = base_url
        self._host = checked_host(base_url)
        self._api_key = _checked_key(api_key or "")
        self._client: openai.AsyncOpenAI | None = None
        self._in_flight = 0
        self._hanging_up: asyncio.TimerHandle | None = None
        self._closing: set[asyncio.Task[None]] = set()

    def __repr__(self) -> str:
        """Where it is, without the key."""
        return f"{type(self).__name__}({self._host!r})"

    @property
    def is_open(self) -> bool:
        """Whether it may hold connections."""
        return self._client is not None

    async def ask(self, request: ChatRequest, *, seconds: float) -> Exchange:
        """Ask once; whatever goes wrong, or takes longer than `seconds`, is a value."""

        async def post(client: openai.AsyncOpenAI) -> httpx2.Response | Exchange:
            try:
                whole = await image_files.inlined(request)
            except ValueError as error:
                return Broken(cause=Breakdown.IMAGE, detail=str(error))
            body = completions.encode_request(whole, limit_field=self._limit_field)
            return await client.post("/chat/completions", cast_to=httpx2.Response, body=body)

        response = await self._send(post, seconds)
        if not isinstance(response, httpx2.Response):
            return response
        return completions.decode_completion(response.content)

    async def models(self, *, seconds: float) -> tuple[str, ...] | Exchange:
        """Names the endpoint says it serves, or what came back instead."""
        response = await self._send(
            lambda client: client.get("/models", cast_to=httpx2.Response), seconds
        )
        if not isinstance(response, httpx2.Response):
            return response
        return completions.decode_models(response.content)

    async def close(self) -> None:
        """Close the connections; asking again makes new ones."""
        self._hang_up()
        if self._closing:
            await asyncio.wait(self._closing)

    async def _send(self, call: Call, seconds: float) -> httpx2.Response | Exchange:
        try:
            # Around everything: a socket that trickles never runs into a read timeout.
            async with asyncio.timeout(seconds), self._connected() as client:
                return await call(client)
        except TimeoutError:
            return Broken(cause=Breakdown.TIMEOUT, detail=f"no response within {seconds:g} s")
        except openai.APIStatusError as error:
            answer = error.response
            return completions.decode_error(answer.status_code, answer.headers, answer.content)
        except openai.APIConnectionError as error:
            return _broken_by(error.__cause__ or error, _pattern(self._api_key))

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[openai.AsyncOpenAI]:
        if self._hanging_up is not None:
            self._hanging_up.cancel()
        if self._client is None:
            self._client = _client(self._base_url, self._api_key)
        self._in_flight += 1
        try:
            yield self._client
        finally:
            self._in_flight -= 1
            if self._in_flight == 0:
                loop = asyncio.get_running_loop()
                self._hanging_up = loop.call_later(IDLE_SECONDS, self._hang_up)

    def _hang_up(self) -> None:
        if self._hanging_up is not None:
            self._hanging_up.cancel()
        client, self._client = self._client, None
        if client is not None:
            closing = asyncio.ensure_future(client.close())
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)


def _client(base_url: str, api_key: str) -> openai.AsyncOpenAI:
    http = httpx2.AsyncClient(
        transport=_Transport(api_key), trust_env=False, follow_redirects=False
    )
    timeout = httpx2.Timeout(None, connect=CONNECT_SECONDS)
    # What the library does not know, it cannot show: the transport adds the key.
    return openai.AsyncOpenAI(
        base_url=base_url, api_key="-", http_client=http, timeout=timeout, max_retries=0
    )


class _Transport(httpx2.AsyncHTTPTransport):
    """The last word on what goes out, and on how much comes in."""

    def __init__(self, api_key: str) -> None:
        # Slots are the caller's business; a limit here would only hide the waiting.
        super().__init__(limits=httpx2.Limits(max_connections=None))
        self._secret = _pattern(api_key)
        self._own_headers = {"User-Agent": "model-variant-monitor"}
        if api_key:
            self._own_headers["Authorization"] = f"Bearer {api_key}"

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        for name in set(request.headers) - _SENT_HEADERS:
            del request.headers[name]
        request.headers.update(self._own_headers)
        response = await super().handle_async_request(request)
        try:
            body = await _read_bounded(response)
        finally:
            await response.aclose()
        # As bytes, for they may be of any encoding.
        kept = [pair for pair in response.headers.raw if pair[0].lower() in _KEPT_HEADERS]
        return httpx2.Response(
            response.status_code, headers=kept, content=_blotted(body, self._secret)
        )


async def _read_bounded(response: httpx2.Response) -> bytes:
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > LARGEST_BODY:
            raise httpx2.DecodingError(f"the body is larger than {LARGEST_BODY} bytes")
    return bytes(body)


def _pattern(api_key: str) -> re.Pattern[bytes] | None:
    """Finds a key as it is or escaped as in JSON, once or twice, be it in UTF-8, -16 or -32."""
    if len(api_key) < SHORTEST_SECRET:
        return None
    return re.compile(_NULS.join(map(_spelled, api_key)))


def _spelled(character: str) -> bytes:
    digits = [f"[{digit}{digit.upper()}]".encode() for digit in f"{ord(character):04x}"]
    escaped = _NULS.join([b"u", *digits])
    return rb"(?:\\%b){0,4}(?:%b|%b)" % (_NULS, re.escape(character.encode()), escaped)


def _blotted(content: bytes, secret: re.Pattern[bytes] | None) -> bytes:
    """The same, should a server or a library repeat the key in what it complains of."""
    return content if secret is None else secret.sub(_starred, content)


def _starred(found: re.Match[bytes]) -> bytes:
    """A star for each byte, so that what was well-formed stays so."""
    return re.sub(rb"[^\x00]", b"*", found[0])


def _broken_by(cause: BaseException, secret: re.Pattern[bytes] | None) -> Broken:
    malformed = isinstance(cause, httpx2.DecodingError)
    words = f"{type(cause).__name__}: {cause}".encode(errors="replace")
    return Broken(
        cause=Breakdown.MALFORMED if malformed else Breakdown.CONNECT,
        detail=completions.plain_text(_blotted(words, secret)),
    )


def checked_host(base_url: str) -> str:
    """The host of a URL that requests can be sent to.

    Raises:
        ConfigError: they cannot.
    """
    try:
        url = httpx2.URL(base_url)
    except httpx2.InvalidURL as error:
        raise ConfigError([Problem(where="base URL", what=str(error))]) from error
    if url.scheme not in {"http", "https"} or not url.host:
        what = f"{url.copy_with(userinfo=b'')} is not an http or https address"
        raise ConfigError([Problem(where="base URL", what=what, todo="write https://host/v1")])
    return url.host


def _checked_key(api_key: str) -> str:
    key = api_key.strip()
    # The protocol library would show the whole key in its own complaint.
    if not re.fullmatch("[!-~]*", key):
        what = "the key holds blanks or characters outside ASCII, which no header may hold"
        raise ConfigError([Problem(where="credential", what=what, todo="check where it is stored")])
    return key
