"""The state file: one connection in a thread of its own, and SQLite's errors in our words."""

import asyncio
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Self, TypeVar

from monitor.adapters.embedded import locks, schema
from monitor.domain.errors import StateCorrupt, StateError

T = TypeVar("T")
Opened = tuple[sqlite3.Connection, ExitStack]
"""A connection, and what closing has to give back."""

FILE = "state.sqlite3"
BUSY_SECONDS = 10.0
OWNER_ONLY = 0o600
"""Rights of files that hold what models said."""
PRIMARY_CODE = 0xFF  # SQLite's extended codes keep the plain one in their lowest byte

CORRUPT = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
ADVICE = {
    sqlite3.SQLITE_BUSY: f"another process has kept it locked for {BUSY_SECONDS:g} seconds; end it",
    sqlite3.SQLITE_CANTOPEN: "check that the directory exists and that this user may write to it",
    sqlite3.SQLITE_FULL: "free space on its disk",
    sqlite3.SQLITE_IOERR: "check the health and the free space of its disk",
    sqlite3.SQLITE_READONLY: "check that this user may write to it and to its directory",
}


class Access(Enum):
    """What a process may do to the state: consume (one at a time), append, read."""

    CONSUME = "consume"
    APPEND = "append"
    READ = "read"


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Errors of SQLite as errors of ours, with the file and what to do."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & PRIMARY_CODE
        if code in CORRUPT:
            raise StateCorrupt(
                f"{path}: damaged or no SQLite database ({error}); restore it from a backup,"
                " or move it away to begin with an empty state"
            ) from error
        advice = f" ({ADVICE[code]})" if code in ADVICE else ""
        raise StateError(f"{path}: {error}{advice}") from error
    except OSError as error:
        raise StateError(
            f"{error.filename or path}: {error.strerror}; check the state directory and that this"
            " user may write to it"
        ) from error


def _connect(path: Path, access: Access) -> sqlite3.Connection:
    mode = "ro" if access is Access.READ else "rwc"
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,
    )


def _prepare(connection: sqlite3.Connection, path: Path, access: Access) -> None:
    """See to it that the tables are there, in the form that this program knows."""
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = FULL")
    empty = schema.stored_version(connection, path) == 0
    # An older file is the consumer's to migrate: nobody else knows that no consumer uses it.
    if access is Access.CONSUME or (access is Access.APPEND and empty):
        schema.upgrade(connection, path)
    else:
        schema.require_latest(connection, path)


def _open(directory: Path, access: Access) -> Opened:
    path = directory / FILE
    with ExitStack() as held, translated(path):
        if access is not Access.READ:
            directory.mkdir(parents=True, exist_ok=True)
        elif not path.exists():
            raise StateError(f"{path}: there is no state; check the name of the state directory")
        if access is Access.CONSUME:
            held.enter_context(locks.own(directory))
        connection = held.enter_context(closing(_connect(path, access)))
        with locks.set_up(directory):
            _prepare(connection, path, access)
        return connection, held.pop_all()


def open_private(path: Path, *, kind: int, tables: Sequence[str], pragmas: Sequence[str]) -> Opened:
    """Open a file that any number of processes share and only its owner may read.

    Args:
        path: made with its folder where it is missing.
        kind: application_id of the file.
        tables: statements that make its first form.
        pragmas: set each time, before anything else.

    Raises:
        StateTooNew, StateCorrupt, StateError: the file cannot be used.
    """

    def create(connection: sqlite3.Connection) -> None:
        connection.execute(f"PRAGMA application_id = {kind}")
        for statement in tables:
            connection.execute(statement)

    with ExitStack() as held, translated(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=OWNER_ONLY)
        connection = held.enter_context(
            closing(sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None))
        )
        with locks.set_up(path.parent):
            for pragma in pragmas:
                connection.execute(f"PRAGMA {pragma}")
            schema.upgrade(connection, path, migrations=(create,), kind=kind)
        return connection, held.pop_all()


class State:
    """An open state file; whatever is done with it is done in its own thread, in turn."""

    def __init__(
        self,
        path: Path,
        thread: ThreadPoolExecutor,
        *,
        connection: sqlite3.Connection,
        held: ExitStack,
    ) -> None:
        self.path = path
        self._thread = thread
        self._connection = connection
        self._held = held
        self._closed = False

    @classmethod
    async def open(cls, directory: Path, access: Access) -> Self:
        """Open the state in a directory; whoever may write makes what is missing.

        Raises:
            StateLocked: `access` is CONSUME and another process consumes.
            StateTooNew, StateCorrupt, StateError: the file cannot be used.
        """
        return await cls.start(directory / FILE, partial(_open, directory, access))

    @classmethod
    async def start(cls, path: Path, opening: Callable[[], Opened]) -> Self:
        """Open a file in the thread in which it will be used.

        Raises:
            StateError: as `opening` does.
        """
        thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="state")
        loop = asyncio.get_running_loop()
        try:
            connection, held = await loop.run_in_executor(thread, opening)
        except BaseException:
            thread.shutdown(wait=False)
            raise
        return cls(path, thread, connection=connection, held=held)

    async def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do `work` with the connection, once everything asked for earlier is done.

        Raises:
            StateError: SQLite failed, or the state is closed.
        """
        if self._closed:
            raise StateError(f"{self.path}: already closed")
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._work, work)

    def _work(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with translated(self.path):
            return work(self._connection)

    async def close(self) -> None:
        """Finish what was asked for, then give back file and lock; closing twice is the same."""
        if self._closed:
            return
        self._closed = True
        loop = asyncio.get_running_loop()
        await asyncio.shield(loop.run_in_executor(self._thread, self._held.close))
        self._thread.shutdown()
