import asyncio
from pathlib import Path

import pytest

from tests.unit.app import states
from tests.unit.cli.terminal import Ended, Terminal

KAFKA = "suites: [{path: suite}]\nbus: {kind: kafka, bootstrap_servers: ['localhost:9092']}\n"


@pytest.fixture
def filled(pool: Path) -> Path:
    """The pool, with results and dead letters in the state of its configuration."""
    asyncio.run(states.publish(pool / "state", "ab1", "ab2"))
    asyncio.run(states.publish(pool / "state", "c", variant="other"))
    asyncio.run(states.put_letters_aside(pool / "state"))
    return pool


def first_words(ended: Ended) -> list[str]:
    """First word of each row of a table."""
    assert ended.code == 0
    return [line.split()[0] for line in ended.out.splitlines()[4:] if line]


@pytest.mark.usefixtures("filled")
def test_results_are_a_table(terminal: Terminal) -> None:
    ended = terminal.run("results")
    assert first_words(ended) == ["c", "ab2", "ab1"]
    assert "CANCELLED" in ended.out
    assert "2026-01-01 00:00" in ended.out
    assert not any(line.endswith(" ") for line in ended.out.splitlines())


def test_results_of_one_variant(filled: Path, terminal: Terminal) -> None:
    options = ("--variant", "chat", "--limit", "1", "--state", filled / "state")
    assert first_words(terminal.run("results", *options)) == ["ab2"]


@pytest.mark.usefixtures("filled")
def test_results_are_json_if_wanted(terminal: Terminal) -> None:
    assert [each["id"] for each in terminal.run("results", "--json").document()] == [
        "c",
        "ab2",
        "ab1",
    ]


@pytest.mark.usefixtures("filled")
def test_a_result_is_shown_by_the_beginning_of_its_id(terminal: Terminal) -> None:
    assert terminal.run("results", "c", "--json").document()["id"] == "c"
    assert terminal.run("results", "ab1").out.startswith("evaluation")
    ended = terminal.run("results", "ab")
    assert (ended.code, ended.out) == (2, "")
    assert "give more of it" in ended.err


@pytest.mark.usefixtures("filled")
def test_dead_letters_are_a_table_or_json(terminal: Terminal) -> None:
    ended = terminal.run("dead-letters")
    assert first_words(ended) == ["0", "1"]
    assert "not_json" in ended.out
    found = terminal.run("dead-letters", "--json").document()
    assert [(each["number"], each["offset"]) for each in found] == [(0, "5"), (1, "6")]
    assert found[0]["value"] == states.LETTERS[0].decode()


@pytest.mark.usefixtures("filled")
def test_a_dead_letter_is_printed_as_it_was_sent(terminal: Terminal) -> None:
    assert terminal.run("dead-letters", "--show", "0").out == states.LETTERS[0].decode()
    ended = terminal.run("dead-letters", "--show", "7")
    assert (ended.code, ended.out) == (2, "")
    assert "there is no dead letter 7" in ended.err


def test_nothing_is_said_in_words(pool: Path, terminal: Terminal) -> None:
    asyncio.run(states.commit(pool / "state"))
    assert terminal.run("results").out == "no results yet\n"
    assert terminal.run("dead-letters").out == "no dead letters\n"


@pytest.mark.parametrize("command", ["results", "dead-letters"])
def test_another_bus_is_read_elsewhere(command: str, pool: Path, terminal: Terminal) -> None:
    (pool / "monitor.yaml").write_text(KAFKA)
    ended = terminal.run(command)
    assert (ended.code, ended.out) == (2, "")
    assert "its bus is kafka" in ended.err
