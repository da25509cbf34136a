from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from monitor.adapters.embedded.kept_answers import FILE, SqliteKeptAnswers
from monitor.app.keeping import open_keeper
from monitor.domain.facts import AnswersNotKept
from monitor.domain.identifiers import VariantName
from monitor.settings import Settings
from tests.unit.engine.examples import SUBJECT
from tests.unit.service.fakes import Facts
from tests.unit.service.hand_clock import HandClock
from tests.unit.service.test_kept_answers import completed, said


def settings(folder: Path, **kept: object) -> Settings:
    document = {
        "suites": [{"path": folder / "suite"}],
        "state": {"directory": folder / "state"},
        "policies": [{"variants": "quiet", "keep_answers": "none"}],
        "kept_answers": kept,
    }
    return Settings.model_validate(document)


async def kept(folder: Path) -> list[str | None]:
    store = await SqliteKeptAnswers.look(folder / "state")
    found = await store.find(SUBJECT.evaluation_id)
    await store.close()
    return [each.text for each in found]


async def test_what_is_kept_is_redacted_as_configured(tmp_path: Path) -> None:
    configured = settings(tmp_path, redact=[r"\d+"])
    async with open_keeper(configured, clock=HandClock(), telemetry=Facts()) as keeper:
        await keeper.take(said(came=completed("Room 42.")))
    assert await kept(tmp_path) == ["Room [redacted]."]


@pytest.mark.parametrize(("variant", "count"), [("chat", 1), ("quiet", 0)])
async def test_the_policy_of_the_variant_decides(variant: str, count: int, tmp_path: Path) -> None:
    subject = replace(SUBJECT, variant=VariantName(variant))
    async with open_keeper(settings(tmp_path), clock=HandClock(), telemetry=Facts()) as keeper:
        await keeper.take(replace(said(), subject=subject))
    assert len(await kept(tmp_path)) == count


async def test_what_is_old_is_deleted_while_the_daemon_runs(tmp_path: Path) -> None:
    clock, facts = HandClock(), Facts()
    async with open_keeper(settings(tmp_path, days=1), clock=clock, telemetry=facts) as keeper:
        await keeper.take(said())
        clock.seconds += timedelta(days=2).total_seconds()
    async with open_keeper(settings(tmp_path, days=1), clock=clock, telemetry=facts):
        while await kept(tmp_path):
            await clock.settle()
    assert facts.told == []


async def test_a_store_that_cannot_be_used_is_told_and_nothing_is_kept(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / FILE).write_bytes(b"something else " * 100)
    facts = Facts()
    async with open_keeper(settings(tmp_path), clock=HandClock(), telemetry=facts) as keeper:
        await keeper.take(said())
    (told,) = facts.of(AnswersNotKept)
    assert FILE in told.detail
