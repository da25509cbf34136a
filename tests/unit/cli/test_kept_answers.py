import asyncio
import json
from pathlib import Path

import pytest

from monitor.adapters.embedded.kept_answers import SqliteKeptAnswers
from monitor.cli import kept_answers
from monitor.domain.answers import Status
from monitor.domain.kept_answers import KeptAnswer
from tests.contract.test_kept_answers import ANSWER, E2, answer
from tests.unit.cli.terminal import Terminal

KEPT = [
    ANSWER,
    answer("b", status=Status.GRADED, extracted="42", text="First.\nThen \x1b[2J 42."),
    answer("a", evaluation_id=E2, text=None),
]


async def keep(directory: Path, answers: list[KeptAnswer]) -> None:
    store = await SqliteKeptAnswers.open(directory, megabytes=1)
    for each in answers:
        await store.keep(each)
    await store.close()


@pytest.fixture
def filled(pool: Path) -> Path:
    """The pool, with answers in the state of its configuration."""
    asyncio.run(keep(pool / "state", KEPT))
    return pool


@pytest.mark.usefixtures("filled")
def test_evaluations_are_listed_with_their_counts(terminal: Terminal) -> None:
    ended = terminal.run("answers", "show")
    assert [line.split() for line in ended.out.splitlines()[4:] if line] == [
        ["e1", "2"],
        ["e2", "1"],
    ]
    assert terminal.run("answers", "show", "--json").document() == {"e1": 2, "e2": 1}


@pytest.mark.usefixtures("filled")
def test_answers_are_shown_whole_and_harmless(terminal: Terminal) -> None:
    """A terminal would do what a control character says."""
    assert terminal.run("answers", "show", "e1").out == (
        "a: no_answer\n"
        "    I am not sure.\n"
        "b: graded, extracted '42'\n"
        "    First.\n"
        "    Then \\x1b[2J 42.\n"
    )


def test_answers_are_json_if_wanted(filled: Path, terminal: Terminal) -> None:
    ended = terminal.run("answers", "show", "e1", "--json", "--state", filled / "state")
    first, second = ended.document()
    assert first == {
        "evaluation_id": "e1",
        "item": "a",
        "status": "no_answer",
        "extracted": None,
        "text": "I am not sure.",
        "at": "2026-11-29T12:00:00.123456+00:00",
    }
    assert json.dumps(second["text"]) == '"First.\\nThen \\u001b[2J 42."'


@pytest.mark.parametrize(
    ("text", "shown"),
    [(None, "(withheld: it could not be redacted in time)"), ("", "(no text)"), ("x", "x")],
)
def test_what_is_not_there_is_said(text: str | None, shown: str) -> None:
    assert kept_answers.lines([answer("a", text=text)]) == ["a: no_answer", f"    {shown}"]


@pytest.mark.parametrize(
    ("character", "shown"),
    [("\x1b", "\\x1b"), ("\u202e", "\\u202e"), ("\U000e0001", "\\U000e0001"), ("é", "é")],
)
def test_characters_that_a_terminal_acts_on_are_named(character: str, shown: str) -> None:
    assert kept_answers.lines([answer(character, text=character, extracted=character)]) == [
        f"{shown}: no_answer, extracted '{shown}'",
        f"    {shown}",
    ]


@pytest.mark.usefixtures("filled")
def test_an_evaluation_can_be_deleted(terminal: Terminal) -> None:
    assert terminal.run("answers", "delete", "e1").out == "2 answers deleted\n"
    assert terminal.run("answers", "show", "--json").document() == {"e2": 1}
    terminal.run("answers", "delete", "e2")
    assert terminal.run("answers", "show").out == "no answers are kept\n"


@pytest.mark.parametrize("command", ["show", "delete"])
@pytest.mark.parametrize(
    ("beginning", "says"),
    [("x", "no kept answer of an evaluation whose id begins with 'x'"), ("e", "give more of it")],
)
@pytest.mark.usefixtures("filled")
def test_an_id_must_say_which(command: str, beginning: str, says: str, terminal: Terminal) -> None:
    ended = terminal.run("answers", command, beginning)
    assert (ended.code, ended.out) == (2, "")
    assert says in ended.err


@pytest.mark.usefixtures("pool")
def test_where_nothing_was_ever_kept_is_an_error(terminal: Terminal) -> None:
    ended = terminal.run("answers", "show")
    assert ended.code != 0
    assert "kept_answers.sqlite3: no answers are kept there" in ended.err
