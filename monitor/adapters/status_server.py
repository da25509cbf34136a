"""Metrics, probes and a page for people, served from the daemon's own event loop."""

import asyncio
import contextlib
import errno
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence

import uvicorn
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import CollectorRegistry
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from monitor.adapters import status_page
from monitor.adapters.prometheus_metrics import LastResult
from monitor.domain.errors import ConfigError, Problem

CLOSING_SECONDS = 2

Probe = Callable[[], Mapping[str, str]]
"""What is wrong, by name of the part that it is wrong with; empty where all is well."""


def application(
    registry: CollectorRegistry,
    *,
    live: Probe,
    ready: Probe,
    results: Callable[[], Sequence[LastResult]],
) -> Starlette:
    """The pages.

    Args:
        registry: what /metrics shows.
        live: what only a restart can mend; shown by /livez.
        ready: what keeps the daemon from taking events just now; shown by /readyz and the page.
        results: rows of the page.
    """

    # Coroutines, though nothing is awaited: plain functions would run in other threads.
    async def show_metrics(request: Request) -> Response:
        encode, content_type = choose_encoder(request.headers.get("accept", ""))
        return Response(encode(registry), headers={"content-type": content_type})

    async def show_live(_: Request) -> Response:
        return _probed(live())

    async def show_ready(_: Request) -> Response:
        return _probed(ready())

    async def show_page(_: Request) -> Response:
        return HTMLResponse(status_page.render(results(), troubles={**live(), **ready()}))

    return Starlette(
        routes=[
            Route("/metrics", show_metrics),
            Route("/livez", show_live),
            Route("/readyz", show_ready),
            Route("/", show_page),
        ]
    )


def _probed(reasons: Mapping[str, str]) -> Response:
    status = "failing" if reasons else "ok"
    content = {"status": status, "reasons": dict(reasons)}
    return JSONResponse(content, status_code=503 if reasons else 200)


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the daemon, which has more to stop than this."""
        yield


class StatusServer:
    """Serves an application until it is closed."""

    def __init__(self, app: Starlette) -> None:
        config = uvicorn.Config(
            app,
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=CLOSING_SECONDS,
        )
        self._server = _Server(config)
        self._serving: asyncio.Task[None] | None = None

    def start(self, *, host: str, port: int) -> int:
        """Listen and begin to serve.

        Args:
            host: name or address of the interface.
            port: 0 takes a free one.

        Returns:
            The port.

        Raises:
            ConfigError: it is taken, or the address is not one of this machine.
        """
        listener = _listen(host, port)
        self._serving = asyncio.create_task(self._server.serve(sockets=[listener]))
        bound: int = listener.getsockname()[1]
        return bound

    async def close(self) -> None:
        """Stop listening; answers under way have a moment to be sent."""
        self._server.should_exit = True
        if self._serving is not None:
            await self._serving


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.create_server(address[:2], family=family)
    except ValueError as error:  # as of a name that no name server could know
        what = f"{host!r:.80} is no name or address"
        problem = Problem(where="http.host", what=what, todo="write 0.0.0.0 for all addresses")
        raise ConfigError([problem]) from error
    except OSError as error:
        what, todo = f"cannot listen on {host} port {port}: {error.strerror}", "choose another"
        if error.errno == errno.EADDRINUSE:
            what, todo = f"port {port} of {host} is in use by another process", "set http.port"
        raise ConfigError([Problem(where="http", what=what, todo=todo)]) from error
    # asyncio does so only for sockets that it made itself; without it each reply takes 40 ms.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener
