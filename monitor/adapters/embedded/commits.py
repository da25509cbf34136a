"""Commits that wait at the same time share one transaction, and so one write to the disk.

Each keeps an outcome of its own: one that cannot be written takes nothing with it.
"""

import asyncio
import sqlite3
from collections import deque
from collections.abc import Mapping
from concurrent.futures import Future
from functools import partial

from monitor.adapters.embedded import records
from monitor.adapters.embedded.schema import transaction
from monitor.adapters.embedded.state import State, translated
from monitor.domain.errors import OwnershipLost, StateError
from monitor.ports import Commit, Entry
from monitor.settings import TopicSettings

DELETE = "DELETE FROM journal WHERE partition = ? AND evaluation_id = ? AND sequence = ?"
INSERT = """
    INSERT INTO journal (partition, evaluation_id, sequence, value) VALUES (?, ?, ?, ?)
    ON CONFLICT DO NOTHING
"""
STORED = "SELECT value FROM journal WHERE partition = ? AND evaluation_id = ? AND sequence = ?"


class Commits:
    """The writing end of a bus."""

    def __init__(self, state: State, topics: TopicSettings, *, epochs: Mapping[int, int]) -> None:
        """Write to the partitions in `epochs`, for as long as each is still at its epoch."""
        self._state = state
        self._topics = topics
        self._epochs = epochs
        self._waiting: deque[tuple[Commit, Future[None]]] = deque()

    async def write(self, commit: Commit) -> None:
        """Write one commit; a caller that is cancelled has it written whole or not at all.

        Raises:
            OwnershipLost: somebody else owns the partition.
            StateError: SQLite failed, or a journal row is there with other bytes.
            ValueError: a message cannot be stored.
        """
        outcome: Future[None] = Future()
        self._waiting.append((commit, outcome))
        await asyncio.shield(self._state.run(partial(self._write_waiting, outcome)))
        outcome.result()

    def _write_waiting(self, own: Future[None], connection: sqlite3.Connection) -> None:
        """Write everything that waits, unless `own` was among what was written before."""
        if own.done():
            return
        batch = [self._waiting.popleft() for _ in range(len(self._waiting))]
        try:
            with translated(self._state.path), transaction(connection):
                failures = [self._try(connection, commit) for commit, _ in batch]
        except Exception as failure:
            for _, outcome in batch:
                outcome.set_exception(failure)
            raise
        for (_, outcome), own_failure in zip(batch, failures, strict=True):
            if own_failure is None:
                outcome.set_result(None)
            else:
                outcome.set_exception(own_failure)

    def _try(self, connection: sqlite3.Connection, commit: Commit) -> Exception | None:
        """Write one commit of several; returns why nothing of it was written."""
        connection.execute("SAVEPOINT one")
        try:
            with translated(self._state.path):
                self._write(connection, commit)
        except Exception as failure:
            if not connection.in_transaction:  # SQLite gave up all of it, such as on a full disk
                raise
            connection.execute("ROLLBACK TO one")
            return failure
        connection.execute("RELEASE one")
        return None

    def _write(self, connection: sqlite3.Connection, commit: Commit) -> None:
        self._require_ownership(connection, commit.partition)
        for entry in commit.entries:
            self._write_entry(connection, commit.partition, entry)
        for message in commit.messages:
            records.append(connection, message, self._topics)
        if commit.settled is not None:
            connection.execute(
                "UPDATE partitions SET settled = max(settled, ?) WHERE partition = ?",
                (commit.settled, commit.partition),
            )

    def _require_ownership(self, connection: sqlite3.Connection, partition: int) -> None:
        stored = connection.execute(
            "SELECT epoch FROM partitions WHERE partition = ?", (partition,)
        ).fetchone()
        if stored is None or stored[0] != self._epochs.get(partition):
            raise OwnershipLost(
                f"{self._state.path}: partition {partition} is not or no longer owned by this"
                " process; nothing was written"
            )

    def _write_entry(self, connection: sqlite3.Connection, partition: int, entry: Entry) -> None:
        place = (partition, entry.evaluation_id, entry.sequence)
        if entry.value is None:
            connection.execute(DELETE, place)
        elif not connection.execute(INSERT, (*place, entry.value)).rowcount:
            (stored,) = connection.execute(STORED, place).fetchone()
            if stored != entry.value:
                raise StateError(
                    f"{self._state.path}: row {entry.sequence} of evaluation"
                    f" {entry.evaluation_id} is already written, with other bytes; nothing was"
                    " written, and the evaluation must be continued from its stored rows"
                )
