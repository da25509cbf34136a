"""Strata of a pool by a surrogate's signal, and how many draws each of them gets.

Approximate Neyman allocation (after arXiv 2605.10075): items are put into strata by how uncertain
the surrogate is of them. What differs between strata then no longer adds to the variance.
"""

import dataclasses
from collections.abc import Sequence
from typing import Final, Literal, Self, assert_never

import numpy as np

from monitor.stats import allocation, arrays, predictions
from monitor.stats.arrays import FloatArray, IntArray
from monitor.stats.signals import Signal

Allocation = Literal["neyman", "proportional", "equal"]

SMALLEST_STRATUM: Final = 10
DRAWS_A_CELL: Final = 8


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How strata are made.

    strata: H, at least 1; with `refined` the least number of cells.
    smoothing: delta in sigma = sqrt(p (1 - p) + delta): how little is believed of the signal's p.
    allocation: of the draws: by N_h sigma, by N_h, or the same for each stratum.
    refined: cells of a few draws each, in the order of the surrogate's pass rate where it is
        known; otherwise the strata of the paper.
    """

    strata: int = 5
    smoothing: float = 0.75
    allocation: Allocation = "neyman"
    refined: bool = True

    def __post_init__(self) -> None:
        if self.strata < 1:
            raise ValueError(f"strata: at least 1, not {self.strata}")
        if not 0.0 <= self.smoothing < float("inf"):
            raise ValueError(f"smoothing: must be a finite number >= 0, not {self.smoothing}")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Layout:
    """The strata of a pool.

    labels: (N,) stratum of each item, numbered from 0 in the order of the signal.
    draws: (H,) planned draws of each stratum, at least 1 each.
    """

    labels: IntArray
    draws: IntArray

    @classmethod
    def from_columns(
        cls, *, labels: Sequence[int] | IntArray, draws: Sequence[int] | IntArray
    ) -> Self:
        """Check and copy.

        Raises:
            ValueError: no stratum, a label without draws, an empty stratum, or draws that a
                stratum cannot give.
        """
        planned = arrays.integers(draws, name="draws")
        known = arrays.integers(labels, name="labels", below=len(planned))
        sizes = np.bincount(known, minlength=len(planned))
        if not len(planned) or not ((planned >= 1) & (planned <= sizes)).all():
            raise ValueError("draws: each stratum gives at least 1 draw, and at most its items")
        return cls(labels=known, draws=planned)

    @property
    def sizes(self) -> IntArray:
        """(H,) items of each stratum."""
        return np.bincount(self.labels, minlength=len(self.draws))

    @property
    def rates(self) -> FloatArray:
        """(N,) chance n_h/N_h of each item to be drawn."""
        return (self.draws / self.sizes)[self.labels]


def lay_out(
    signal: Signal, n: int, settings: Settings | None = None, *, mean: float | None = None
) -> Layout:
    """Return the strata of a pool and their draws; a function of its arguments alone.

    Args:
        signal: of the N items.
        n: number of draws, 1 to N.
        settings: the defaults where None.
        mean: earlier estimate of the variant; the allocation expects scores of this mean.

    Raises:
        ValueError: `n` out of range.
    """
    if not 1 <= n <= signal.population:
        raise ValueError(f"n: {n} draws of {signal.population} items")
    chosen = settings or Settings()
    labels = _cells(signal, n, chosen) if chosen.refined else _entropy_strata(signal, n, chosen)
    labels = _without_small(labels)
    likely = expected_scores(signal) if chosen.refined else signal.consistency
    if mean is not None:
        likely = predictions.shifted(likely, mean)
    return Layout(labels=labels, draws=_draws(likely, labels, n=n, settings=chosen))


def expected_scores(signal: Signal) -> FloatArray:
    """Return what the signal says of each item's score: pass rate, else consistency, (N,)."""
    return signal.consistency if signal.pass_rate is None else signal.pass_rate


def _entropy_strata(signal: Signal, n: int, settings: Settings) -> IntArray:
    """Return the paper's strata, (N,): items with one cluster, then equal counts by entropy.

    A value equal to the edge of two strata goes to the upper one.
    """
    count = _most_strata(n, settings.strata)
    labels = np.zeros(signal.population, dtype=np.int64)
    scattered = ~signal.single
    if count > 1 and scattered.any():
        entropy = signal.entropy[scattered]
        edges = np.quantile(entropy, np.linspace(0.0, 1.0, count))[1:-1]
        labels[scattered] = 1 + np.searchsorted(edges, entropy, side="right")
    return labels


def _cells(signal: Signal, n: int, settings: Settings) -> IntArray:
    """Return cells of about equal counts in the order of the signal, (N,).

    Items of which the signal says the same are never put apart: which of them were, the order of
    the suite's lines would decide.
    """
    count = _most_strata(n, max(settings.strata, n // DRAWS_A_CELL))
    unsure = np.where(signal.single, 0.0, signal.entropy)
    rates = np.zeros_like(unsure) if signal.pass_rate is None else -signal.pass_rate
    keys = np.stack([rates, unsure, -signal.consistency])
    _, groups, sizes = np.unique(keys, axis=1, return_inverse=True, return_counts=True)
    middles = np.cumsum(sizes) - sizes / 2.0
    return np.asarray(middles * count / signal.population, dtype=np.int64)[groups]


def _most_strata(n: int, wanted: int) -> int:
    return max(1, min(wanted, n // allocation.FLOOR))


def _without_small(labels: IntArray) -> IntArray:
    """Return the labels numbered from 0 without gaps, small strata joined to a neighbour, (N,)."""
    _, numbered = np.unique(labels, return_inverse=True)
    joined, last, held = [], 0, 0
    for size in np.bincount(numbered).tolist():
        if held >= SMALLEST_STRATUM:
            last, held = last + 1, 0
        joined.append(last)
        held += size
    if held < SMALLEST_STRATUM:
        joined = [min(label, max(last - 1, 0)) for label in joined]
    return np.array(joined, dtype=np.int64)[numbered]


def _draws(likely: FloatArray, labels: IntArray, *, n: int, settings: Settings) -> IntArray:
    """Return the draws of each stratum, (H,), by the expected score of each item, (N,)."""
    sizes = np.bincount(labels)
    match settings.allocation:
        case "neyman":
            means = np.bincount(labels, likely) / sizes
            spreads = np.sqrt(means * (1.0 - means) + settings.smoothing)
        case "proportional":
            spreads = np.ones(len(sizes))
        case "equal":
            spreads = 1.0 / sizes
        case _:
            assert_never(settings.allocation)
    return allocation.allocate(sizes, spreads, n, floor=min(allocation.FLOOR, n))
