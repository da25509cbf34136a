"""`variant-monitor simulate-endpoint`, `suite example` and `suite record`."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path

from monitor.adapters.suite_files import MANIFEST, read_suite, write_suite
from monitor.app.examples import HISTORY, write_history
from monitor.cli.output import print_line
from monitor.domain.errors import UsageError
from monitor.domain.suites import Suite
from monitor.history.outcomes import read_outcomes
from monitor.settings import read_variable
from monitor.simulation import answers, serving, suites
from monitor.simulation.knobs import parse_knobs
from monitor.simulation.server import Simulation

EXAMPLE_ITEMS = 200
EXAMPLE_SEED = 0  # as that of `simulate-endpoint` where none is given
NEXT = """try:
  variant-monitor suite check {folder}
  variant-monitor simulate-endpoint --suite {folder} \\
      --model good=0.85 --model worse=0.7:good
and beside it:
  variant-monitor evaluate --suite {folder} \\
      --history {file} \\
      --base-url http://127.0.0.1:8100/v1 --model good --budget 50%"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What is served: a suite, and models that are recorded or made up."""

    suite: Path
    outcomes: Path | None
    models: tuple[str, ...]
    knobs: str
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """Where it is served, and to whom."""

    host: str
    port: int
    api_key_env: str


def serve(offer: Offer, listener: Listener) -> None:
    """Serve until SIGINT or SIGTERM.

    Raises:
        UsageError, ProblemsFound: what is to be served does not fit together.
    """
    suite = read_suite(offer.suite)
    api_key = None
    if listener.api_key_env:
        api_key = read_variable(listener.api_key_env, where="--api-key-env").get_secret_value()
    simulation = Simulation(
        suite, _book(offer, suite), knobs=parse_knobs(_json(offer.knobs)), api_key=api_key
    )
    serving.serve(simulation, host=listener.host, port=listener.port, announce=_announce)


def write_example(folder: Path) -> None:
    """Write a suite to start from, and outcomes of made-up models on it; say what to do next.

    Raises:
        UsageError: there is a suite already, or the history cannot be written.
        SuiteError: the suite cannot be written.
    """
    if (folder / MANIFEST).exists():
        raise UsageError(f"{folder / MANIFEST} is there already; name another folder")
    suite, file = suites.arithmetic_suite(EXAMPLE_ITEMS, seed=EXAMPLE_SEED), folder / HISTORY
    write_suite(suite, folder, description="Arithmetic questions with numbers as answers")
    write_history(suite, file, seed=EXAMPLE_SEED)
    print_line(f"{folder}: {EXAMPLE_ITEMS} items")
    print_line(f"{file}: outcomes of made-up earlier models")
    print_line(NEXT.format(folder=folder, file=file))


def write_recorded_suite(file: Path, folder: Path, *, name: str) -> None:
    """Write a suite with one item per column of a file of outcomes.

    Raises:
        HistoryError: the file cannot be used.
        SuiteError: the suite cannot be written, or could not be read.
    """
    matrix = read_outcomes(file)
    write_suite(suites.recorded_suite(matrix.items, matrix.groups, name=name), folder)
    read_suite(folder)  # names of suite and columns may be unfit
    sys.stdout.write(f"{folder}: {len(matrix.items)} items; models in {file}:\n")
    for model in matrix.models:
        sys.stdout.write(f"  {model}\n")


def _book(offer: Offer, suite: Suite) -> answers.AnswerBook:
    if (offer.outcomes is None) == (not offer.models):
        raise UsageError("give either --outcomes or one --model NAME=ACCURACY or more")
    if offer.outcomes is None:
        models = [_model(text) for text in offer.models]
        items = [item.id for item in suite.items]
        return answers.item_response_book(models, items=items, seed=offer.seed)
    matrix = read_outcomes(offer.outcomes)
    return answers.recorded_book(
        matrix.outcomes, models=matrix.models, items=matrix.items, seed=offer.seed
    )


def _model(text: str) -> answers.SimulatedModel:
    name, separator, rest = text.partition("=")
    accuracy, _, version_of = rest.partition(":")
    try:
        if separator and name:
            return answers.SimulatedModel(
                name=name, accuracy=float(accuracy), version_of=version_of or None
            )
    except ValueError:
        pass
    raise UsageError(f"--model {text!r} is not NAME=ACCURACY or NAME=ACCURACY:VERSION_OF")


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError as error:
        raise UsageError(f"--knobs is not JSON: {error}") from error


def _announce(base_url: str) -> None:
    sys.stdout.write(f"serving {base_url}\n")
    sys.stdout.flush()
