"""What the records of a back-test say of each design: does it cover, and what is a draw worth.

Evaluations of one target share its outcomes and history, so a target is one cluster: the
Monte-Carlo error of a coverage is that of a mean of clusters (Cochran, Sampling Techniques, 1977,
section 9A). Variances are pooled, sum over sum, so that no single target's ratio counts for more
than its variance does.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

import numpy as np

from monitor.history.product_designs import CENSUS
from monitor.history.records import Record

K = TypeVar("K")

# Upper ends of the accuracy bands, the last one included.
ABILITY_BANDS: Final = (0.25, 0.5, 0.75, 0.9, 1.0)
DATE_BANDS: Final = 4
PLAIN: Final = frozenset({"simple", CENSUS})


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """How often intervals contain the truth, over the evaluations that have one.

    share, error: the share and its Monte-Carlo standard error; None where there is no interval
        (share), or only one target (error).
    """

    targets: int
    evaluations: int
    share: float | None
    error: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """All evaluations by one design and budget; a ratio is None where it has no denominator.

    no_estimate: share of evaluations without an estimate.
    width, bias: mean of the intervals' widths, and of estimate minus truth.
    ess_ratio: srs_variance over exact_variance. ess_ratio_mse: over the squared errors.
    ess_ratio_queries: srs_variance of as many items as were paid for over exact_variance.
    paper_ratio: uniform_variance over exact_variance.
    below_one, worst: share of the targets whose own ess_ratio is below 1, and the lowest of them.
    queries: mean number of items paid for. by_guide: share of evaluations drawn by a guide.
    """

    design: str
    budget: str
    draws: float
    coverage: Coverage
    no_estimate: float
    width: float | None
    bias: float | None
    ess_ratio: float | None
    ess_ratio_mse: float | None
    ess_ratio_queries: float | None
    paper_ratio: float | None
    below_one: float
    worst: float | None
    queries: float
    by_guide: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BandCoverage:
    """Coverage over the targets of one band: of release dates, or of accuracies."""

    band: str
    design: str
    budget: str
    coverage: Coverage


def summarise(records: Iterable[Record]) -> list[Summary]:
    """Return one summary for each design and budget, in the order of their first records."""
    return [_summary(cell) for cell in _grouped(records, _cell).values()]


def coverage_by_band(records: Iterable[Record], bands: Mapping[int, str]) -> list[BandCoverage]:
    """Return the coverage of each band by design and budget.

    Args:
        records: of a back-test.
        bands: name of the band of each target.
    """
    grouped = _grouped(records, lambda each: (bands[each.target], *_cell(each)))
    return [
        BandCoverage(band=band, design=design, budget=budget, coverage=_coverage(cell))
        for (band, design, budget), cell in grouped.items()
    ]


def ability_bands(truths: Mapping[int, float]) -> dict[int, str]:
    """Return the accuracy band of each target."""
    starts = (0.0, *ABILITY_BANDS)
    bands = {}
    for target, truth in truths.items():
        place = next(k for k, end in enumerate(ABILITY_BANDS) if truth < end or end == 1.0)
        bands[target] = f"{starts[place]:g} - {ABILITY_BANDS[place]:g}"
    return bands


def date_bands(targets: Sequence[int], dates: Sequence[str]) -> dict[int, str]:
    """Divide the targets by release date into at most `DATE_BANDS` parts of like size.

    Args:
        targets: rows.
        dates: (M,) of all rows, as written; "" where unknown, which is a part of its own.
    """
    dated = sorted((row for row in targets if dates[row]), key=lambda row: dates[row])
    bands = dict.fromkeys(targets, "undated")
    for part in np.array_split(np.array(dated, dtype=int), DATE_BANDS):
        rows = part.tolist()
        for row in rows:
            bands[row] = " to ".join(dict.fromkeys((dates[rows[0]], dates[rows[-1]])))
    return bands


def _summary(cell: Sequence[Record]) -> Summary:
    known = [each for each in cell if each.estimate is not None]
    plain, exact = _total(cell, "srs_variance"), _total(cell, "exact_variance")
    squares = math.fsum(_error(each) ** 2 for each in known)
    targets = _grouped(cell, lambda each: each.target).values()
    ratios = [_ratio(_total(own, "srs_variance"), _total(own, "exact_variance")) for own in targets]
    finite = [ratio for ratio in ratios if ratio is not None]
    return Summary(
        design=cell[0].design,
        budget=cell[0].budget,
        draws=_mean([each.n for each in cell]) or 0.0,
        coverage=_coverage(cell),
        no_estimate=1.0 - len(known) / len(cell),
        width=_mean([_width(each) for each in known]),
        bias=_mean([_error(each) for each in known]),
        ess_ratio=_ratio(plain, exact),
        ess_ratio_mse=_ratio(_total(known, "srs_variance"), squares),
        ess_ratio_queries=_ratio(_total(cell, "srs_variance_of_queries"), exact),
        paper_ratio=_ratio(_total(cell, "uniform_variance"), exact),
        below_one=sum(ratio < 1.0 for ratio in finite) / len(ratios),
        worst=min(finite, default=None),
        queries=_mean([each.queries for each in cell]) or 0.0,
        by_guide=sum(each.drawn_by not in PLAIN for each in cell) / len(cell),
    )


def _coverage(cell: Sequence[Record]) -> Coverage:
    known = [each for each in cell if each.estimate is not None]
    clusters = list(_grouped(known, lambda each: each.target).values())
    share = _mean([each.covers for each in known])
    error = None
    if share is not None and len(clusters) > 1:
        excess = [sum(each.covers - share for each in own) for own in clusters]
        inflation = len(clusters) / (len(clusters) - 1)
        error = math.sqrt(inflation * math.fsum(each**2 for each in excess)) / len(known)
    return Coverage(
        targets=len({each.target for each in cell}),
        evaluations=len(cell),
        share=share,
        error=error,
    )


def _grouped(records: Iterable[Record], key: Callable[[Record], K]) -> dict[K, list[Record]]:
    groups: dict[K, list[Record]] = {}
    for record in records:
        groups.setdefault(key(record), []).append(record)
    return groups


def _cell(record: Record) -> tuple[str, str]:
    return record.design, record.budget


def _width(record: Record) -> float:
    return (record.upper or 0.0) - (record.lower or 0.0)


def _error(record: Record) -> float:
    return (record.estimate or 0.0) - record.truth


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _ratio(numerator: float, denominator: float) -> float | None:
    """Return None where either variance is 0: where all scores are equal, or all items asked."""
    return numerator / denominator if numerator > 0.0 and denominator > 0.0 else None


def _total(records: Iterable[Record], name: str) -> float:
    return math.fsum(getattr(each, name) for each in records)
