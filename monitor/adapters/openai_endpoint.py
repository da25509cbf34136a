"""An endpoint behind the OpenAI API, through the client library and with none of its comforts.

Retries, redirects, proxies and what the library takes from the environment are off: every request
is one that the evaluation knows of, and says no more than it has to.
"""

import asyncio
import re
from collections.abc import Coroutine
from typing import Any

import httpx2
import openai

from monitor.domain.answers import Breakdown, Broken, ChatRequest, Exchange
from monitor.domain.errors import ConfigError, Problem
from monitor.wire import completions

LARGEST_BODY = 8 * 2**20
CONNECT_SECONDS = 10.0
# Shorter ones are placeholders like "x", and blotting them out would spoil the message.
SHORTEST_SECRET = 8

_SENT_HEADERS = frozenset(
    {"accept", "accept-encoding", "connection", "content-length", "content-type", "host"}
)
_KEPT_HEADERS = frozenset({"date", "retry-after", "retry-after-ms", "llm_provider-retry-after"})


class OpenAIEndpoint:
    """Implements `ports.Endpoint`; holds connections, so `close` it."""

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
        self._host = _checked_host(base_url)
        self._api_key = _checked_key(api_key or "")
        timeout = httpx2.Timeout(None, connect=CONNECT_SECONDS)
        http = httpx2.AsyncClient(
            transport=_Transport(self._api_key), trust_env=False, follow_redirects=False
        )
        # What the library does not know, it cannot show: the transport adds the key.
        self._client = openai.AsyncOpenAI(
            base_url=base_url, api_key="-", http_client=http, timeout=timeout, max_retries=0
        )

    def __repr__(self) -> str:
        """Where it is, without the key."""
        return f"{type(self).__name__}({self._host!r})"

    async def ask(self, request: ChatRequest, *, seconds: float) -> Exchange:
        """Ask once; whatever goes wrong, or takes longer than `seconds`, is a value."""
        body = completions.encode_request(request, limit_field=self._limit_field)
        call = self._client.post("/chat/completions", cast_to=httpx2.Response, body=body)
        response = await self._send(call, seconds)
        if not isinstance(response, httpx2.Response):
            return response
        return completions.decode_completion(response.content)

    async def models(self, *, seconds: float) -> tuple[str, ...] | Exchange:
        """Names the endpoint says it serves, or what came back instead."""
        call = self._client.get("/models", cast_to=httpx2.Response)
        response = await self._send(call, seconds)
        if not isinstance(response, httpx2.Response):
            return response
        return completions.decode_models(response.content)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _send(
        self, call: Coroutine[Any, Any, httpx2.Response], seconds: float
    ) -> httpx2.Response | Exchange:
        try:
            # Around everything: a socket that trickles never runs into a read timeout.
            async with asyncio.timeout(seconds):
                return await call
        except TimeoutError:
            return Broken(cause=Breakdown.TIMEOUT, detail=f"no response within {seconds:g} s")
        except openai.APIStatusError as error:
            answer = error.response
            return completions.decode_error(answer.status_code, answer.headers, answer.content)
        except openai.APIConnectionError as error:
            return _broken_by(error.__cause__ or error, self._api_key)


class _Transport(httpx2.AsyncHTTPTransport):
    """The last word on what goes out, and on how much comes in."""

    def __init__(self, api_key: str) -> None:
        # Slots are the caller's business; a limit here would only hide the waiting.
        super().__init__(limits=httpx2.Limits(max_connections=None))
        self._api_key = api_key
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
        kept = {name: response.headers[name] for name in _KEPT_HEADERS & set(response.headers)}
        return httpx2.Response(
            response.status_code, headers=kept, content=_blotted(body, self._api_key)
        )


async def _read_bounded(response: httpx2.Response) -> bytes:
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > LARGEST_BODY:
            raise httpx2.DecodingError(f"the body is larger than {LARGEST_BODY} bytes")
    return bytes(body)


def _blotted(content: bytes, api_key: str) -> bytes:
    """The same, should a server or a library repeat the key in what it complains of."""
    if len(api_key) < SHORTEST_SECRET:
        return content
    return content.replace(api_key.encode(), b"***")


def _broken_by(cause: BaseException, api_key: str) -> Broken:
    malformed = isinstance(cause, httpx2.DecodingError)
    words = f"{type(cause).__name__}: {cause}".encode(errors="replace")
    return Broken(
        cause=Breakdown.MALFORMED if malformed else Breakdown.CONNECT,
        detail=completions.plain_text(_blotted(words, api_key)),
    )


def _checked_host(base_url: str) -> str:
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
