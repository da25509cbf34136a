"""The tables of a back-test."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from monitor.cli.output import PLAIN_DESIGN, print_line, print_table, print_text
from monitor.history.gains import Gain
from monitor.history.summaries import BandCoverage, Coverage, Summary

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
GAIN_LEGEND = (
    "pairs: of a target and a surrogate. variance: mean over pairs of the variance over that of as "
    "many plain draws, from the known outcomes; mse: by simulation. saving: share of the draws "
    "that plain ones would need for it. to oracle: what it is above the best allocation to the "
    "paper's strata. telling: pairs whose strata explain more than 15 % of the variance. width: of "
    "the intervals beside perfectly calibrated ones."
)
UNKNOWN = "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything that is shown, as it stands in the JSON document."""

    outcomes: str
    split: str
    level: float
    seed: int
    runs: int
    observed: str
    surrogate: str
    targets: int
    history: tuple[int, ...]
    remarks: tuple[str, ...]
    designs: Sequence[Summary]
    gains: Sequence[Gain]
    by_date: Sequence[BandCoverage]
    by_ability: Sequence[BandCoverage]


def show(report: Report) -> None:
    """Print all of them.

    Args:
        report: what there is to show.
    """
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
    if report.gains:
        rows = [[cell(each) for cell in GAINS.values()] for each in report.gains]
        print_table("beside plain draws: mean over pairs", list(GAINS), rows)
        print_text(GAIN_LEGEND)
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


def _simulated(gain: Gain) -> str:
    error = "" if gain.error is None else f"±{gain.error:.3f}"
    return _number(gain.simulated, ".3f") + error


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


GAINS: Mapping[str, Callable[[Gain], str]] = MappingProxyType(
    {
        "design": lambda each: each.design,
        "draws": lambda each: each.budget,
        "pairs": lambda each: str(each.pairs),
        "variance": lambda each: f"{each.ratio:.3f}",
        "mse": _simulated,
        "saving": lambda each: f"{round(each.saving, 4) + 0.0:.1%}",
        "best": lambda each: f"{each.best:.2f}",
        "worst": lambda each: f"{each.worst:.2f}",
        "to oracle": lambda each: _number(each.over_oracle, "+.3f"),
        "telling": lambda each: str(each.telling),
        "their variance": lambda each: _number(each.telling_ratio, ".3f"),
        "width": lambda each: _number(each.width),
    }
)
