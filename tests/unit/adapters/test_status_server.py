import asyncio
import signal
import socket
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx2
import pytest
from prometheus_client import Counter
from prometheus_client.registry import CollectorRegistry
from starlette.applications import Starlette

from monitor.adapters import status_server
from monitor.adapters.status_server import StatusServer
from monitor.domain.errors import ConfigError
from tests.unit.adapters import examples

OPENMETRICS = {"accept": "application/openmetrics-text; version=1.0.0"}


@pytest.fixture
def troubles() -> dict[str, dict[str, str]]:
    return {"live": {}, "ready": {}}


@pytest.fixture
def app(troubles: dict[str, dict[str, str]]) -> Starlette:
    registry = CollectorRegistry()
    Counter("pages", "Pages read.", registry=registry).inc()
    return status_server.application(
        registry,
        live=lambda: troubles["live"],
        ready=lambda: troubles["ready"],
        results=lambda: [examples.result()],
    )


@pytest.fixture
async def client(app: Starlette) -> AsyncIterator[httpx2.AsyncClient]:
    transport = httpx2.ASGITransport(app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://monitor") as client:
        yield client


async def test_metrics_are_plain_text_by_default(client: httpx2.AsyncClient) -> None:
    response = await client.get("/metrics")
    assert response.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert "pages_total 1.0\n" in response.text


async def test_metrics_are_openmetrics_where_asked_for(client: httpx2.AsyncClient) -> None:
    response = await client.get("/metrics", headers=OPENMETRICS)
    assert response.headers["content-type"].startswith("application/openmetrics-text")
    assert response.text.endswith("# EOF\n")


@pytest.mark.parametrize("path", ["/livez", "/readyz"])
async def test_probes_say_that_all_is_well(path: str, client: httpx2.AsyncClient) -> None:
    response = await client.get(path)
    assert response.status_code == 200
    assert response.json() == {"status": "ok", "reasons": {}}


@pytest.mark.parametrize("probe", ["live", "ready"])
async def test_probes_give_reasons(
    probe: str, client: httpx2.AsyncClient, troubles: dict[str, dict[str, str]]
) -> None:
    troubles[probe] = {"bus": "no partition"}
    response = await client.get(f"/{probe}z")
    assert response.status_code == 503
    assert response.json() == {"status": "failing", "reasons": {"bus": "no partition"}}


async def test_not_being_ready_is_not_being_dead(
    client: httpx2.AsyncClient, troubles: dict[str, dict[str, str]]
) -> None:
    troubles["ready"] = {"bus": "no partition"}
    assert (await client.get("/livez")).status_code == 200


async def test_page_shows_results_and_troubles(
    client: httpx2.AsyncClient, troubles: dict[str, dict[str, str]]
) -> None:
    troubles["ready"] = {"bus": "no partition"}
    page = (await client.get("/")).text
    assert "support-chat" in page
    assert "no partition" in page


@pytest.fixture
async def server(app: Starlette) -> AsyncIterator[StatusServer]:
    server = StatusServer(app)
    yield server
    await server.close()


async def test_free_port_is_taken_and_told(server: StatusServer) -> None:
    port = server.start(host="127.0.0.1", port=0)
    async with httpx2.AsyncClient(trust_env=False) as client:
        response = await client.get(f"http://127.0.0.1:{port}/livez")
    assert response.status_code == 200


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


async def test_taken_port_is_refused_with_its_reason(server: StatusServer, taken_port: int) -> None:
    said = rf"port {taken_port} of 127.0.0.1 is in use by another process \(set http.port\)"
    with pytest.raises(ConfigError, match=said):
        server.start(host="127.0.0.1", port=taken_port)


@pytest.mark.parametrize("host", ["a" * 70 + ".example", "\ud800"])
async def test_a_host_that_cannot_be_is_refused(server: StatusServer, host: str) -> None:
    with pytest.raises(ConfigError, match=r"http\.host: .* is no name or address"):
        server.start(host=host, port=0)


async def test_answers_are_sent_at_once(
    server: StatusServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without delay for more to send; a connection has it from the socket that listens."""
    listeners: list[socket.socket] = []
    listen = socket.create_server

    def noting(*address: Any, **options: Any) -> socket.socket:  # noqa: ANN401 - passed on
        listeners.append(listen(*address, **options))
        return listeners[-1]

    monkeypatch.setattr(socket, "create_server", noting)
    server.start(host="127.0.0.1", port=0)
    assert listeners[0].getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


async def test_signals_stay_with_the_daemon(server: StatusServer) -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    server.start(host="127.0.0.1", port=0)
    await asyncio.sleep(0)
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


async def test_closed_server_has_left_its_port(app: Starlette) -> None:
    server = StatusServer(app)
    port = server.start(host="127.0.0.1", port=0)
    await server.close()
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", port)


async def test_idle_connection_does_not_hold_up_the_end(app: Starlette) -> None:
    server = StatusServer(app)
    port = server.start(host="127.0.0.1", port=0)
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    async with asyncio.timeout(60):
        await server.close()
    writer.close()
