"""Paid answers in one SQLite file, which any number of processes may share."""

import asyncio
import sqlite3
from functools import partial
from pathlib import Path
from typing import Self
from weakref import WeakValueDictionary

from monitor.adapters.embedded import schema
from monitor.adapters.embedded.state import Opened, State, open_private
from monitor.domain.identifiers import Digest

FILE = "paid_answers.sqlite3"
PRAGMAS = ("synchronous = FULL",)
APPLICATION_ID = int.from_bytes(b"mvpa")
TABLE = "CREATE TABLE paid_answers (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID"
FIND = "SELECT value FROM paid_answers WHERE key = ?"
# The first answer stays: others may have gone on from it.
KEEP = "INSERT INTO paid_answers (key, value) VALUES (?, ?) ON CONFLICT DO NOTHING"


class SqlitePaidAnswers:
    """The `PaidAnswers` port on a directory."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._waiting: dict[Digest, bytes] = {}
        self._buying = WeakValueDictionary[Digest, asyncio.Lock]()

    @classmethod
    async def open(cls, directory: Path) -> Self:
        """Open the file in a directory; both are made where they are missing.

        Raises:
            StateTooNew, StateCorrupt, StateError: the file cannot be used.
        """
        path = directory / FILE
        return cls(await State.start(path, partial(_open, path)))

    def alone(self, key: Digest) -> asyncio.Lock:
        """A block that one task of this process at a time is in."""
        return self._buying.setdefault(key, asyncio.Lock())

    async def find(self, key: Digest) -> bytes | None:
        """What was kept under a key, None where nothing was.

        Raises:
            StateError: SQLite failed.
        """
        return await self._state.run(partial(_find, key))

    async def keep(self, key: Digest, value: bytes) -> None:
        """Keep a value for good, unless there is one; durable when it returns.

        A caller that is cancelled while it waits has its value kept all the same.

        Raises:
            StateError: SQLite failed.
        """
        self._waiting[key] = value
        await asyncio.shield(self._state.run(self._write_waiting))

    def _write_waiting(self, connection: sqlite3.Connection) -> None:
        """Write all that waits, so that keeps at the same time share one write to the disk."""
        batch = dict(self._waiting)
        if not batch:
            return
        with schema.transaction(connection):
            connection.executemany(KEEP, batch.items())
        # Only now: a failure leaves each value to the call of whoever waits for it.
        for key in batch:
            del self._waiting[key]

    async def close(self) -> None:
        """Give the file back, once what could not be kept so far has been tried again.

        Raises:
            StateError: it cannot be kept now either; the file is given back all the same.
        """
        try:
            if self._waiting:
                await self._state.run(self._write_waiting)
        finally:
            await self._state.close()


def _open(path: Path) -> Opened:
    return open_private(path, kind=APPLICATION_ID, tables=(TABLE,), pragmas=PRAGMAS)


def _find(key: Digest, connection: sqlite3.Connection) -> bytes | None:
    found = connection.execute(FIND, (key,)).fetchone()
    return None if found is None else bytes(found[0])
