"""A recorded model as the pool that an evaluation draws from, and what comes of one evaluation."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from monitor.history.lessons import Lesson
from monitor.history.surrogates import Surrogate
from monitor.stats import arrays, estimators, intervals, rounds, sampling, stratification
from monitor.stats.arrays import FloatArray, IntArray
from monitor.stats.samples import Sample

STRATA: Final = stratification.Settings()


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperSettings:
    """Settings of FAQ by their names in arXiv 2601.20251."""

    beta0: float = 1.0
    rho: float = 0.0
    gamma: float = 0.0
    tau: float = 0.25


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trial:
    """Evaluations of one target by one design, a pure function of its fields.

    target: row of the file.
    scores: (N',) the row, NaN where missing.
    is_binary: whether every score of the file is 0 or 1, as a suite's graders would tell.
    lesson: what was learnt from the target's history.
    sizes: number of draws by budget, as its text was given.
    seeds: one for each evaluation.
    strata: number of strata and smoothing; the rest is the design's.
    surrogate: what strata are made from; None where the design needs none.
    """

    target: int
    scores: npt.NDArray[np.float64]
    is_binary: bool
    lesson: Lesson
    design: str
    sizes: Mapping[str, int]
    seeds: tuple[int, ...]
    level: float
    paper: PaperSettings = PaperSettings()
    strata: stratification.Settings = STRATA
    surrogate: Surrogate | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TargetPool:
    """The target's items that have an outcome.

    items: (N,) their columns in the file. scores: (N,). sizes: as of the trial, where not above N.
    surrogate: of these items.
    """

    trial: Trial
    items: IntArray
    scores: FloatArray
    sizes: Mapping[str, int]
    surrogate: Surrogate | None

    @classmethod
    def of(cls, trial: Trial) -> "TargetPool":
        """Leave out what is missing, and budgets of more items than that leaves."""
        items = np.flatnonzero(~np.isnan(trial.scores))
        return cls(
            trial=trial,
            items=items,
            scores=arrays.floats(trial.scores[items], name="scores"),
            sizes={budget: n for budget, n in trial.sizes.items() if n <= len(items)},
            surrogate=None if trial.surrogate is None else trial.surrogate.of_items(items),
        )

    @property
    def population(self) -> int:
        """N."""
        return len(self.scores)

    @property
    def truth(self) -> float:
        """What is estimated."""
        return arrays.exact_sum(self.scores) / self.population

    def is_census(self, budget: str) -> bool:
        """Whether the budget is better spent on all items."""
        return rounds.is_census(self.sizes[budget], self.population)

    def clock_bits(self, seed: int) -> IntArray:
        """Return numbers below 2^53; NumPy keeps the streams of its bit generators as they are."""
        raw = np.random.PCG64(self.seeds(seed)).random_raw(self.population)
        return np.asarray(raw >> np.uint64(64 - sampling.CLOCK_BITS), dtype=np.int64)

    def seeds(self, seed: int) -> np.random.SeedSequence:
        """Chance for one evaluation, the same for every design and budget."""
        number = 0 if self.surrogate is None else self.surrogate.number
        return np.random.SeedSequence([seed, self.trial.target, number])


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimated:
    """An estimate with its interval."""

    value: float
    lower: float
    upper: float
    variance: float | None

    @classmethod
    def of(
        cls, sample: Sample, *, estimator: str, interval: str, level: float
    ) -> "Estimated | str":
        """Return what the named estimator and interval make of a sample, or why they do not."""
        point = estimators.ESTIMATORS[estimator](sample)
        if isinstance(point, estimators.NoValue):
            return str(point.reason)
        bounds = intervals.INTERVALS[interval](sample, point, level=level)
        if isinstance(bounds, intervals.Refusal):
            return str(bounds.reason)
        return cls(
            value=point.value, lower=bounds.lower, upper=bounds.upper, variance=point.variance
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What came of one evaluation: an estimate, or the reason why there is none."""

    drawn_by: str
    guide: str
    estimate: Estimated | str
    exact_variance: float
    queries: int
