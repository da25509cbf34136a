"""`variant-monitor submit`: announces a version on the embedded bus."""

import asyncio
import sys
from pathlib import Path

from monitor.adapters.embedded.archive import SqliteArchive
from monitor.adapters.system_clock import SystemClock
from monitor.app import single
from monitor.cli.events import Wanted, event_from
from monitor.cli.exits import ExitCode, code_for
from monitor.cli.output import print_json, print_result
from monitor.domain.errors import UsageError
from monitor.domain.events import EvaluationWanted, Event
from monitor.domain.identifiers import EvaluationId, evaluation_id
from monitor.ports import Published
from monitor.settings import Settings, load_settings
from monitor.wire import events, results

POLL_SECONDS = 0.2


def submit(
    config: Path, wanted: Wanted, *, file: Path | None, wait: float | None, as_json: bool
) -> ExitCode:
    """Publish an event; with `wait`, print its result and return the verdict's exit code.

    Raises:
        UsageError: the options make no event, or no result came in time.
        InvalidEvent: the daemon would refuse the event.
    """
    settings = load_settings(config)
    if file is None:
        value = events.encode(
            event_from(wanted, now=SystemClock().now()), requested=wanted.requested
        )
    else:
        value = sys.stdin.buffer.read() if str(file) == "-" else _read(file)
    event = events.decode(value, events.HEADERS, limit=settings.limits.max_event_bytes)
    partition, offset = asyncio.run(single.submit(settings, event.variant, value))
    if wait is None:
        place = {"topic": settings.bus.topics.versions, "partition": partition, "offset": offset}
        print_json(place | {"id": event.identity.id, "source": event.identity.source})
        return ExitCode.MET
    published = asyncio.run(_await_result(settings, _identity(event), wait))
    completed = results.decode(published.result)
    print_result(published.result, completed, as_json=as_json)
    return code_for(completed.data.statistics.verdict.outcome)


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}") from error


def _identity(event: Event) -> EvaluationId:
    if not isinstance(event, EvaluationWanted) or len(event.suites) != 1:
        raise UsageError("--wait needs an event that names one --suite to wait for")
    return evaluation_id(
        source=event.identity.source, event_id=event.identity.id, suite=event.suites[0]
    )


async def _await_result(settings: Settings, identity: EvaluationId, seconds: float) -> Published:
    archive = await SqliteArchive.open(settings.state.directory, topics=settings.bus.topics)
    clock = SystemClock()
    deadline = clock.monotonic() + seconds
    try:
        while (found := await archive.find(identity)) is None:
            if clock.monotonic() > deadline:
                raise UsageError(f"no result of {identity} after {seconds:g} s; is `run` running?")
            await clock.sleep(POLL_SECONDS)
        return found
    finally:
        await archive.close()
