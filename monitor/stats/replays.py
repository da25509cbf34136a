"""Historical models evaluated as if they were new: what a guide will be worth before it is used.

A fold leaves whole families out, fits without them and runs evaluations of their models, whose
outcomes are known; so each variance is exact, and a handful of runs tells what thousands of
estimates would.
"""

import dataclasses
from collections.abc import Sequence
from typing import Final

import numpy as np

from monitor.stats import effective, rehearsals, rounds, sampling, weights
from monitor.stats.answers import History
from monitor.stats.arrays import FloatArray, IntArray
from monitor.stats.designs import WithoutReplacement
from monitor.stats.guides import Guide
from monitor.stats.profiles import Profile
from monitor.stats.rehearsals import Pool, Rehearsal

MOST_FOLDS: Final = 4
# Leaving some of many models out changes so little that fewer folds do.
MANY_FAMILIES: Final = 50
FOLDS_OF_MANY: Final = 2
MOST_MODELS: Final = 24
# What a term's variance is depends on the answers so far, hardly on the size of the pool.
MOST_ITEMS: Final = 4000
LARGEST_SHARE: Final = 0.25
FEWEST_DRAWS: Final = 30
# A model with fewer outcomes would be asked nearly all: no choice is left to learn from.
FEWEST_ITEMS: Final = 40


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Case:
    """A model to evaluate: its observed items, what they are known to score, and the clocks."""

    items: IntArray
    pool: Pool
    bits: IntArray

    @property
    def size(self) -> int:
        """Number of draws."""
        return max(FEWEST_DRAWS, int(LARGEST_SHARE * len(self.items)))


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fold:
    """What remains of the history, and the models left out of it."""

    history: History
    cases: tuple[Case, ...]

    def replay(self, guide: Guide, *, floor: float = sampling.FLOOR) -> list[Rehearsal]:
        """Evaluate every case by a guide that was fitted to `history`."""
        return [
            rehearsals.rehearse(
                case.pool,
                guide.of_items(case.items),
                design=WithoutReplacement(),
                bits=case.bits,
                size=case.size,
                floor=floor,
            )
            for case in self.cases
        ]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """What the replays say of evaluations of `n` draws.

    ess_ratio: variance of plain sampling over the guide's, each summed over the replayed models.
    error: its standard error, were other models replayed; None where there is a single one.
    share_below: share of the replayed models for which plain sampling was better.
    models: how many were replayed.
    """

    n: int
    ess_ratio: float
    error: float | None
    share_below: float
    models: int


def folds(history: History, *, seed: int) -> tuple[Fold, ...]:
    """Return the newest models with enough outcomes, split by family; none if there are too few.

    Args:
        history: oldest model first.
        seed: of the items used where there are many, and of the clocks.
    """
    counts = history.observed.sum(axis=1)
    fit = np.flatnonzero(counts >= FEWEST_ITEMS)[-MOST_MODELS:]
    newest_first = list(dict.fromkeys(history.families[fit[::-1]].tolist()))
    families = len(np.unique(history.families))
    if families == 1:
        return ()
    number = min(MOST_FOLDS if families < MANY_FAMILIES else FOLDS_OF_MANY, len(newest_first))
    found = []
    for first in range(number):
        left_out = newest_first[first::number]
        rows = [row for row in fit.tolist() if history.families[row] in left_out]
        cases = tuple(_case(history, row, seed=seed) for row in rows)
        found.append(Fold(history=history.without(left_out), cases=cases))
    return tuple(found)


def figures(replayed: Sequence[Rehearsal], profile: Profile | None = None) -> tuple[Figure, ...]:
    """Return what the replays are worth at 30 and 60 draws, and at 10 % and 25 % of their pools."""
    typical = int(np.median([len(each.pool.scores) for each in replayed]))
    sizes = {FEWEST_DRAWS, 2 * FEWEST_DRAWS, typical // 10, int(LARGEST_SHARE * typical)}
    return tuple(
        _figure([each for each in replayed if len(each.items) >= n], n, profile)
        for n in sorted(sizes)
        if n >= FEWEST_DRAWS and any(len(each.items) >= n for each in replayed)
    )


def profile(replayed: Sequence[Rehearsal]) -> Profile:
    """Return how the variance of a term fell in the replays that are at least as long as most."""
    length = int(np.median([len(each.items) for each in replayed]))
    terms = np.mean(
        [_guide_part(each, length) for each in replayed if len(each.items) >= length], axis=0
    )
    sizes = np.array(rounds.round_sizes(length))
    starts = np.cumsum(sizes) - sizes
    return Profile.smoothed(
        starts=starts.astype(np.float64), levels=np.add.reduceat(terms, starts) / sizes, sizes=sizes
    )


def _case(history: History, row: int, *, seed: int) -> Case:
    generator = np.random.default_rng([seed, row])
    outcomes = history.outcomes[row]
    items = np.flatnonzero(~np.isnan(outcomes))
    if len(items) > MOST_ITEMS:
        items = np.sort(generator.choice(items, MOST_ITEMS, replace=False))
    return Case(
        items=items,
        pool=Pool.of(outcomes[items]),
        bits=generator.integers(0, 2**sampling.CLOCK_BITS, len(items)),
    )


def _figure(replayed: Sequence[Rehearsal], n: int, profile: Profile | None) -> Figure:
    plain = np.array([effective.srs_variance(each.pool.scores, n) for each in replayed])
    guided = np.array(
        [
            each.exact_variance(weights.term_weights(n, len(each.pool.scores), profile))
            for each in replayed
        ]
    )
    ratio = float(plain.sum() / guided.sum())
    return Figure(
        n=n,
        ess_ratio=ratio,
        error=_error(plain, guided, ratio) if len(replayed) > 1 else None,
        share_below=float(np.mean(guided > plain)),
        models=len(replayed),
    )


def _error(plain: FloatArray, guided: FloatArray, ratio: float) -> float:
    """Return the standard error of a ratio of sums (Cochran 1977, section 2.11)."""
    count = len(plain)
    residuals = (plain - ratio * guided) / guided.mean()
    return float(np.sqrt(np.square(residuals).sum() / (count * (count - 1))))


def _guide_part(replayed: Rehearsal, length: int) -> FloatArray:
    population = len(replayed.pool.scores)
    shares = [weights.pool_share(t, population) for t in range(length)]
    return np.asarray(replayed.exact_variances[:length] / np.array(shares))
