"""A back-test from its files to its records, spread over worker processes."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from monitor.adapters.worker_processes import WorkerProcesses
from monitor.domain.errors import UsageError
from monitor.history import (
    backtests,
    lessons,
    outcomes,
    paper_designs,
    repeats,
    splits,
    surrogates,
    trials,
)
from monitor.history.backtests import Backtest, Wanted
from monitor.history.lessons import Lesson
from monitor.history.outcomes import OutcomeMatrix
from monitor.history.records import Record
from monitor.history.repeats import Samples
from monitor.history.splits import SplitKind
from monitor.history.surrogates import Recorded, Surrogate, Wish
from monitor.stats import tensors
from monitor.stats.factor_models import Factors

# Told how many pieces of work are done, of how many, and what they are.
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where the outcomes come from.

    outcomes: file of recorded outcomes. split: who is evaluated with whose help.
    factors: file of a fitted factor model, with which every row is a target.
    surrogate: whose answers strata are made from. is_shuffled: whether they are given to the items
        in random order. asks_first: whether targets are evaluated on their first answers.
    """

    outcomes: Path
    split: SplitKind
    factors: Path | None = None
    surrogate: Wish | None = None
    is_shuffled: bool = False
    asks_first: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Prepared:
    """A back-test that can be run.

    given: factors from a file, instead of what the history would teach.
    remarks: what the user should know of it.
    """

    backtest: Backtest
    given: Factors | None
    remarks: tuple[str, ...]


def prepare(source: Source, wanted: Wanted) -> Prepared:
    """Read, divide and check.

    Raises:
        HistoryError, UsageError: it cannot be done as asked.
    """
    matrix = outcomes.read_outcomes(source.outcomes, needs_names=False)
    given = None
    if source.factors is None:
        split = splits.split(matrix, source.split, seed=wanted.seed)
    else:
        split = splits.every_row(matrix)
        given = lessons.read_factors(source.factors, len(matrix.items))
    samples = _samples(source, matrix)
    backtest = Backtest(
        matrix=matrix,
        split=split,
        wanted=wanted,
        surrogates=_surrogates(source, Recorded(matrix=matrix, samples=samples, seed=wanted.seed)),
        first=repeats.first_answers(samples) if samples is not None and source.asks_first else None,
    )
    remarks = backtests.check(backtest)
    _check_torch(wanted)
    return Prepared(backtest=backtest, given=given, remarks=split.remarks + remarks)


def _samples(source: Source, matrix: OutcomeMatrix) -> Samples | None:
    if source.surrogate is None and not source.asks_first:
        return None
    found = repeats.read_samples(source.outcomes, matrix)
    if found is None and source.asks_first:
        raise UsageError(f"--scores first: {source.outcomes} has no array {repeats.SAMPLES}")
    return found


def _surrogates(source: Source, recorded: Recorded) -> tuple[Surrogate, ...]:
    if source.surrogate is None:
        return ()
    found = surrogates.find(recorded, source.surrogate)
    if not source.is_shuffled:
        return found
    return tuple(surrogates.shuffle(each, seed=recorded.seed) for each in found)


def run(prepared: Prepared, workers: WorkerProcesses, progress: Progress) -> Iterator[Record]:
    """Yield the records by fold, target, design, seed and budget, whoever makes them."""
    learnt = _learn(prepared, workers, progress)
    work = list(backtests.all_trials(prepared.backtest, learnt))
    progress(0, len(work), "evaluated")
    for done, records in enumerate(workers.map(trials.run, work), start=1):
        yield from records
        progress(done, len(work), "evaluated")


def _learn(prepared: Prepared, workers: WorkerProcesses, progress: Progress) -> list[Lesson]:
    """Return a lesson for each fold; factors that are given come with one for every row."""
    backtest, given = prepared.backtest, prepared.given
    if given is None:
        found = workers.map(lessons.learn, backtests.studies(backtest))
    else:
        found = workers.map(partial(lessons.given, seed=backtest.wanted.seed), [given])
    learnt: list[Lesson] = []
    progress(0, len(backtest.split.folds), "learnt")
    for lesson in found:
        learnt.append(lesson)
        progress(len(learnt), len(backtest.split.folds), "learnt")
    return learnt


def _check_torch(wanted: Wanted) -> None:
    if paper_designs.VARIANTS.keys().isdisjoint(wanted.designs):
        return
    try:
        tensors.require()
    except ModuleNotFoundError as error:
        raise UsageError(f"--designs {','.join(wanted.designs)}: {error}") from None
