import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from monitor.adapters.embedded.state import FILE
from tests.unit.app.installations import configured, published, served
from tests.unit.cli.terminal import Terminal

pytestmark = pytest.mark.slow


@pytest.fixture
def identity(pool: Path) -> str:
    """Id of a published result in the state of the pool's configuration."""
    with served() as endpoint:
        settings = configured(pool, endpoint.base_url)
        return asyncio.run(published(settings, "good")).evaluation_id


def test_agreement_is_told_with_the_digest(identity: str, terminal: Terminal) -> None:
    ended = terminal.run("replay", identity)
    assert ended.code == 0
    assert ended.out.startswith(f"{identity}: agrees to the byte, sha256 ")


def test_agreement_is_json_if_wanted(identity: str, terminal: Terminal, pool: Path) -> None:
    found = terminal.run("replay", identity, "--state", pool / "state", "--json").document()
    assert (found["evaluation_id"], found["agrees"]) == (identity, True)
    assert len(found["statistics_sha256"]) == 64


def tamper(file: Path) -> None:
    """Write another number into the published result."""
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(
            "UPDATE records SET value = CAST(replace(CAST(value AS TEXT), '\"answered\":60',"
            " '\"answered\":59') AS BLOB) WHERE topic = 'model-evaluations'"
        )


def test_a_tampered_result_ends_with_6_and_the_place(
    identity: str, terminal: Terminal, pool: Path
) -> None:
    tamper(pool / "state" / FILE)
    ended = terminal.run("replay", identity, "--json")
    assert (ended.code, ended.out) == (6, "")
    assert "at statistics.answered:\n  published:  59\n  recomputed: 60" in ended.err


def test_a_faulted_evaluation_has_nothing_to_replay(pool: Path, terminal: Terminal) -> None:
    down = configured(pool, limits={"gate_seconds": 0.1})
    faulted = asyncio.run(published(down, "good")).evaluation_id
    ended = terminal.run("replay", faulted)
    assert ended.code == 2
    assert "ended FAULTED (endpoint_fault)" in ended.err
    assert "there is nothing to replay" in ended.err


def test_an_unknown_id_is_an_error(identity: str, terminal: Terminal) -> None:
    ended = terminal.run("replay", f"{identity}x")
    assert ended.code == 2
    assert f"no result of an evaluation whose id begins with '{identity}x'" in ended.err


def test_the_beginning_of_an_id_is_enough(identity: str, terminal: Terminal) -> None:
    assert terminal.run("replay", identity[:8], "--json").document()["evaluation_id"] == identity


@pytest.mark.usefixtures("pool")
def test_a_missing_state_is_an_error(terminal: Terminal) -> None:
    ended = terminal.run("replay", "e", "--state", "absent")
    assert ended.code == 2
    assert "absent/state.sqlite3: there is no state" in ended.err
