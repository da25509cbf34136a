"""Active testing with LURE weights on a recorded model: what strata are to be compared with.

Items are drawn one by one without replacement in proportion to the surrogate's entropy, which is to
foretell the loss 1 - score (Kossen et al. 2021, arXiv 2103.05331), and losses are weighted so that
their mean is unbiased (Farquhar et al. 2021, arXiv 2101.11665).
"""

import math
from collections.abc import Iterator
from typing import Final

import numpy as np

from monitor.history.pools import Estimated, Finding, TargetPool
from monitor.history.product_designs import Findings, census
from monitor.stats import draws, effective, quantiles, sampling
from monitor.stats.arrays import FloatArray
from monitor.stats.draws import Draws, ItemView
from monitor.stats.intervals import RefusalReason
from monitor.stats.surrogate_guide import SurrogateGuide

NAME: Final = "lure"
# Share of every draw that is spread evenly, so that no weight is unbounded.
FLOOR: Final = 0.1


def lure(pool: TargetPool) -> Iterator[Findings]:
    """Yield the findings by budget, for each seed.

    Raises:
        ValueError: the trial has no surrogate.
    """
    if pool.surrogate is None:
        raise ValueError(f"{NAME}: there is no surrogate")
    undrawn = np.ones(pool.population, dtype=np.bool_)
    shares = sampling.floored_shares(pool.surrogate.signal.entropy, undrawn, floor=FLOOR)
    for seed in pool.trial.seeds:
        yield _findings(pool, seed, shares)


def loss_weights(probabilities: FloatArray, population: int) -> FloatArray:
    """Return v_m = 1 + (N - M)/(N - m) [1/((N - m + 1) q_m) - 1], (M,): the mean loss is mean v l.

    Args:
        probabilities: (M,) q_m of each item when it was drawn, M below N.
        population: N.
    """
    drawn = np.arange(1, len(probabilities) + 1)
    left = population - drawn + 1
    shrunk = (population - len(drawn)) / (population - drawn)
    return 1.0 + shrunk * (1.0 / (left * probabilities) - 1.0)


def term_weights(size: int, population: int) -> FloatArray:
    """Return N (N - M) / (M (N - m)(N - m + 1)), (M,), which sum to 1.

    With them LURE is a mean of terms each of which is unbiased by itself (arXiv 2101.11665,
    section 4), as `effective.exact_variance` has it.
    """
    left = population - np.arange(size)
    return population * (population - size) / (size * left * (left - 1.0))


def _findings(pool: TargetPool, seed: int, shares: FloatArray) -> Findings:
    sizes = {budget: n for budget, n in pool.sizes.items() if not pool.is_census(budget)}
    findings = {budget: census(pool) for budget in pool.sizes if budget not in sizes}
    if not sizes:
        return findings
    undrawn = np.ones(pool.population, dtype=np.bool_)
    view = ItemView(
        predictions=np.zeros(pool.population),
        groups=np.zeros(pool.population, dtype=np.int64),
        dispersion=1.0,
    )
    opened = sampling.open_pool(pool.clock_bits(seed))
    items = sampling.first_arrivals(opened, shares, size=max(sizes.values()))
    drawn = draws.describe(items, shares=shares, undrawn=undrawn, view=view)
    exact = effective.step_variances(
        1.0 - pool.scores, items, view=view, shares=shares, undrawn=undrawn
    )
    return findings | {budget: _finding(pool, drawn, exact[:n]) for budget, n in sizes.items()}


def _finding(pool: TargetPool, drawn: Draws, exact: FloatArray) -> Finding:
    size = len(exact)
    weighted = loss_weights(drawn.probability[:size], pool.population)
    weighted = weighted * (1.0 - pool.scores[drawn.item[:size]])
    return Finding(
        drawn_by=NAME,
        guide=SurrogateGuide.name,
        estimate=_estimate(weighted, level=pool.trial.level),
        exact_variance=effective.exact_variance(term_weights(size, pool.population), exact),
        queries=size,
    )


def _estimate(losses: FloatArray, *, level: float) -> Estimated | str:
    """Return 1 - mean with a normal interval: no other is published with it.

    Args:
        losses: (M,) times their weights.
        level: of the interval.
    """
    if len(losses) < 2:  # noqa: PLR2004 - one loss has no spread
        return str(RefusalReason.TOO_FEW_DRAWS)
    value, variance = 1.0 - float(losses.mean()), float(losses.var(ddof=1)) / len(losses)
    if variance == 0.0:
        return str(RefusalReason.NO_SPREAD)
    reach = quantiles.normal_quantile(level=level) * math.sqrt(variance)
    if not -reach < value < 1.0 + reach:
        return str(RefusalReason.OUTSIDE_RANGE)
    return Estimated(
        value=value,
        lower=max(value - reach, 0.0),
        upper=min(value + reach, 1.0),
        variance=variance,
    )
