"""`variant-monitor results` and `dead-letters`: looks into the state of the embedded bus."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeVar

from monitor.adapters.embedded.archive import SqliteArchive
from monitor.app import lookups
from monitor.cli.output import print_json, print_line, print_result, print_table
from monitor.domain.errors import UsageError
from monitor.domain.identifiers import EvaluationId
from monitor.ports import Published
from monitor.settings import EmbeddedBus, TopicSettings, load_settings
from monitor.wire import results

T = TypeVar("T")

RESULT_COLUMNS = ("id", "ended, UTC", "variant", "version", "suite", "verdict", "estimate")
FOLDABLE = ("variant", "version", "suite")
LETTER_COLUMNS = ("no.", "partition", "offset", "reason", "detail")
ID_SHOWN = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A state directory, and what the topics in it are called."""

    directory: Path
    topics: TopicSettings


def place(config: Path, state: Path | None) -> Place:
    """The state that is named, or else the one of the configuration.

    Raises:
        ConfigError: the configuration cannot be used.
        UsageError: its bus is not the embedded one.
    """
    if state is not None:
        return Place(directory=state, topics=TopicSettings())
    settings = load_settings(config)
    if not isinstance(settings.bus, EmbeddedBus):
        raise UsageError(
            f"{config}: its bus is {settings.bus.kind}, and this command reads the embedded one: "
            f"read {settings.bus.topics.evaluations} and {settings.bus.topics.dead_letter} there"
        )
    return Place(directory=settings.state.directory, topics=settings.bus.topics)


@asynccontextmanager
async def open_archive(at: Place) -> AsyncIterator[SqliteArchive]:
    """Look into a state.

    Raises:
        StateError: there is none, or it cannot be used.
    """
    archive = await SqliteArchive.open(at.directory, topics=at.topics)
    try:
        yield archive
    finally:
        await archive.close()


def list_results(at: Place, *, variant: str, limit: int, as_json: bool) -> None:
    """Print the newest results, newest first."""
    topic = at.topics.evaluations
    values = _look(
        at, lambda archive: lookups.newest_results(archive, topic, variant=variant, limit=limit)
    )
    if as_json:
        print_json([json.loads(value) for value in values])
    elif values:
        rows = [_row(results.decode(value)) for value in values]
        print_table(
            "Newest results; an id may be cut short", RESULT_COLUMNS, rows, foldable=FOLDABLE
        )
    else:
        print_line("no results yet")


def show_result(at: Place, beginning: str, *, as_json: bool) -> None:
    """Print one result.

    Raises:
        UsageError: there is none whose id begins so, or more than one.
    """
    found = _look(at, lambda archive: find(archive, at.topics, beginning))
    print_result(found.result, results.decode(found.result), as_json=as_json)


async def find(archive: SqliteArchive, topics: TopicSettings, beginning: str) -> Published:
    """The published evaluation whose id begins so.

    Raises:
        UsageError: there is none, or more than one.
    """
    identity = await lookups.whole_id(archive, topics.evaluations, beginning)
    found = await archive.find(identity)
    if found is None:
        raise UsageError(f"there is no result of evaluation {identity}")
    return found


def list_dead_letters(at: Place, *, as_json: bool) -> None:
    """Print why events were put aside, oldest first."""
    letters = _letters(at)
    if as_json:
        print_json(
            [{**asdict(each), "value": each.value.decode(errors="replace")} for each in letters]
        )
    elif letters:
        rows = [
            (str(each.number), each.partition, each.offset, each.reason, each.detail)
            for each in letters
        ]
        print_table("Dead letters", LETTER_COLUMNS, rows, foldable=("detail",))
    else:
        print_line("no dead letters")


def show_dead_letter(at: Place, number: int) -> None:
    """Write the value of a dead letter to standard output, as it was sent.

    Raises:
        UsageError: there is none of this number.
    """
    values = {each.number: each.value for each in _letters(at)}
    if number not in values:
        raise UsageError(f"there is no dead letter {number} in {at.directory}")
    sys.stdout.buffer.write(values[number])
    sys.stdout.buffer.flush()


def short(identity: EvaluationId) -> str:
    """As much of an id as people need."""
    return identity[:ID_SHOWN]


def _letters(at: Place) -> list[lookups.DeadLetter]:
    topic = at.topics.dead_letter
    return list(_look(at, lambda archive: lookups.dead_letters(archive, topic)))


def _look(at: Place, question: Callable[[SqliteArchive], Awaitable[T]]) -> T:
    async def ask() -> T:
        async with open_archive(at) as archive:
            return await question(archive)

    return asyncio.run(ask())


def _row(completed: results.CompletedEvaluation) -> tuple[str, ...]:
    found = completed.data.statistics
    subject, estimate = found.subject, found.estimate_clipped
    return (
        short(subject.evaluation_id),
        f"{completed.data.times.ended:%Y-%m-%d %H:%M}",
        subject.variant,
        subject.version,
        subject.suite,
        found.verdict.outcome,
        "unknown" if estimate is None else f"{estimate:.3f}",
    )
