"""`variant-monitor backtest`: from options to tables."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Self, TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from monitor.adapters import plots
from monitor.adapters.worker_processes import WorkerProcesses
from monitor.app import backtests
from monitor.app.backtests import Prepared, Source
from monitor.cli import backtest_tables
from monitor.cli.backtest_tables import Report
from monitor.cli.output import print_json, say
from monitor.domain.errors import UsageError
from monitor.domain.policies import Budget
from monitor.history import gains, masks, summaries, surrogates
from monitor.history.backtests import Wanted
from monitor.history.pools import PaperSettings
from monitor.history.records import Record, encode
from monitor.history.splits import SplitKind
from monitor.history.summaries import Summary
from monitor.stats import stratification
from monitor.wire import policies

QUARTERS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The options as they were given."""

    outcomes: Path
    split: str
    designs: str
    budgets: str
    runs: int
    seed: int
    level: float
    observed: str
    factors: Path | None
    surrogate: str
    shuffled: bool
    same_prefix: int
    strata: int | None
    smoothing: float | None
    scores: str
    complete: bool
    paper: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """Where results go besides tables on standard output."""

    records: Path | None
    plot: Path | None
    as_json: bool


def backtest(request: Request, output: Output, *, processes: int | None) -> None:
    """Run, and show what came of it.

    Raises:
        HistoryError, UsageError: it cannot be done as asked.
    """
    prepared = backtests.prepare(_source(request), _wanted(request))
    for remark in prepared.remarks:
        say(f"note: {remark}")
    with ExitStack() as stack:
        # What cannot be written is better known before hours of work than after.
        file = None if output.records is None else stack.enter_context(_opened(output.records))
        plot = None if output.plot is None else stack.enter_context(_opened(output.plot))
        workers = stack.enter_context(WorkerProcesses(processes))
        bar = stack.enter_context(_Bar())
        found = list(_written(backtests.run(prepared, workers, bar.show), file))
        report = _report(request, prepared, found)
        if plot is not None:
            _plot(report, plot)
    if output.as_json:
        print_json(asdict(report))
    else:
        backtest_tables.show(report)


def _source(request: Request) -> Source:
    if not request.surrogate and (request.shuffled or request.same_prefix):
        raise UsageError("--shuffled and --same-prefix are about a surrogate: add --surrogate")
    return Source(
        outcomes=request.outcomes,
        split=SplitKind(request.split),
        factors=request.factors,
        surrogate=surrogates.parse_wish(request.surrogate) if request.surrogate else None,
        is_shuffled=request.shuffled,
        asks_first=request.scores == "first",
    )


def _wanted(request: Request) -> Wanted:
    if not 0.0 < request.level < 1.0:
        raise UsageError(f"--level {request.level:g}: must lie between 0 and 1")
    return Wanted(
        designs=tuple(dict.fromkeys(_listed(request.designs))),
        budgets={text: _budget(text) for text in _listed(request.budgets)},
        runs=request.runs,
        seed=request.seed,
        level=request.level,
        observed=masks.parse_mask(request.observed) if request.observed else None,
        paper=_paper(request.paper),
        strata=_strata(request),
        same_prefix=request.same_prefix,
        is_complete=request.complete,
    )


def _listed(written: str) -> list[str]:
    return [part.strip() for part in written.split(",") if part.strip()]


def _budget(written: str) -> Budget:
    try:
        given = policies.budget(written)
    except ValueError as error:
        raise UsageError(f"--budgets {written}: {error}") from None
    return Budget(count=given.count, share=given.share, minimum=1)


def _strata(request: Request) -> stratification.Settings:
    usual = stratification.Settings()
    try:
        return replace(
            usual,
            strata=usual.strata if request.strata is None else request.strata,
            smoothing=usual.smoothing if request.smoothing is None else request.smoothing,
        )
    except ValueError as error:
        raise UsageError(f"--strata, --smoothing: {error}") from None


def _paper(given: Mapping[str, float]) -> PaperSettings:
    for name, value in given.items():
        if not 0.0 <= value < float("inf"):
            raise UsageError(f"--{name} {value:g}: must be a number that is not negative")
    if not 0.0 < given["tau"] <= 1.0:
        raise UsageError(f"--tau {given['tau']:g}: must be above 0 and at most 1")
    return PaperSettings(**given)


@contextmanager
def _opened(path: Path) -> Iterator[TextIO]:
    try:
        with path.open("w", encoding="utf-8") as file:
            yield file
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}") from None


def _written(records: Iterator[Record], file: TextIO | None) -> Iterator[Record]:
    for record in records:
        if file is not None:
            file.write(encode(record))
        yield record


def _report(request: Request, prepared: Prepared, found: Sequence[Record]) -> Report:
    matrix, split = prepared.backtest.matrix, prepared.backtest.split
    truths = {each.target: each.truth for each in found}
    dates = summaries.date_bands(list(truths), matrix.dates)
    abilities = summaries.ability_bands(truths)
    return Report(
        outcomes=str(request.outcomes),
        split=request.split if request.factors is None else "every row",
        level=request.level,
        seed=request.seed,
        runs=request.runs,
        observed=request.observed,
        surrogate=request.surrogate,
        targets=len(truths),
        history=tuple(len(fold.history) for fold in split.folds),
        remarks=prepared.remarks,
        designs=summaries.summarise(found),
        gains=gains.gains(found, level=request.level) if request.surrogate else (),
        by_date=summaries.coverage_by_band(found, dates),
        by_ability=summaries.coverage_by_band(found, abilities),
    )


def _plot(report: Report, file: TextIO) -> None:
    found = [each for each in report.designs if each.coverage.share is not None]
    worth = [each for each in report.designs if each.ess_ratio is not None]
    panels = (
        _panel(
            "coverage, with two Monte-Carlo errors",
            {each: each.coverage.share or 0.0 for each in found},
            mark=report.level,
            errors={each: 2.0 * (each.coverage.error or 0.0) for each in found},
        ),
        _panel("ess_ratio", {each: each.ess_ratio or 0.0 for each in worth}, mark=1.0),
        _panel("mean width of the intervals", {each: each.width or 0.0 for each in found}),
    )
    plots.write_panels(file, panels, title=report.outcomes)


def _panel(
    title: str,
    heights: Mapping[Summary, float],
    *,
    mark: float | None = None,
    errors: Mapping[Summary, float] = MappingProxyType({}),
) -> plots.Panel:
    curves = []
    for design in dict.fromkeys(each.design for each in heights):
        points = sorted((each for each in heights if each.design == design), key=_draws)
        curves.append(
            plots.Curve(
                name=design,
                x=[each.draws for each in points],
                y=[heights[each] for each in points],
                errors=[errors[each] for each in points if each in errors],
            )
        )
    return plots.Panel(title=title, x_title="draws", curves=curves, mark=mark)


def _draws(summary: Summary) -> float:
    return summary.draws


class _Bar:
    """How far the work has come: a bar on a terminal, a line at every quarter elsewhere."""

    def __init__(self) -> None:
        console = Console(stderr=True)
        self._plain = not console.is_terminal
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=console,
            disable=self._plain,
        )
        self._task = self._progress.add_task("", total=None)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def show(self, done: int, total: int, what: str) -> None:
        """So many pieces of work are done."""
        self._progress.update(self._task, completed=done, total=total, description=what)
        if self._plain and QUARTERS * done // total > QUARTERS * (done - 1) // total:
            say(f"{what}: {done} of {total}")
