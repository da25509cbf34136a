import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from monitor.app import single
from monitor.app.single import Endings, evaluate_once
from monitor.domain.errors import DeadLetterReason, StateError, UsageError
from monitor.domain.facts import DeadLettered
from monitor.domain.identifiers import EvaluationId, SuiteName
from monitor.domain.results import Outcome
from monitor.service.daemon import Daemon
from monitor.wire import results
from tests.unit.app import installations
from tests.unit.app.installations import configured, event, outcome, published, served

pytestmark = pytest.mark.slow


async def test_a_version_is_compared_with_the_one_before(tmp_path: Path) -> None:
    installations.write_pool(tmp_path)
    with served() as endpoint:
        settings = configured(tmp_path, endpoint.base_url)
        first = await published(settings, "good")
        second = await published(settings, "bad")
    assert (outcome(first), outcome(second)) == (Outcome.MET, Outcome.NOT_MET)
    difference = results.decode(second.result).data.statistics.difference
    assert difference is not None
    assert difference.previous_version == "good"


async def test_what_is_published_is_not_bought_again(tmp_path: Path) -> None:
    installations.write_pool(tmp_path)
    with served() as endpoint:
        settings = configured(tmp_path, endpoint.base_url)
        first = await published(settings, "good")
        asked = endpoint.asked()
        assert await published(settings, "good") == first
        assert endpoint.asked() == asked == len(installations.ITEMS)


async def test_what_found_nothing_is_asked_for_again(tmp_path: Path) -> None:
    installations.write_pool(tmp_path)
    down = configured(tmp_path, limits={"gate_seconds": 0.1})
    assert outcome(await published(down, "good")) is Outcome.FAULTED
    assert outcome(await published(down, "good")) is Outcome.FAULTED
    with served() as endpoint:
        up = configured(tmp_path, endpoint.base_url)
        found = await published(up, "good")
        assert await published(up, "good") == found
        assert endpoint.asked() == len(installations.ITEMS)
    assert outcome(found) is Outcome.MET
    assert results.decode(found.result).data.statistics.subject.event_id == "good.3"


async def test_a_refused_event_is_an_error_with_the_reason(tmp_path: Path) -> None:
    settings = configured(installations.write_pool(tmp_path))
    unknown = replace(event("good"), suites=(SuiteName("geometry"),))
    with pytest.raises(UsageError, match="refused: suite 'geometry' is not configured"):
        await evaluate_once(settings, unknown)


async def test_a_refused_event_of_somebody_else_is_not_ours(tmp_path: Path) -> None:
    installations.write_pool(tmp_path)
    with served() as endpoint:
        settings = configured(tmp_path, endpoint.base_url)
        wanted = event("good")
        await single.submit(settings, wanted.variant, b"not an event")
        assert outcome(await evaluate_once(settings, wanted)) is Outcome.MET


async def test_a_failing_daemon_does_not_leave_anybody_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(_: Daemon) -> None:
        await asyncio.sleep(0)
        raise StateError("the disk is full")

    settings = configured(installations.write_pool(tmp_path))
    monkeypatch.setattr(Daemon, "run", fail)
    with pytest.raises(StateError, match="disk is full"):
        await evaluate_once(settings, event("good"))


async def test_cancelling_keeps_the_state(tmp_path: Path) -> None:
    installations.write_pool(tmp_path)
    with served() as endpoint:
        settings = configured(tmp_path, endpoint.base_url)
        running = asyncio.create_task(published(settings, "good"))
        await asyncio.to_thread(endpoint.wait_until_asked, 8)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert outcome(await published(settings, "good")) is Outcome.MET
        in_flight = settings.limits.concurrency
        assert endpoint.asked() <= len(installations.ITEMS) + in_flight


async def test_only_the_refusal_at_the_position_counts() -> None:
    endings = Endings()
    waiting = asyncio.create_task(endings.wait(EvaluationId("e"), position=(0, 1)))
    for offset in (0, 1):
        await asyncio.sleep(0)
        assert not waiting.done()
        endings.record(dead_letter(offset))
    with pytest.raises(UsageError, match="number 1"):
        await waiting


def dead_letter(offset: int) -> DeadLettered:
    return DeadLettered(
        topic="model-versions",
        partition=0,
        offset=offset,
        reason=DeadLetterReason.NOT_JSON,
        detail=f"number {offset}",
    )
