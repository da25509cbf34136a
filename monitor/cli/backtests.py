"""`variant-monitor backtest`: from options to tables."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Self, TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from monitor.adapters import plots
from monitor.adapters.worker_processes import WorkerProcesses
from monitor.app import backtests
from monitor.app.backtests import Prepared, Source
from monitor.cli.output import PLAIN_DESIGN, print_json, print_line, print_table, print_text, say
from monitor.domain.errors import UsageError
from monitor.domain.policies import Budget
from monitor.history import masks, summaries
from monitor.history.backtests import Wanted
from monitor.history.pools import PaperSettings
from monitor.history.records import Record, encode
from monitor.history.splits import SplitKind
from monitor.history.summaries import BandCoverage, Coverage, Summary
from monitor.wire import policies

LEGEND = (
    "coverage: share of intervals that contain the truth, with its Monte-Carlo error. none: share "
    "of evaluations without an estimate. ess: variance of plain random draws without replacement "
    "over this variance, both from the known outcomes, pooled over targets; mse: over the squared "
    "errors instead; paper: for the paper's uniform draws; <1: share of targets for which plain "
    "draws would have been better; worst: the lowest ratio of a target. paid: distinct items."
)
PAID = "at paid: ess beside as many plain draws as were paid for."
PLAINLY = (
    "plainly: share of evaluations that the planner drew plainly, for history promised too little "
    "or too few failures or successes were expected, or for which it asked every item."
)
UNKNOWN = "-"
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
    paper: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """Where results go besides tables on standard output."""

    records: Path | None
    plot: Path | None
    as_json: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Report:
    """Everything that is shown, as it stands in the JSON document."""

    outcomes: str
    split: str
    level: float
    seed: int
    runs: int
    observed: str
    targets: int
    history: tuple[int, ...]
    remarks: tuple[str, ...]
    designs: Sequence[Summary]
    by_date: Sequence[BandCoverage]
    by_ability: Sequence[BandCoverage]


def backtest(request: Request, output: Output, *, processes: int | None) -> None:
    """Run, and show what came of it.

    Raises:
        HistoryError, UsageError: it cannot be done as asked.
    """
    source = Source(
        outcomes=request.outcomes, split=SplitKind(request.split), factors=request.factors
    )
    prepared = backtests.prepare(source, _wanted(request))
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
        _print(report)


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
    )


def _listed(written: str) -> list[str]:
    return [part.strip() for part in written.split(",") if part.strip()]


def _budget(written: str) -> Budget:
    try:
        given = policies.budget(written)
    except ValueError as error:
        raise UsageError(f"--budgets {written}: {error}") from None
    return Budget(count=given.count, share=given.share, minimum=1)


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


def _report(request: Request, prepared: Prepared, found: Sequence[Record]) -> _Report:
    matrix, split = prepared.backtest.matrix, prepared.backtest.split
    truths = {each.target: each.truth for each in found}
    dates = summaries.date_bands(list(truths), matrix.dates)
    abilities = summaries.ability_bands(truths)
    return _Report(
        outcomes=str(request.outcomes),
        split=request.split if request.factors is None else "every row",
        level=request.level,
        seed=request.seed,
        runs=request.runs,
        observed=request.observed,
        targets=len(truths),
        history=tuple(len(fold.history) for fold in split.folds),
        remarks=prepared.remarks,
        designs=summaries.summarise(found),
        by_date=summaries.coverage_by_band(found, dates),
        by_ability=summaries.coverage_by_band(found, abilities),
    )


def _print(report: _Report) -> None:
    sizes = sorted({min(report.history), max(report.history)})
    columns = _columns(report.designs)
    print_line(
        f"{report.outcomes}: {report.targets} targets, {report.runs} evaluations each, "
        f"by {' to '.join(map(str, sizes))} models of other families"
    )
    rows = [[cell(each) for cell in columns.values()] for each in report.designs]
    print_table("by design and draws", list(columns), rows)
    print_text(LEGEND)
    for name, text in (("at paid", PAID), ("plainly", PLAINLY)):
        if name in columns:
            print_text(text)
    for title, bands in (("release date", report.by_date), ("accuracy", report.by_ability)):
        _print_bands(f"coverage by {title}", bands)


def _columns(found: Sequence[Summary]) -> dict[str, Callable[[Summary], str]]:
    """Return what stands in each column; two are there only where they say something."""
    columns: dict[str, Callable[[Summary], str]] = {
        "design": lambda each: each.design,
        "draws": lambda each: each.budget,
        "coverage": lambda each: _coverage(each.coverage),
        "none": lambda each: f"{each.no_estimate:.1%}",
        "width": lambda each: _number(each.width, ".4f"),
        "bias": lambda each: _number(each.bias, "+.5f"),
        "ess": lambda each: _number(each.ess_ratio),
        "mse": lambda each: _number(each.ess_ratio_mse),
        "paper": lambda each: _number(each.paper_ratio),
        "<1": lambda each: f"{each.below_one:.0%}",
        "worst": lambda each: _number(each.worst),
        "paid": lambda each: f"{each.queries:.0f}",
    }
    if any(each.queries < each.draws for each in found):
        columns["at paid"] = lambda each: _number(each.ess_ratio_queries)
    if any(each.by_guide < 1.0 for each in found if each.design != PLAIN_DESIGN):
        columns["plainly"] = lambda each: f"{1.0 - each.by_guide:.0%}"
    return columns


def _print_bands(title: str, bands: Sequence[BandCoverage]) -> None:
    budgets = list(dict.fromkeys(each.budget for each in bands))
    rows: dict[tuple[str, str], dict[str, Coverage]] = {}
    for each in bands:
        rows.setdefault((each.design, each.band), {})[each.budget] = each.coverage
    print_table(
        title,
        ("design", "targets of", "targets", *budgets),
        [
            (
                design,
                band,
                str(max(found.targets for found in cells.values())),
                *(_coverage(cells[budget]) if budget in cells else "" for budget in budgets),
            )
            for (design, band), cells in sorted(rows.items())
        ],
    )


def _coverage(found: Coverage) -> str:
    if found.share is None:
        return UNKNOWN
    return f"{found.share:.3f}" + ("" if found.error is None else f"±{found.error:.3f}")


def _number(value: float | None, form: str = ".2f") -> str:
    return UNKNOWN if value is None else format(value, form)


def _plot(report: _Report, file: TextIO) -> None:
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
