"""What FAQ concludes from its draws: estimate, variance, and Wald interval, as published.

Wu, Nair and Candes, arXiv 2601.20251. The conclusions of the sequential ablation are those of
Zrnic and Candes 2024, arXiv 2403.03208.
"""

import dataclasses
import math
from typing import Protocol

import numpy as np

from monitor.stats import quantiles
from monitor.stats.arrays import BoolArray, FloatArray, IntArray
from monitor.stats.faq_settings import Settings


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What a number of draws says about the mean of the pool.

    value: unclipped, so it may leave [0, 1].
    lower, upper: ends of the Wald interval, clipped to [0, 1]; of no width where the variance is 0.
    variance: of the value, as estimated.
    exact_variance: of the value, from the known outcomes.
    queries: distinct items asked, which is what is paid for.
    """

    value: float
    lower: float
    upper: float
    variance: float
    exact_variance: float
    queries: int


class Evaluation(Protocol):
    """One evaluation of any variant."""

    def estimate(self, n: int, *, level: float) -> Estimate:
        """Conclude from a budget of n draws.

        Raises:
            ValueError: these draws are not the beginning of an evaluation of n draws.
        """
        ...


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Run:
    """The draws of one evaluation in draw order, columns of shape (n,).

    items: positions; one may occur more than once.
    probabilities: q_t(I_t) at the draw.
    predictions: p of the item at the draw.
    scores: z of the item.
    mean_predictions: mean of p over the pool at the draw.
    exact_variances: (1/N^2) [ sum e^2/q - (sum e)^2 ] with e = z - p, from the known outcomes.
    """

    settings: Settings
    population: int
    items: IntArray
    probabilities: FloatArray
    predictions: FloatArray
    scores: FloatArray
    mean_predictions: FloatArray
    exact_variances: FloatArray

    def estimate(self, n: int, *, level: float) -> Estimate:
        """Conclude from the first n draws.

        The value is the mean of phi_t = mean p + (z - p)/(N q). Its variance is sigma^2 / n,
        sigma^2 = (1/n) sum ((z - p)/(N q))^2 - (1/n) sum_t ( (1/(n N)) sum_s z_s/q_s - mean p )^2,
        0 where negative.

        Raises:
            ValueError: as of `Evaluation`.
        """
        self._check(n)
        q, p, z, mean = (
            column[:n]
            for column in (
                self.probabilities,
                self.predictions,
                self.scores,
                self.mean_predictions,
            )
        )
        corrections = (z - p) / (self.population * q)
        weighted = float(np.mean(z / (self.population * q)))
        spread = float(np.mean(corrections**2) - np.mean((weighted - mean) ** 2))
        return _wald(
            float(np.mean(mean + corrections)),
            max(spread, 0.0) / n,
            level=level,
            exact_variance=float(self.exact_variances[:n].sum()) / n**2,
            queries=len(np.unique(self.items[:n])),
        )

    def _check(self, n: int) -> None:
        size = len(self.items)
        if not 1 <= n <= size:
            raise ValueError(f"n: must be 1 to {size}, the draws of the run, not {n}")
        if n != size and self.settings.depends_on_size:
            raise ValueError(
                f"n: with rho or gamma above 0 the first {n} of {size} draws are not an "
                f"evaluation of {n}; run one of that size"
            )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pass:
    """One pass over the pool, the sequential ablation; columns of shape (N,) in pool order.

    budget: number of queries that it aimed at.
    probabilities: of asking each item.
    predictions: p when its turn came.
    scores: z of every item, asked or not.
    asked: whether it was asked.
    """

    budget: int
    probabilities: FloatArray
    predictions: FloatArray
    scores: FloatArray
    asked: BoolArray

    def estimate(self, n: int, *, level: float) -> Estimate:
        """Conclude from the whole pass.

        The value is (1/N) sum p + [asked] (z - p)/pi, its variance is estimated by
        (1/N^2) sum [asked] (1 - pi)/pi^2 (z - p)^2.

        Raises:
            ValueError: as of `Evaluation`.
        """
        if n != self.budget:
            raise ValueError(f"n: the pass was planned for {self.budget} queries, not {n}")
        population = len(self.scores)
        errors = self.scores - self.predictions
        odds = (1.0 - self.probabilities) / self.probabilities * errors**2
        seen = np.where(self.asked, 1.0 / self.probabilities, 0.0)
        return _wald(
            float(np.mean(self.predictions + seen * errors)),
            float(np.sum(seen * odds)) / population**2,
            level=level,
            exact_variance=float(np.sum(odds)) / population**2,
            queries=int(self.asked.sum()),
        )


def uniform_variance(scores: FloatArray, n: int) -> float:
    """Return the variance of what the paper calls uniform sampling, its yardstick.

    Each item is asked with probability n/N, the estimate is (1/N) sum z N/n over the asked ones
    (Horvitz-Thompson). It is above that of n items drawn at random without replacement and
    their mean (`effective.srs_variance`), by the factor 1/(1 - theta) where scores are 0 or 1.

    Args:
        scores: (N,) of the whole pool.
        n: expected number of queries.
    """
    return float(np.mean(scores**2)) * (1.0 - n / len(scores)) / n


def _wald(
    value: float, variance: float, *, level: float, exact_variance: float, queries: int
) -> Estimate:
    margin = quantiles.normal_quantile(level=level) * math.sqrt(variance)
    lower, upper = (min(max(end, 0.0), 1.0) for end in (value - margin, value + margin))
    return Estimate(
        value=value,
        lower=lower,
        upper=upper,
        variance=variance,
        exact_variance=exact_variance,
        queries=queries,
    )
