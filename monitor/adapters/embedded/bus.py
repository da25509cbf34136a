"""The consuming side: the one process that evaluates what others submit."""

import asyncio
import sqlite3
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Self

from monitor.adapters.embedded import records
from monitor.adapters.embedded.commits import Commits
from monitor.adapters.embedded.schema import transaction
from monitor.adapters.embedded.state import Access, State
from monitor.domain.errors import OwnershipLost
from monitor.domain.identifiers import EvaluationId
from monitor.ports import Assigned, Commit, Delivery, Entry, Record, Revoked
from monitor.settings import TopicSettings

POLL_SECONDS = 0.1
READ_AHEAD = 32  # records of one partition that are held in memory before they are asked for

PAGE = """
    SELECT topic, partition, offset, key, value, headers FROM records
    WHERE topic = ? AND partition = ? AND offset >= ? ORDER BY offset LIMIT ?
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A partition as it was taken over."""

    epoch: int
    settled: int
    journals: Mapping[EvaluationId, Sequence[Entry]]


def claim(partitions: int, connection: sqlite3.Connection) -> Mapping[int, Claim]:
    """Take over all partitions, at least this many, from whoever had them."""
    with transaction(connection):
        connection.executemany(
            "INSERT OR IGNORE INTO partitions (partition) VALUES (?)",
            [(partition,) for partition in range(partitions)],
        )
        connection.execute("UPDATE partitions SET epoch = epoch + 1")
        rows = connection.execute("SELECT partition, epoch, settled FROM partitions").fetchall()
        return {
            partition: Claim(
                epoch=epoch, settled=settled, journals=_journals(connection, partition)
            )
            for partition, epoch, settled in rows
        }


def _journals(
    connection: sqlite3.Connection, partition: int
) -> Mapping[EvaluationId, Sequence[Entry]]:
    journals: defaultdict[EvaluationId, list[Entry]] = defaultdict(list)
    for evaluation_id, sequence, value in connection.execute(
        "SELECT evaluation_id, sequence, value FROM journal WHERE partition = ?"
        " ORDER BY evaluation_id, sequence",
        (partition,),
    ):
        journals[evaluation_id].append(
            Entry(evaluation_id=evaluation_id, sequence=sequence, value=value)
        )
    return dict(journals)


class SqliteBus:
    """The `Bus` port on a state directory; reads by polling, since other processes append."""

    def __init__(self, state: State, topics: TopicSettings, *, claims: Mapping[int, Claim]) -> None:
        self._state = state
        self._topics = topics
        self._epochs = {partition: claimed.epoch for partition, claimed in claims.items()}
        self._positions = {partition: claimed.settled for partition, claimed in claims.items()}
        self._commits = Commits(state, topics, epochs=self._epochs)
        self._ready: deque[Delivery] = deque(
            Assigned(partition=partition, journals=claimed.journals)
            for partition, claimed in claims.items()
        )

    @classmethod
    async def open(
        cls,
        directory: Path,
        *,
        topics: TopicSettings = records.DEFAULT_TOPICS,
        partitions: int = 1,
    ) -> Self:
        """Become the consumer of a state directory, which is made where it is missing.

        Args:
            directory: the state directory.
            topics: names of the topics.
            partitions: of the request topic; one that has more already keeps them. More
                partitions send some keys elsewhere, as on a broker.

        Raises:
            StateLocked: another process is the consumer.
            StateTooNew, StateCorrupt, StateError: the state cannot be used.
        """
        state = await State.open(directory, Access.CONSUME)
        try:
            claims = await state.run(partial(claim, partitions))
        except BaseException:
            await state.close()
            raise
        return cls(state, topics, claims=claims)

    async def receive(self) -> Delivery:
        """Wait for the next delivery; safe to cancel, for one caller at a time.

        Raises:
            StateError: the stored records cannot be read.
        """
        while not self._ready:
            # Positions move only here, where nothing can be cancelled any more.
            for delivery in await self._state.run(partial(self._read, dict(self._positions))):
                self._note(delivery)
            if not self._ready:
                await asyncio.sleep(POLL_SECONDS)
        return self._ready.popleft()

    def _note(self, delivery: Record | Revoked) -> None:
        self._ready.append(delivery)
        if isinstance(delivery, Revoked):
            del self._positions[delivery.partition]
        else:
            self._positions[delivery.partition] = delivery.offset + 1

    def _read(
        self, positions: Mapping[int, int], connection: sqlite3.Connection
    ) -> list[Record | Revoked]:
        """What has come since; a partition that somebody else took over is given up."""
        epochs = dict(connection.execute("SELECT partition, epoch FROM partitions").fetchall())
        read: list[Record | Revoked] = []
        for partition, position in positions.items():
            if epochs.get(partition) != self._epochs[partition]:
                read.append(Revoked(partition=partition))
                continue
            page = (self._topics.versions, partition, position, READ_AHEAD)
            rows = connection.execute(PAGE, page).fetchall()
            read += [records.decode(row, self._state.path) for row in rows]
        return read

    async def confirm(self, partition: int) -> None:
        """See `ports.Bus`; the lock on the state directory is as certain as it gets.

        Raises:
            OwnershipLost: another process took the partition over all the same.
        """
        if partition not in self._positions:
            raise OwnershipLost(f"partition {partition} is not owned by this process")

    async def commit(self, commit: Commit) -> None:
        """Make everything in `commit` durable and visible at once.

        The same journal row with the same bytes may be written again. A caller that is
        cancelled while it waits has its commit written whole or not at all.

        Raises:
            OwnershipLost: another process has taken over the partition.
            StateError: SQLite failed, or a journal row is there with other bytes.
            ValueError: a message cannot be stored.
        """
        await self._commits.write(commit)

    async def close(self) -> None:
        """Give back the state directory; what was not committed is delivered again."""
        await self._state.close()
