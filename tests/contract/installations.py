"""What the suites for bus, submission and archive run on: one class per implementation.

An installation is what outlives its users: a state directory, or topics on a broker.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Protocol

from monitor.adapters.embedded.archive import SqliteArchive
from monitor.adapters.embedded.bus import SqliteBus
from monitor.adapters.embedded.submission import SqliteSubmission
from monitor.domain.identifiers import EvaluationId
from monitor.ports import Archive, Bus, Delivery, Entry, Message, Record, Submission

SECONDS = 30.0
A, B = EvaluationId("a"), EvaluationId("b")
UNWRITABLE = Message(topic="notes", key=None, value=b"", headers=(("\ud800", b""),))


class Installation(Protocol):
    async def bus(self, *, partitions: int = 1) -> Bus:
        """A consumer, where there is none; all records are for it."""
        ...

    async def usurper(self) -> Bus:
        """Another consumer of the same partitions, although the first has not let go."""
        ...

    async def submission(self) -> Submission: ...

    async def archive(self) -> Archive: ...

    async def published(self, topic: str) -> Sequence[Record]:
        """Everything that a reader of the topic sees, in order."""
        ...

    async def close(self) -> None:
        """Close whatever is open still."""
        ...


class SqliteInstallation:
    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._closers: list[Callable[[], Awaitable[None]]] = []

    async def bus(self, *, partitions: int = 1) -> SqliteBus:
        bus = await SqliteBus.open(self._directory, partitions=partitions)
        self._closers.append(bus.close)
        return bus

    async def usurper(self) -> SqliteBus:
        (self._directory / "state.lock").unlink()
        return await self.bus()

    async def submission(self) -> SqliteSubmission:
        submission = await SqliteSubmission.open(self._directory)
        self._closers.append(submission.close)
        return submission

    async def archive(self) -> SqliteArchive:
        archive = await SqliteArchive.open(self._directory)
        self._closers.append(archive.close)
        return archive

    async def published(self, topic: str) -> Sequence[Record]:
        return await (await self.archive()).messages(topic)

    async def close(self) -> None:
        for close in reversed(self._closers):
            await close()


INSTALLATIONS: tuple[Callable[[Path], Installation], ...] = (SqliteInstallation,)


def row(evaluation_id: EvaluationId, sequence: int, value: bytes | None = b"row") -> Entry:
    return Entry(evaluation_id=evaluation_id, sequence=sequence, value=value)


async def take(bus: Bus, count: int) -> list[Delivery]:
    """The next deliveries; a bus that owes fewer fails the test."""
    async with asyncio.timeout(SECONDS):
        return [await bus.receive() for _ in range(count)]


async def records(bus: Bus, count: int) -> list[Record]:
    """The next records; what else is delivered among them is skipped."""
    taken: list[Record] = []
    while len(taken) < count:
        taken += [item for item in await take(bus, 1) if isinstance(item, Record)]
    return taken


async def submit(installation: Installation, *values: bytes, key: bytes | None = b"chat") -> None:
    submission = await installation.submission()
    for value in values:
        await submission.submit(Message(topic="model-versions", key=key, value=value))
