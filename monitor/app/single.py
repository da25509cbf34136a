"""A daemon in this process, asked for one evaluation after another."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace

from monitor.app.application import Application, open_application
from monitor.app.buses import open_submission
from monitor.domain.errors import StateError, UsageError
from monitor.domain.events import EvaluationWanted
from monitor.domain.facts import DeadLettered, EvaluationEnded, Fact
from monitor.domain.identifiers import EvaluationId, VariantName, evaluation_id
from monitor.domain.results import Outcome, SpendLine
from monitor.ports import Message, Published, Telemetry
from monitor.settings import Settings
from monitor.wire import events, results

FRUITLESS = frozenset({Outcome.FAULTED, Outcome.CANCELLED})


class Endings:
    """Takes facts, and lets whoever waits for an evaluation know how it ended."""

    def __init__(self) -> None:
        self._ended: set[EvaluationId] = set()
        self._refusals: dict[tuple[int, int], str] = {}
        self._news = asyncio.Event()

    def record(self, fact: Fact) -> None:
        """Note the end of an evaluation, or an event that was put aside."""
        match fact:
            case EvaluationEnded():
                self._ended.add(fact.evaluation_id)
            case DeadLettered():
                self._refusals[fact.partition, fact.offset] = fact.detail
            case _:
                return
        self._news.set()

    async def wait(self, identity: EvaluationId, *, position: tuple[int, int]) -> None:
        """Wait for the end of an evaluation.

        Args:
            identity: of the evaluation.
            position: partition and offset of the event that asks for it.

        Raises:
            UsageError: the event was put aside.
        """
        while identity not in self._ended:
            if position in self._refusals:
                raise UsageError(f"the event was refused: {self._refusals[position]}")
            self._news.clear()
            await self._news.wait()


class Evaluator:
    """What `evaluator` opens."""

    def __init__(self, settings: Settings, application: Application, endings: Endings) -> None:
        self.application = application
        self._settings = settings
        self._endings = endings
        self._running: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Let the daemon run, also on what an earlier process left open; once is enough."""
        if not self._running:
            self._running = {asyncio.create_task(self.application.daemon.run())}

    async def evaluate(self, event: EvaluationWanted) -> Published:
        """The result of an event that names one suite; what is published already is not bought.

        Only an evaluation that ended without finding anything, such as one whose endpoint was
        down, is asked for again, under an id of its own.

        Raises:
            UsageError: the event was refused.
            StateError: the daemon failed; everything stored so far is kept.
        """
        wanted, times = event, 1
        while True:
            found = await self._find(wanted)
            if found is None:
                return await self._buy(wanted)
            if _outcome(found) not in FRUITLESS:
                return found
            times += 1
            identity = replace(event.identity, id=f"{event.identity.id}.{times}")
            wanted = replace(event, identity=identity)

    async def _buy(self, event: EvaluationWanted) -> Published:
        position = await submit(self._settings, event.variant, events.encode(event))
        await self._run_until(self._endings.wait(_identity(event), position=position))
        found = await self._find(event)
        if found is None:
            raise StateError("the daemon ended without a result")
        return found

    async def _find(self, event: EvaluationWanted) -> Published | None:
        return await self.application.archive.find(_identity(event))

    async def _run_until(self, end: Coroutine[None, None, None]) -> None:
        self.start()
        ending = asyncio.create_task(end)
        try:
            done, _ = await asyncio.wait(
                {ending, *self._running}, return_when=asyncio.FIRST_COMPLETED
            )
            for task in done:
                await task
        finally:
            ending.cancel()

    async def stop(self) -> None:
        """Stop the daemon; what is in flight is given up, what is stored is kept."""
        if self._running:
            self.application.daemon.stop(drain_seconds=0.0)
        for task in self._running:
            await task


def _identity(event: EvaluationWanted) -> EvaluationId:
    (suite,) = event.suites
    source, event_id = event.identity.source, event.identity.id
    return evaluation_id(source=source, event_id=event_id, suite=suite)


def _outcome(published: Published) -> Outcome:
    return results.decode(published.result).data.statistics.verdict.outcome


@asynccontextmanager
async def evaluator(
    settings: Settings,
    *listeners: Telemetry,
    bought: Mapping[EvaluationId, SpendLine] | None = None,
) -> AsyncIterator[Evaluator]:
    """Open a daemon that runs from the first evaluation that has to be bought.

    Args:
        settings: the whole configuration.
        listeners: takers of facts.
        bought: as of `open_application`.

    Raises:
        ProblemsFound, StateError: as `open_application`.
    """
    endings = Endings()
    async with open_application(settings, endings, *listeners, bought=bought) as application:
        opened = Evaluator(settings, application, endings)
        try:
            yield opened
        finally:
            await opened.stop()


async def evaluate_once(
    settings: Settings,
    event: EvaluationWanted,
    listeners: Iterable[Telemetry] = (),
    *,
    surrogates: SpendLine | None = None,
) -> Published:
    """Evaluate one version on one suite; what is published already is not bought.

    Cancelling it stops what is in flight and keeps the rest of the state.

    Args:
        settings: the whole configuration.
        event: names the suite.
        listeners: takers of facts.
        surrogates: what was paid for their answers, where that was for this evaluation.

    Raises:
        UsageError: the event was refused.
        ProblemsFound, StateError: as `open_application`.
    """
    bought = {} if surrogates is None else {_identity(event): surrogates}
    async with evaluator(settings, *listeners, bought=bought) as opened:
        return await opened.evaluate(event)


async def submit(settings: Settings, variant: VariantName, value: bytes) -> tuple[int, int]:
    """Append an event to the request topic; returns its partition and offset."""
    message = Message(
        topic=settings.bus.topics.versions,
        key=variant.encode(),
        value=value,
        headers=events.HEADERS,
    )
    async with open_submission(settings) as submission:
        return await submission.submit(message)
