"""State directories of the embedded bus, written without running anything."""

from collections.abc import Sequence
from pathlib import Path

from monitor.adapters.embedded.bus import SqliteBus
from monitor.domain.errors import DeadLetterReason, InvalidEvent
from monitor.domain.plans import Answered, Drawn, Planned, Row
from monitor.domain.results import Outcome
from monitor.ports import Commit, Entry, Message, Record
from monitor.service.publishing import put_aside
from monitor.settings import TopicSettings
from monitor.wire import journal
from tests.unit.app import cancellations
from tests.unit.wire import examples

TOPICS = TopicSettings()
LETTERS = (b"not an event", b"\xff\x00")
OPEN = examples.EVALUATION
ROWS: Sequence[Row] = (
    Planned(plan=examples.PLAN, at=examples.TIMES.started),
    Drawn(draws=examples.DRAWS),
    Answered(answers=examples.ANSWERS[:1]),
    Answered(answers=examples.ANSWERS[1:]),
)


async def commit(directory: Path, **parts: object) -> None:
    """Commit to the bus in a directory."""
    bus = await SqliteBus.open(directory)
    try:
        await bus.commit(Commit(partition=0, **parts))  # type: ignore[arg-type]
    finally:
        await bus.close()


async def publish(directory: Path, *names: str, variant: str = "chat") -> None:
    """Publish results whose evaluation and version are called so."""
    await commit(directory, messages=tuple(_result(name, variant) for name in names))


async def put_letters_aside(directory: Path) -> None:
    """Put `LETTERS` aside."""
    await commit(directory, messages=tuple(map(_letter, range(len(LETTERS)), LETTERS)))


async def write_journal(directory: Path, *numbers: int) -> None:
    """Write such rows of `ROWS`, as those of the evaluation `OPEN`."""
    entries = tuple(
        Entry(evaluation_id=OPEN, sequence=number, value=journal.encode(ROWS[number]))
        for number in numbers
    )
    await commit(directory, entries=entries)


def _result(name: str, variant: str) -> Message:
    headers = {"evaluation_id": name, "variant": variant, "suite": "arithmetic"}
    return Message(
        topic=TOPICS.evaluations,
        key=None,
        value=cancellations.result(name, variant, Outcome.CANCELLED).result,
        headers=tuple((key, text.encode()) for key, text in headers.items()),
    )


def _letter(offset: int, value: bytes) -> Message:
    record = Record(topic=TOPICS.versions, partition=0, offset=offset + 5, key=None, value=value)
    error = InvalidEvent(DeadLetterReason.NOT_JSON, "is not JSON")
    return put_aside(record, error, topic=TOPICS.dead_letter, software="test")
