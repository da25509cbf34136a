"""The reading side: published results and records, beside a running daemon or without one."""

import sqlite3
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Self

from monitor.adapters.embedded import records
from monitor.adapters.embedded.state import Access, State
from monitor.domain.identifiers import EvaluationId, SuiteName, VariantName
from monitor.ports import Entry, Published, Record
from monitor.settings import TopicSettings

FIND = """
    SELECT evaluation_id, value FROM records WHERE topic = ? AND evaluation_id = ?
    ORDER BY id DESC LIMIT 1
"""
RECENT = """
    SELECT evaluation_id, value FROM records WHERE topic = ? AND variant = ? AND suite = ?
    ORDER BY id DESC LIMIT ?
"""
NEWEST = """
    SELECT evaluation_id, value FROM records WHERE id IN (
        SELECT max(id) FROM records WHERE topic = ? AND variant IS NOT NULL
        GROUP BY variant, suite
    ) ORDER BY id
"""
JOURNAL = """
    SELECT sequence, value FROM journal WHERE evaluation_id = ? AND sequence > ? ORDER BY sequence
"""
OUTCOMES = "SELECT value FROM records WHERE topic = ? AND evaluation_id = ? ORDER BY part, id"
MESSAGES = """
    SELECT topic, partition, offset, key, value, headers FROM records
    WHERE topic = ? AND offset > ? ORDER BY id LIMIT ?
"""


class SqliteArchive:
    """The `Archive` port on a state directory; never writes to it."""

    def __init__(self, state: State, topics: TopicSettings) -> None:
        self._state = state
        self._topics = topics

    @classmethod
    async def open(cls, directory: Path, *, topics: TopicSettings = records.DEFAULT_TOPICS) -> Self:
        """Open the state in a directory.

        Raises:
            StateError: there is none, or it cannot be used by this version of the program.
        """
        return cls(await State.open(directory, Access.READ), topics)

    async def find(self, evaluation_id: EvaluationId) -> Published | None:
        """The result of one evaluation, None where there is none."""
        return next(iter(await self._published(FIND, evaluation_id)), None)

    async def recent(
        self, variant: VariantName, suite: SuiteName, *, limit: int
    ) -> Sequence[Published]:
        """The newest results of a variant on a suite, newest first, `limit` at most."""
        return await self._published(RECENT, variant, suite, limit)

    async def newest(self) -> Sequence[Published]:
        """The newest result of every variant on every suite, oldest first."""
        return await self._published(NEWEST)

    async def messages(
        self, topic: str, after_offset: int = -1, *, limit: int = 1000
    ) -> Sequence[Record]:
        """Records of a topic in the order in which they were appended, `limit` at most."""
        rows = await self._state.run(partial(_rows, MESSAGES, (topic, after_offset, limit)))
        return [records.decode(row, self._state.path) for row in rows]

    async def journal(
        self, evaluation_id: EvaluationId, after_sequence: int = -1
    ) -> Sequence[Entry]:
        """Stored rows of an evaluation, for looking on while it is open."""
        wanted = (evaluation_id, after_sequence)
        return [
            Entry(evaluation_id=evaluation_id, sequence=sequence, value=value)
            for sequence, value in await self._state.run(partial(_rows, JOURNAL, wanted))
        ]

    async def _published(self, query: str, *wanted: str | int) -> list[Published]:
        return await self._state.run(partial(self._read, query, wanted))

    def _read(
        self, query: str, wanted: tuple[str | int, ...], connection: sqlite3.Connection
    ) -> list[Published]:
        """Results that a query finds, each with the outcomes published together with it."""
        found = _rows(query, (self._topics.evaluations, *wanted), connection)
        return [
            Published(
                evaluation_id=EvaluationId(evaluation_id),
                result=result,
                outcomes=self._outcomes(evaluation_id, connection),
            )
            for evaluation_id, result in found
        ]

    def _outcomes(self, evaluation_id: str, connection: sqlite3.Connection) -> tuple[bytes, ...]:
        parts = _rows(OUTCOMES, (self._topics.outcomes, evaluation_id), connection)
        return tuple(part for (part,) in parts)

    async def close(self) -> None:
        """Give the file back."""
        await self._state.close()


def _rows(
    query: str, values: tuple[str | int, ...], connection: sqlite3.Connection
) -> list[tuple[Any, ...]]:
    return connection.execute(query, values).fetchall()
