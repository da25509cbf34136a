"""Texts of answers in a SQLite file of their own, from which what is deleted is gone.

`secure_delete` writes over what is deleted, `auto_vacuum` gives its pages back, and each `purge`
and `delete` empties the write-ahead log. Freed blocks of the disk are the file system's affair.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Self

from monitor.adapters.embedded import schema
from monitor.adapters.embedded.state import BUSY_SECONDS, Opened, State, open_private
from monitor.domain.answers import Status
from monitor.domain.errors import StateError
from monitor.domain.identifiers import EvaluationId, ItemId
from monitor.domain.kept_answers import KeptAnswer

FILE = "kept_answers.sqlite3"
PRAGMAS = ("auto_vacuum = FULL", "secure_delete = ON", "synchronous = NORMAL")
APPLICATION_ID = int.from_bytes(b"mvka")
MEGABYTE = 1_000_000

TABLES = (
    """
    CREATE TABLE kept_answers (
        evaluation_id TEXT NOT NULL,
        item TEXT NOT NULL,
        status TEXT NOT NULL,
        extracted TEXT,
        text TEXT,
        at REAL NOT NULL,
        UNIQUE (evaluation_id, item)
    )
    """,
    "CREATE INDEX kept_answers_by_time ON kept_answers (at)",
)
# An item that was asked again after a crash has its last answer.
KEEP = "INSERT OR REPLACE INTO kept_answers VALUES (?, ?, ?, ?, ?, ?)"
OLDEST = """
    DELETE FROM kept_answers
    WHERE rowid IN (SELECT rowid FROM kept_answers ORDER BY at LIMIT ?)
"""
BEFORE = "DELETE FROM kept_answers WHERE at < ?"
OF_EVALUATION = "DELETE FROM kept_answers WHERE evaluation_id = ?"
FIND = "SELECT * FROM kept_answers WHERE evaluation_id = ? ORDER BY at, item"
COUNTS = "SELECT evaluation_id, count(*) FROM kept_answers GROUP BY evaluation_id ORDER BY max(at)"
MADE_ROOM = 10  # rows at a time


class SqliteKeptAnswers:
    """The `KeptAnswers` port on a directory."""

    def __init__(self, state: State, *, most_bytes: int) -> None:
        self._state = state
        self._most_bytes = most_bytes

    @classmethod
    async def open(cls, directory: Path, *, megabytes: int) -> Self:
        """Open the file in a directory; both are made where they are missing.

        Args:
            directory: the state directory.
            megabytes: size beyond which the oldest answers make room for new ones.

        Raises:
            StateTooNew, StateCorrupt, StateError: the file cannot be used.
        """
        path = directory / FILE
        state = await State.start(path, partial(_open, path))
        return cls(state, most_bytes=megabytes * MEGABYTE)

    @classmethod
    async def look(cls, directory: Path) -> Self:
        """Open the file that a daemon has made, to read or to delete.

        Raises:
            StateError: there is none, or it cannot be used.
        """
        path = directory / FILE
        if not path.exists():
            raise StateError(
                f"{path}: no answers are kept there; check the name of the state directory, and"
                " keep_answers in the policies"
            )
        return cls(await State.start(path, partial(_open, path)), most_bytes=0)

    async def keep(self, answer: KeptAnswer) -> None:
        """Keep an answer, in place of an earlier one to the same item.

        Raises:
            StateError: SQLite failed.
        """
        await self._state.run(partial(_keep, answer, self._most_bytes))

    async def find(self, evaluation_id: EvaluationId) -> Sequence[KeptAnswer]:
        """What is kept of an evaluation, oldest first.

        Raises:
            StateError: SQLite failed.
        """
        rows = await self._state.run(
            lambda connection: connection.execute(FIND, (evaluation_id,)).fetchall()
        )
        return [_answer(row) for row in rows]

    async def counts(self) -> Mapping[EvaluationId, int]:
        """How many answers are kept of each evaluation, the newest evaluation last.

        Raises:
            StateError: SQLite failed.
        """
        rows = await self._state.run(lambda connection: connection.execute(COUNTS).fetchall())
        return {EvaluationId(identity): count for identity, count in rows}

    async def purge(self, before: datetime) -> int:
        """Delete what was kept before that moment; returns how many answers.

        Raises:
            StateError: SQLite failed, or a reader keeps what was deleted in the log.
        """
        return await self._delete(BEFORE, before.timestamp())

    async def delete(self, evaluation_id: EvaluationId) -> int:
        """Delete what is kept of an evaluation; returns how many answers.

        Raises:
            StateError: SQLite failed, or a reader keeps what was deleted in the log.
        """
        return await self._delete(OF_EVALUATION, evaluation_id)

    async def close(self) -> None:
        """Give the file back."""
        await self._state.close()

    async def _delete(self, statement: str, which: str | float) -> int:
        deleted, is_in_log = await self._state.run(partial(_delete, statement, which))
        if is_in_log:
            raise StateError(
                f"{self._state.path}: {deleted} deleted, but still in its log: another process has"
                f" read the file for {BUSY_SECONDS:g} seconds; end it, and the daemon empties the"
                " log within the hour"
            )
        return deleted


def _open(path: Path) -> Opened:
    return open_private(path, kind=APPLICATION_ID, tables=TABLES, pragmas=PRAGMAS)


def _keep(answer: KeptAnswer, most_bytes: int, connection: sqlite3.Connection) -> None:
    row = (
        answer.evaluation_id,
        answer.item,
        str(answer.status),
        _storable(answer.extracted),
        _storable(answer.text),
        answer.at.timestamp(),
    )
    with schema.transaction(connection):
        while _bytes_used(connection) > most_bytes:
            if not connection.execute(OLDEST, (MADE_ROOM,)).rowcount:
                break
        connection.execute(KEEP, row)


def _bytes_used(connection: sqlite3.Connection) -> int:
    pages, free, size = (
        connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)


def _delete(statement: str, which: str | float, connection: sqlite3.Connection) -> tuple[int, bool]:
    """How many answers, and whether the log could not be emptied of them."""
    with schema.transaction(connection):
        deleted = connection.execute(statement, (which,)).rowcount
    busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return deleted, bool(busy)


def _storable(text: str | None) -> str | None:
    """Without halves of surrogate pairs, which JSON can hold and SQLite cannot."""
    return None if text is None else text.encode(errors="replace").decode()


def _answer(row: tuple[Any, ...]) -> KeptAnswer:
    evaluation_id, item, status, extracted, text, at = row
    return KeptAnswer(
        evaluation_id=EvaluationId(evaluation_id),
        item=ItemId(item),
        status=Status(status),
        extracted=extracted,
        text=text,
        at=datetime.fromtimestamp(at, UTC),
    )
