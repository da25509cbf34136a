"""Tables of the state file, and the steps by which an older file reaches their latest form.

A file names its kind (`application_id`) and its version (`user_version`, the number of
migrations behind it). One that is newer, or of another kind, is left as it is.
"""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from monitor.domain.errors import StateCorrupt, StateError, StateTooNew

APPLICATION_ID = int.from_bytes(b"mvmo")

# `id` orders what was appended over all topics. Four columns repeat headers of results and
# outcomes, for the archive to look up; they come before `value`, which may be long.
TABLES = (
    """
    CREATE TABLE records (
        id INTEGER PRIMARY KEY,
        topic TEXT NOT NULL,
        partition INTEGER NOT NULL,
        offset INTEGER NOT NULL,
        key BLOB,
        headers TEXT NOT NULL,
        evaluation_id TEXT,
        variant TEXT,
        suite TEXT,
        part INTEGER,
        value BLOB NOT NULL,
        UNIQUE (topic, partition, offset)
    )
    """,
    """
    CREATE INDEX records_by_evaluation ON records (topic, evaluation_id, part)
    WHERE evaluation_id IS NOT NULL
    """,
    """
    CREATE INDEX records_by_variant ON records (topic, variant, suite)
    WHERE variant IS NOT NULL
    """,
    # epoch: number of owners so far, so that a former one is recognised.
    """
    CREATE TABLE partitions (
        partition INTEGER PRIMARY KEY,
        settled INTEGER NOT NULL DEFAULT 0,
        epoch INTEGER NOT NULL DEFAULT 0
    )
    """,
    """
    CREATE TABLE journal (
        partition INTEGER NOT NULL REFERENCES partitions,
        evaluation_id TEXT NOT NULL,
        sequence INTEGER NOT NULL,
        value BLOB NOT NULL,
        PRIMARY KEY (partition, evaluation_id, sequence)
    )
    """,
    "INSERT INTO partitions (partition) VALUES (0)",
)


def create_tables(connection: sqlite3.Connection) -> None:
    """Version 1: the first form, with one partition."""
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    for statement in TABLES:
        connection.execute(statement)


Migration = Callable[[sqlite3.Connection], None]
MIGRATIONS: tuple[Migration, ...] = (create_tables,)
LATEST = len(MIGRATIONS)


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All or nothing; no other process writes in between."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _number(connection: sqlite3.Connection, query: str) -> int:
    (number,) = connection.execute(query).fetchone()
    return int(number)


def stored_version(
    connection: sqlite3.Connection,
    path: Path,
    *,
    latest: int = LATEST,
    kind: int = APPLICATION_ID,
) -> int:
    """Version of the file opened at `path`, 0 for an empty one.

    Raises:
        StateCorrupt: it is a database of another kind, or of some other program.
        StateTooNew: it is newer than `latest`.
    """
    version = _number(connection, "PRAGMA user_version")
    found = _number(connection, "PRAGMA application_id")
    if found != kind and _number(connection, "SELECT count(*) FROM sqlite_schema"):
        raise StateCorrupt(f"{path}: a database of another program; name another state directory")
    if version > latest:
        raise StateTooNew(
            f"{path}: has state version {version}, this program knows {latest} at most;"
            " run the newer program that wrote it (nothing was changed)"
        )
    return version


def require_latest(connection: sqlite3.Connection, path: Path, *, latest: int = LATEST) -> None:
    """Refuse a file whose tables are not in their latest form.

    Raises:
        StateError: the file is empty, older, newer or of another kind.
    """
    version = stored_version(connection, path, latest=latest)
    if version == 0:
        raise StateError(f"{path}: holds no state yet; start the daemon or submit an event first")
    if version < latest:
        raise StateError(
            f"{path}: has state version {version}; start this program's daemon on it once, which"
            f" brings it to version {latest}"
        )


def upgrade(
    connection: sqlite3.Connection,
    path: Path,
    *,
    migrations: Sequence[Migration] = MIGRATIONS,
    kind: int = APPLICATION_ID,
) -> None:
    """Bring the tables to their latest form, in one transaction.

    Raises:
        StateError: the file is newer or of another kind.
    """
    version = stored_version(connection, path, latest=len(migrations), kind=kind)
    if version == len(migrations):
        return
    connection.execute("PRAGMA journal_mode = WAL")
    with transaction(connection):
        for migrate in migrations[version:]:
            migrate(connection)
        connection.execute(f"PRAGMA user_version = {len(migrations)}")
