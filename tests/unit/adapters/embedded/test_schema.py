import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from monitor.adapters.embedded import schema
from monitor.domain.errors import StateCorrupt, StateError, StateTooNew


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state.sqlite3"


@pytest.fixture
def connection(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path, isolation_level=None)) as opened:
        yield opened


def add_notes(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE notes (text TEXT)")


def fill_notes(connection: sqlite3.Connection) -> None:
    connection.execute("INSERT INTO notes VALUES ('first')")


def test_an_empty_file_becomes_the_latest(connection: sqlite3.Connection, path: Path) -> None:
    schema.upgrade(connection, path)
    schema.upgrade(connection, path)
    schema.require_latest(connection, path)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert connection.execute("SELECT partition, settled FROM partitions").fetchall() == [(0, 0)]


def test_an_older_file_is_migrated_in_order(connection: sqlite3.Connection, path: Path) -> None:
    schema.upgrade(connection, path)
    migrations = (*schema.MIGRATIONS, add_notes, fill_notes)
    schema.upgrade(connection, path, migrations=migrations)
    assert connection.execute("SELECT text FROM notes").fetchall() == [("first",)]
    assert schema.stored_version(connection, path, latest=3) == 3


def test_a_migration_that_fails_leaves_the_version(
    connection: sqlite3.Connection, path: Path
) -> None:
    schema.upgrade(connection, path)
    with pytest.raises(sqlite3.OperationalError, match="already exists"):
        schema.upgrade(connection, path, migrations=(*schema.MIGRATIONS, add_notes, add_notes))
    schema.require_latest(connection, path)
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        connection.execute("SELECT * FROM notes")


def test_a_newer_file_is_refused_and_left_alone(connection: sqlite3.Connection, path: Path) -> None:
    schema.upgrade(connection, path, migrations=(*schema.MIGRATIONS, add_notes))
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    before = path.read_bytes()
    for use in (schema.upgrade, schema.require_latest):
        with pytest.raises(StateTooNew, match=r"state\.sqlite3: has state version 2, .* 1 at most"):
            use(connection, path)
    assert path.read_bytes() == before


def test_another_programs_database_is_left_alone(
    connection: sqlite3.Connection, path: Path
) -> None:
    add_notes(connection)
    before = path.read_bytes()
    with pytest.raises(StateCorrupt, match="of another program"):
        schema.upgrade(connection, path)
    assert path.read_bytes() == before


def test_readers_ask_for_what_is_missing(connection: sqlite3.Connection, path: Path) -> None:
    with pytest.raises(StateError, match="holds no state yet; start the daemon"):
        schema.require_latest(connection, path)
    schema.upgrade(connection, path)
    with pytest.raises(StateError, match="has state version 1; start this program's daemon"):
        schema.require_latest(connection, path, latest=2)


def fill_and_fail(connection: sqlite3.Connection) -> None:
    with schema.transaction(connection):
        fill_notes(connection)
        raise ZeroDivisionError


def test_a_transaction_that_fails_leaves_nothing(connection: sqlite3.Connection) -> None:
    add_notes(connection)
    with pytest.raises(ZeroDivisionError):
        fill_and_fail(connection)
    assert connection.execute("SELECT * FROM notes").fetchall() == []
