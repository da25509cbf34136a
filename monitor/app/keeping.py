"""The keeper of answers with its store and its purge, opened and closed with the daemon."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta

from monitor.adapters.embedded.kept_answers import SqliteKeptAnswers
from monitor.adapters.redaction import Redaction
from monitor.domain.errors import StateError
from monitor.domain.facts import AnswersNotKept
from monitor.ports import Clock, Telemetry
from monitor.service.kept_answers import Keeper
from monitor.settings import Settings


@asynccontextmanager
async def open_keeper(
    settings: Settings, *, clock: Clock, telemetry: Telemetry
) -> AsyncIterator[Keeper]:
    """A keeper that also deletes what has grown old; one without a store where it cannot be used.

    Args:
        settings: where the store is, how much it holds for how long, and what is redacted.
        clock: dates answers, and tells when to delete.
        telemetry: is told why answers are not kept.
    """
    async with AsyncExitStack() as stack:
        store = None
        try:
            store = await SqliteKeptAnswers.open(
                settings.state.directory, megabytes=settings.kept_answers.megabytes
            )
            stack.push_async_callback(store.close)
        except StateError as error:
            telemetry.record(AnswersNotKept(detail=str(error)))
        keeper = Keeper(
            store,
            wanted=lambda variant, suite: settings.policy_for(variant, suite).keep_answers,
            redact=Redaction(settings.kept_answers.redact, seconds=settings.limits.grader_seconds),
            clock=clock,
            telemetry=telemetry,
        )
        age = timedelta(days=settings.kept_answers.days)
        purging = asyncio.create_task(keeper.purge_regularly(age))
        stack.push_async_callback(_end, purging)
        yield keeper


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait([task])
