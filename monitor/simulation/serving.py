"""Runs a simulated endpoint on a real socket: in a thread beside a test, or for good."""

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Protocol

import uvicorn
from starlette.applications import Starlette

from monitor.domain import errors

LOCALHOST = "127.0.0.1"


class Served(Protocol):
    """A simulated endpoint, whatever it answers."""

    @property
    def app(self) -> Starlette:
        """The ASGI application."""
        ...


@contextmanager
def serving(simulation: Served, *, host: str = LOCALHOST, port: int = 0) -> Iterator[str]:
    """Serve in a thread of its own while the block runs, which is given the base URL.

    Requests under way when the block ends are broken off.

    Args:
        simulation: what to serve.
        host: address to listen at.
        port: 0 takes one that is free.

    Raises:
        UsageError: nothing can listen there.
    """
    with _listen(host, port) as listener:
        server = _Server(simulation)
        thread = threading.Thread(target=server.run, args=([listener],), name="simulation")
        thread.start()
        server.ready.wait()
        try:
            yield _base_url(listener)
        finally:
            server.should_exit = True
            thread.join()


@asynccontextmanager
async def serving_async(
    simulation: Served, *, host: str = LOCALHOST, port: int = 0
) -> AsyncIterator[str]:
    """`serving` for coroutines: starting and stopping do not hold up the event loop."""
    served = serving(simulation, host=host, port=port)
    base_url = await asyncio.to_thread(served.__enter__)
    try:
        yield base_url
    finally:
        await asyncio.to_thread(served.__exit__, None, None, None)


def serve(simulation: Served, *, host: str, port: int, announce: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM.

    Args:
        simulation: what to serve.
        host: address to listen at.
        port: 0 takes one that is free.
        announce: told the base URL once requests are accepted.

    Raises:
        UsageError: nothing can listen there.
    """
    with _listen(host, port) as listener:
        announce(_base_url(listener))
        _Server(simulation).run([listener])


class _Server(uvicorn.Server):
    def __init__(self, simulation: Served) -> None:
        config = uvicorn.Config(
            simulation.app,
            # One implementation everywhere, whatever else is installed.
            loop="asyncio",
            http="h11",
            ws="none",
            lifespan="off",
            # Faults are the purpose here, so nothing short of a breakdown is worth a line.
            log_config=None,
            log_level="critical",
            access_log=False,
            timeout_graceful_shutdown=0,
        )
        super().__init__(config)
        self.ready = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        try:
            await super().startup(sockets)
        finally:
            self.ready.set()


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=1024)
    except (OSError, OverflowError) as error:
        raise errors.UsageError(
            f"the simulated endpoint cannot listen at {host} port {port}: {error}; "
            "choose another port, or 0 for any that is free"
        ) from error
    # asyncio does so only for sockets that it made itself; without it each reply takes 40 ms.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def _base_url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}/v1" if ":" in host else f"http://{host}:{port}/v1"
