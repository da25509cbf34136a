"""One evaluation in this process: an event in, the daemon until its result is out."""

import asyncio
from collections.abc import Iterable

from monitor.adapters.embedded.submission import SqliteSubmission
from monitor.app.application import Application, open_application
from monitor.domain.errors import UsageError
from monitor.domain.events import EvaluationWanted
from monitor.domain.facts import DeadLettered, EvaluationEnded, Fact
from monitor.domain.identifiers import EvaluationId, VariantName, evaluation_id
from monitor.ports import Message, Published, Telemetry
from monitor.settings import Settings
from monitor.wire import events


class Awaited:
    """Takes facts until one tells how an evaluation ended."""

    def __init__(self, identity: EvaluationId) -> None:
        self._identity = identity
        self.ended = asyncio.Event()
        self.refusal: str | None = None

    def record(self, fact: Fact) -> None:
        """Note the end of the evaluation, or that its event was put aside."""
        match fact:
            case EvaluationEnded(evaluation_id=self._identity):
                self.ended.set()
            case DeadLettered():
                self.refusal = fact.detail
                self.ended.set()
            case _:
                pass


async def evaluate_once(
    settings: Settings, event: EvaluationWanted, listeners: Iterable[Telemetry] = ()
) -> Published:
    """Evaluate one version on the one configured suite; what is published already is not bought.

    Cancelling it stops what is in flight and keeps the rest of the state.

    Raises:
        UsageError: the event was refused.
        ProblemsFound, StateError: as `open_application`.
    """
    (suite,) = event.suites
    identity = evaluation_id(source=event.identity.source, event_id=event.identity.id, suite=suite)
    awaited = Awaited(identity)
    async with open_application(settings, awaited, *listeners) as application:
        found = await application.archive.find(identity)
        if found is None:
            await submit(settings, event.variant, events.encode(event))
            await run_until(application, awaited.ended)
            found = await application.archive.find(identity)
        if found is None:
            raise UsageError(f"the evaluation was refused: {awaited.refusal}")
        return found


async def submit(settings: Settings, variant: VariantName, value: bytes) -> tuple[int, int]:
    """Append an event to the request topic; returns its partition and offset."""
    topics = settings.bus.topics
    submission = await SqliteSubmission.open(settings.state.directory, topics=topics)
    try:
        return await submission.submit(
            Message(
                topic=topics.versions,
                key=variant.encode(),
                value=value,
                headers=events.HEADERS,
            )
        )
    finally:
        await submission.close()


async def run_until(application: Application, ended: asyncio.Event) -> None:
    """Run the daemon until an event is set, or it fails."""
    running = asyncio.create_task(application.daemon.run())
    waiting = asyncio.create_task(ended.wait())
    try:
        await asyncio.wait({running, waiting}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()
        application.daemon.stop(drain_seconds=0.0)
        await running
