"""`variant-monitor submit`: announces a version on the bus."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from monitor.adapters.embedded.archive import SqliteArchive
from monitor.adapters.system_clock import SystemClock
from monitor.app import single
from monitor.app.buses import open_archive
from monitor.app.lookups import Onlooker
from monitor.app.submissions import Expected, expected_evaluations
from monitor.cli.events import Wanted, event_from
from monitor.cli.exits import ExitCode, code_for
from monitor.cli.output import print_json, print_line, print_result, say
from monitor.cli.progress import Bars
from monitor.domain.errors import UsageError
from monitor.domain.events import Event
from monitor.domain.identifiers import EvaluationId, SuiteName
from monitor.ports import Archive, Published
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
        ProblemsFound, StateError: configuration, suites or state cannot be used.
    """
    settings = load_settings(config)
    value = _value(wanted, file)
    event = events.decode(value, events.HEADERS, limit=settings.limits.max_event_bytes)
    expected = expected_evaluations(settings, event)
    awaited = None if wait is None else _only(expected)
    position = asyncio.run(single.submit(settings, event.variant, value))
    if wait is None or awaited is None:
        _print(settings, event, position=position, expected=expected, as_json=as_json)
        return ExitCode.MET
    say(f"waiting at most {wait:g} s for evaluation {awaited} of {event.variant} {event.version}")
    published = asyncio.run(_await_result(settings, awaited, wait))
    completed = results.decode(published.result)
    print_result(published.result, completed, as_json=as_json)
    return code_for(completed.data.statistics.verdict.outcome)


def _value(wanted: Wanted, file: Path | None) -> bytes:
    if file is None:
        event = event_from(wanted, now=SystemClock().now())
        return events.encode(event)
    if wanted != Wanted():
        raise UsageError("--file is the whole event: give no options that describe one besides it")
    if str(file) == "-":
        return sys.stdin.buffer.read()
    try:
        return file.read_bytes()
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror} (check --file)") from error


def _only(expected: Mapping[SuiteName, Expected]) -> EvaluationId:
    if len(expected) != 1:
        raise UsageError(
            f"--wait waits for one result, and this event leads to {len(expected)}: name one "
            f"--suite{' of ' if expected else ''}{', '.join(expected)}, or leave out --wait"
        )
    return next(iter(expected.values())).identity


def _print(
    settings: Settings,
    event: Event,
    *,
    position: tuple[int, int],
    expected: Mapping[SuiteName, Expected],
    as_json: bool,
) -> None:
    topic, (partition, offset) = settings.bus.topics.versions, position
    identity = event.identity
    if as_json:
        place = {"topic": topic, "partition": partition, "offset": offset}
        ids = {"id": identity.id, "source": identity.source}
        evaluations = {suite: each.identity for suite, each in expected.items()}
        print_json(place | ids | {"evaluations": evaluations})
        return
    print_line(f"event {identity.id} is at {topic}, partition {partition}, offset {offset}")
    for suite, each in expected.items():
        print_line(
            f"evaluation on {suite}: {each.identity}, of {each.draws} of {each.population} items"
        )


async def _await_result(settings: Settings, identity: EvaluationId, seconds: float) -> Published:
    clock = SystemClock()
    deadline = clock.monotonic() + seconds
    async with open_archive(settings) as archive:
        with _looking_on(archive, identity) as look:
            while (found := await archive.find(identity)) is None:
                if clock.monotonic() > deadline:
                    raise UsageError(
                        f"no result of evaluation {identity} after {seconds:g} s; the event stays "
                        "submitted: see that `variant-monitor run` is running, or wait longer"
                    )
                await look()
                await clock.sleep(POLL_SECONDS)
    return found


@contextmanager
def _looking_on(
    archive: Archive, identity: EvaluationId
) -> Iterator[Callable[[], Awaitable[None]]]:
    """Show how far the evaluation is, where the bus lets others see that, each time it is asked."""
    onlooker = Onlooker(archive, identity) if isinstance(archive, SqliteArchive) else None
    bars = Bars()

    async def look() -> None:
        if onlooker is None:
            return
        begun = onlooker.plan is not None
        await onlooker.look()
        if onlooker.plan is not None and not begun:
            bars.begin(onlooker.plan, onlooker.answered)
        bars.advance(identity, onlooker.answered)

    try:
        yield look
    finally:
        bars.close()
