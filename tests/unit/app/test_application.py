import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx2
import pytest

from monitor.adapters.compute_thread import ComputeThread
from monitor.adapters.embedded.archive import SqliteArchive
from monitor.adapters.embedded.bus import SqliteBus
from monitor.adapters.grader_processes import GraderProcesses
from monitor.app.application import last_results, open_application
from monitor.app.catalog import ConfiguredCatalog
from monitor.app.single import evaluator
from monitor.domain.errors import ConfigError, HistoryError, StateLocked
from monitor.domain.identifiers import EvaluationId, VariantName
from monitor.domain.results import Outcome
from monitor.settings import Settings
from tests.unit.app import installations
from tests.unit.app.cancellations import FakeArchive, result
from tests.unit.app.installations import configured, event, served

pytestmark = pytest.mark.slow

THREADS = (ComputeThread, ComputeThread)
PARTS = (*THREADS, ConfiguredCatalog, SqliteBus, SqliteArchive, GraderProcesses)


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    return installations.write_pool(tmp_path)


@pytest.fixture
def closed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the parts in the order in which they were closed."""
    names: list[str] = []
    for part in set(PARTS):
        monkeypatch.setattr(part, "close", noting(part, names))
    return names


def noting(part: type, names: list[str]) -> object:
    """The part's `close`, which notes the part's name first."""
    close = part.close  # type: ignore[attr-defined]

    def note(self: object) -> object:
        names.append(part.__name__)
        return close(self)

    return note


@pytest.fixture
def taken_port() -> Iterator[int]:
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        yield listener.getsockname()[1]


async def fail_to_open(settings: Settings, error: type[Exception]) -> None:
    with pytest.raises(error):
        async with open_application(settings):
            pytest.fail("it opened")


async def test_parts_are_closed_in_reverse_order(pool: Path, closed: list[str]) -> None:
    async with open_application(configured(pool)):
        assert closed == []
    assert closed == [part.__name__ for part in reversed(PARTS)]


async def test_a_taken_port_closes_everything_again(
    pool: Path, closed: list[str], taken_port: int
) -> None:
    await fail_to_open(configured(pool, http={"port": taken_port}), ConfigError)
    assert closed == [part.__name__ for part in reversed(PARTS)]


async def test_a_locked_state_closes_what_was_opened_before(pool: Path, closed: list[str]) -> None:
    owner = await SqliteBus.open(pool / "state")
    await fail_to_open(configured(pool), StateLocked)
    assert closed == ["ConfiguredCatalog", *(part.__name__ for part in THREADS)]
    await owner.close()


async def test_a_bad_history_leaves_no_state_behind(pool: Path, closed: list[str]) -> None:
    (pool / "history.npz").write_bytes(b"no archive")
    await fail_to_open(configured(pool), HistoryError)
    assert closed == [part.__name__ for part in THREADS]
    assert not (pool / "state").exists()


async def page(settings: Settings, port: int | None, path: str) -> httpx2.Response:
    async with httpx2.AsyncClient(trust_env=False) as client:
        return await client.get(f"http://{settings.http.host}:{port}{path}")


async def test_readiness_waits_for_the_request_topic(pool: Path) -> None:
    with served() as endpoint:
        settings = configured(pool, endpoint.base_url, http={"port": 0})
        async with evaluator(settings) as opened:
            port = opened.application.metrics_port
            before = await page(settings, port, "/readyz")
            await opened.evaluate(event("good"))
            after = await page(settings, port, "/readyz")
    assert (before.status_code, after.status_code) == (503, 200)
    assert before.json()["reasons"] == {"bus": "no partition is assigned yet"}


async def test_last_results_are_on_the_page_before_any_event(pool: Path) -> None:
    with served() as endpoint:
        settings = configured(pool, endpoint.base_url, http={"port": 0})
        await installations.published(settings, "good")
    async with open_application(settings) as application:
        metrics = (await page(settings, application.metrics_port, "/metrics")).text
    assert 'variant_monitor_estimate_ratio{suite="arithmetic",variant="chat"} 0.8' in metrics


async def test_what_was_cancelled_does_not_hide_the_result_before() -> None:
    archive = FakeArchive(
        [
            result("a1", "a", Outcome.MET),
            result("a2", "a", Outcome.NOT_MET),
            result("b1", "b", Outcome.CANCELLED),
            result("a3", "a", Outcome.CANCELLED),
            result("a4", "a", Outcome.CANCELLED),
        ]
    )
    (last,) = await last_results(archive)
    assert (last.variant, last.version) == (VariantName("a"), "a2")
    assert last.findings.verdict.outcome is Outcome.NOT_MET
    assert await archive.find(EvaluationId("a4")) is not None
