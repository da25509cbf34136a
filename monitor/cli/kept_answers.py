"""Prints the texts of answers that were kept: the one place where they leave their store."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TypeVar

from monitor.adapters.embedded.kept_answers import SqliteKeptAnswers
from monitor.app import lookups
from monitor.cli.output import print_json, print_line, print_table
from monitor.domain.identifiers import EvaluationId
from monitor.domain.kept_answers import KeptAnswer
from monitor.settings import load_settings

T = TypeVar("T")

WHAT = "kept answer"
WITHHELD = "(withheld: it could not be redacted in time)"
NOTHING = "(no text)"
INDENT = "    "


def directory(config: Path, state: Path | None) -> Path:
    """The state directory that is named, or else the one of the configuration.

    Raises:
        ConfigError: the configuration cannot be used.
    """
    return load_settings(config).state.directory if state is None else state


def list_evaluations(state: Path, *, as_json: bool) -> None:
    """Print of which evaluations answers are kept, the newest last.

    Raises:
        StateError: there is no store, or it cannot be used.
    """
    counts = _look(state, lambda store: store.counts())
    if as_json:
        print_json(counts)
    elif counts:
        rows = [(identity, str(count)) for identity, count in counts.items()]
        print_table("Kept answers", ("evaluation", "answers"), rows)
    else:
        print_line("no answers are kept")


def show(state: Path, beginning: str, *, as_json: bool) -> None:
    """Print the kept answers of one evaluation, whole.

    Raises:
        UsageError: none of an evaluation whose id begins so, or of more than one.
        StateError: there is no store, or it cannot be used.
    """

    async def find(store: SqliteKeptAnswers) -> Sequence[KeptAnswer]:
        return await store.find(await _whole_id(store, beginning))

    found = _look(state, find)
    if as_json:
        print_json([{**asdict(each), "at": each.at.isoformat()} for each in found])
    else:
        for line in lines(found):
            print_line(line)


def delete(state: Path, beginning: str) -> None:
    """Delete the kept answers of one evaluation.

    Raises:
        UsageError: none of an evaluation whose id begins so, or of more than one.
        StateError: there is no store, or it cannot be used.
    """

    async def remove(store: SqliteKeptAnswers) -> int:
        return await store.delete(await _whole_id(store, beginning))

    print_line(f"{_look(state, remove)} answers deleted")


def find(state: Path, evaluation_id: EvaluationId) -> Sequence[KeptAnswer]:
    """What is kept of an evaluation that has just ended.

    Raises:
        StateError: the store cannot be used.
    """
    return _look(state, lambda store: store.find(evaluation_id))


def lines(answers: Sequence[KeptAnswer]) -> Sequence[str]:
    """Answers for people: item, status and what was extracted, then the text, indented."""
    return [line for answer in answers for line in _lines(answer)]


def _lines(answer: KeptAnswer) -> Sequence[str]:
    taken = "" if answer.extracted is None else f", extracted {answer.extracted!r}"
    text = WITHHELD if answer.text is None else _shown(answer.text) or NOTHING
    return [
        f"{_shown(answer.item)}: {answer.status}{taken}",
        *(INDENT + line for line in text.splitlines()),
    ]


def _shown(text: str) -> str:
    """Without control characters: a terminal would do what a model says."""
    shown = (c if c.isprintable() or c in "\n\t" else repr(c).strip("'") for c in text)
    return "".join(shown)


async def _whole_id(store: SqliteKeptAnswers, beginning: str) -> EvaluationId:
    return lookups.only_id(await store.counts(), beginning, what=WHAT)


def _look(state: Path, question: Callable[[SqliteKeptAnswers], Awaitable[T]]) -> T:
    async def ask() -> T:
        store = await SqliteKeptAnswers.look(state)
        try:
            return await question(store)
        finally:
            await store.close()

    return asyncio.run(ask())
