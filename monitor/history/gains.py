"""What strata save beside plain draws: a mean over pairs of a target and a surrogate.

A pair counts once, whatever its variance: that is how arXiv 2605.10075 reports. `summaries` pools
variances instead.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from monitor.history import stratified_designs
from monitor.history.product_designs import CENSUS
from monitor.history.records import Record
from monitor.stats import quantiles

# Where strata explain less of a target's variance, they can save next to nothing.
TELLING: Final = 0.15

Pair = tuple[int, str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """All pairs of a target and a surrogate by one design and budget.

    pairs: number of them; of a design without surrogates that of targets.
    ratio: mean over pairs of exact variance over that of as many plain draws without replacement.
    simulated, error: the same of squared errors, and its Monte-Carlo standard error.
    saving: mean share of plain draws that could be left away at the same variance.
    best, worst: of the ratios.
    over_oracle: ratio less that of the best allocation to the paper's strata, on the same pairs;
        None where that was not run.
    telling, telling_ratio: number of pairs whose strata explain more than `TELLING` of the
        variance, and their mean ratio.
    width: of the intervals over that of perfectly calibrated ones, sum over sum.
    """

    design: str
    budget: str
    pairs: int
    ratio: float
    simulated: float | None
    error: float | None
    saving: float
    best: float
    worst: float
    over_oracle: float | None
    telling: int
    telling_ratio: float | None
    width: float | None


def gains(records: Iterable[Record], *, level: float) -> list[Gain]:
    """Return one gain for each design and budget, in the order of their first records.

    Censuses, and targets whose scores are all equal, have no ratio and are left out.

    Args:
        records: of a back-test.
        level: of its intervals.
    """
    cells: dict[tuple[str, str], list[Record]] = {}
    for each in records:
        if each.srs_variance > 0.0 and each.drawn_by != CENSUS:
            cells.setdefault((each.design, each.budget), []).append(each)
    ratios = {key: _ratios(cell) for key, cell in cells.items()}
    return [
        _gain(
            cell,
            ratios[design, budget],
            oracle=ratios.get((stratified_designs.ORACLE, budget), {}),
            level=level,
        )
        for (design, budget), cell in cells.items()
    ]


def saving(ratio: float, *, n: int, population: int) -> float:
    """Return 1 - n'/n, n' being the draws that bring the variance of n plain ones.

    (1/n' - 1/N) ratio = 1/n - 1/N, taking the ratio as the same at n' draws as at n.
    """
    left = 1.0 / n - 1.0 / population
    return 1.0 - 1.0 / (n * (left / ratio + 1.0 / population)) if ratio > 0.0 else 1.0


def _gain(
    cell: Sequence[Record],
    ratios: Mapping[Pair, float],
    *,
    oracle: Mapping[Pair, float],
    level: float,
) -> Gain:
    sizes = {_pair(each): (each.n, each.population) for each in cell}
    saved = [
        saving(ratio, n=sizes[pair][0], population=sizes[pair][1]) for pair, ratio in ratios.items()
    ]
    telling = {_pair(each) for each in cell if (each.explained or 0.0) > TELLING}
    simulated, error = _simulated(cell, ratios)
    over = [ratio - oracle[pair] for pair, ratio in ratios.items() if pair in oracle]
    return Gain(
        design=cell[0].design,
        budget=cell[0].budget,
        pairs=len(ratios),
        ratio=_mean(list(ratios.values())),
        simulated=simulated,
        error=error,
        saving=_mean(saved),
        best=min(ratios.values()),
        worst=max(ratios.values()),
        over_oracle=_mean(over) if len(over) == len(ratios) else None,
        telling=len(telling),
        telling_ratio=_mean([ratios[pair] for pair in telling]) if telling else None,
        width=_width(cell, level=level),
    )


def _ratios(cell: Iterable[Record]) -> dict[Pair, float]:
    found: dict[Pair, list[float]] = {}
    for each in cell:
        found.setdefault(_pair(each), []).append(each.exact_variance / each.srs_variance)
    return {pair: _mean(values) for pair, values in found.items()}


def _simulated(
    cell: Sequence[Record], ratios: Mapping[Pair, float]
) -> tuple[float | None, float | None]:
    """Return the mean squared error over plain variance, and its Monte-Carlo standard error.

    Every pair has chances of its own, so what is left beside the closed form is independent.
    """
    found: dict[Pair, list[float]] = {}
    for each in cell:
        if each.estimate is not None:
            square = (each.estimate - each.truth) ** 2 / each.srs_variance
            found.setdefault(_pair(each), []).append(square)
    if not found:
        return None, None
    means = {pair: _mean(squares) for pair, squares in found.items()}
    excess = [mean - ratios[pair] for pair, mean in means.items()]
    error = float(np.std(excess, ddof=1)) / math.sqrt(len(excess)) if len(excess) > 1 else None
    return _mean(list(means.values())), error


def _width(cell: Sequence[Record], *, level: float) -> float | None:
    """Return the width over 2 z sqrt(exact variance), of the evaluations with an interval."""
    known = [each for each in cell if each.lower is not None and each.upper is not None]
    needed = math.fsum(math.sqrt(each.exact_variance) for each in known)
    if needed == 0.0:
        return None
    widths = math.fsum((each.upper or 0.0) - (each.lower or 0.0) for each in known)
    return widths / (2.0 * quantiles.normal_quantile(level=level) * needed)


def _pair(record: Record) -> Pair:
    return record.target, record.surrogate


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
