"""`variant-monitor history fit`."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from rich.console import Console

from monitor.adapters.suite_files import read_suite
from monitor.app import checks, histories
from monitor.app.application import SOFTWARE
from monitor.cli.output import print_json, print_line, print_table, say
from monitor.domain.errors import HistoryError, UsageError
from monitor.domain.suites import Suite
from monitor.history.artefacts import Artefact, write_artefact
from monitor.settings import HistoryFile

COLUMNS = ("draws", "ess_ratio", "models below 1", "drawn")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to be learnt from, and where to."""

    suite: Path
    outcomes: tuple[Path, ...]
    before: str
    exclude: tuple[str, ...]
    out: Path


def fit(wanted: Wanted, *, as_json: bool) -> None:
    """Fit a guide, write it, and print what was chosen and what its replays say.

    Raises:
        UsageError, ProblemsFound: it cannot be done as asked.
    """
    suite, files = read_suite(wanted.suite), _files(wanted)
    found = checks.check_history(suite, files)
    if found.problems:
        raise HistoryError(found.problems)
    for warning in found.warnings:
        say(f"warning: {warning}")
    with _waiting("trying out guides on models that are left out"):
        artefact = histories.prepare(suite, files, software=SOFTWARE)
    try:
        write_artefact(wanted.out, artefact)
    except OSError as error:
        text = f"--out {wanted.out}: cannot be written: {error.strerror}; name another"
        raise UsageError(text) from error
    if as_json:
        print_json({"file": str(wanted.out), **artefact.header().document()})
    else:
        _print(artefact, suite, wanted.out)


def _files(wanted: Wanted) -> list[HistoryFile]:
    try:
        before = date.fromisoformat(wanted.before) if wanted.before else None
    except ValueError:
        raise UsageError(f"--before {wanted.before!r} is not a day as YYYY-MM-DD") from None
    return [
        HistoryFile(file=file.absolute(), before=before, exclude=wanted.exclude)
        for file in wanted.outcomes
    ]


@contextmanager
def _waiting(text: str) -> Iterator[None]:
    """Something that moves on a terminal, a line elsewhere."""
    console = Console(stderr=True)
    if console.is_terminal:
        with console.status(text):
            yield
        return
    say(text)
    yield


def _print(artefact: Artefact, suite: Suite, file: Path) -> None:
    fitted, models = artefact.fit, len(artefact.origin.models)
    print_line(f"{file}: {fitted.candidate}, fitted to {models} models on suite {suite.name!r}")
    if not fitted.figures:
        print_line("Too little history to try it out on models left out: draws will be plain.")
        return
    rows = [
        (
            str(figure.n),
            f"{figure.ess_ratio:.2f}",
            f"{figure.share_below:.0%}",
            "by the guide" if fitted.is_worth(figure.n) else "plainly",
        )
        for figure in fitted.figures
    ]
    print_table("Replays of left-out models", COLUMNS, rows)
