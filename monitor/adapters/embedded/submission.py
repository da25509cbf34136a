"""The producing side: any process may announce versions while the daemon runs."""

import sqlite3
from functools import partial
from pathlib import Path
from typing import Self

from monitor.adapters.embedded import records
from monitor.adapters.embedded.schema import transaction
from monitor.adapters.embedded.state import Access, State
from monitor.ports import Message
from monitor.settings import TopicSettings


class SqliteSubmission:
    """The `Submission` port on a state directory."""

    def __init__(self, state: State, topics: TopicSettings) -> None:
        self._state = state
        self._topics = topics

    @classmethod
    async def open(cls, directory: Path, *, topics: TopicSettings = records.DEFAULT_TOPICS) -> Self:
        """Open a state directory, which is made where it is missing.

        Raises:
            StateTooNew, StateCorrupt, StateError: the state cannot be used.
        """
        return cls(await State.open(directory, Access.APPEND), topics)

    async def submit(self, message: Message) -> tuple[int, int]:
        """Append a record; returns its partition and offset once it is durable.

        Raises:
            StateError: SQLite failed.
            ValueError: the message cannot be stored.
        """
        return await self._state.run(partial(self._append, message))

    def _append(self, message: Message, connection: sqlite3.Connection) -> tuple[int, int]:
        with transaction(connection):
            return records.append(connection, message, self._topics)

    async def close(self) -> None:
        """Give the file back."""
        await self._state.close()
