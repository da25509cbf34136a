"""The product's own designs on a recorded model, decided and drawn as the planner would."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from monitor.history.pools import Estimated, Finding, TargetPool
from monitor.stats import (
    designs,
    effective,
    rehearsals,
    sampling,
    weights,
)
from monitor.stats.arrays import IntArray
from monitor.stats.samples import Sample
from monitor.stats.selection import Fit

CENSUS: Final = "census"
BLIND: Final = "constant"

Findings = dict[str, Finding]


def simple(pool: TargetPool) -> Iterator[Findings]:
    """Yield the findings of plain random draws by budget, for each seed."""
    for seed in pool.trial.seeds:
        yield _plain(pool, seed, pool.sizes)


def without_replacement(pool: TargetPool) -> Iterator[Findings]:
    """Yield the findings of what the planner would do, by budget, for each seed.

    It draws by the guide, or plainly where history promises too little, or asks every item.

    Raises:
        ValueError: the lesson has no fit.
    """
    lesson = pool.trial.lesson
    if lesson.fit is None:
        raise ValueError("without_replacement: nothing was fitted")
    fit = lesson.fit.of_items(pool.items)
    shares = {
        budget: weights.term_weights(n, pool.population, profile=fit.profile)
        for budget, n in pool.sizes.items()
        if not pool.is_census(budget) and fit.promises(n, is_asked=lesson.is_asked)
    }
    plainly = {budget: n for budget, n in pool.sizes.items() if budget not in shares}
    for seed in pool.trial.seeds:
        yield _plain(pool, seed, plainly) | _guided(pool, seed, shares, fit=fit)


def census(pool: TargetPool) -> Finding:
    """Ask every item: the truth."""
    exact = Estimated(value=pool.truth, lower=pool.truth, upper=pool.truth, variance=0.0)
    return Finding(
        drawn_by=CENSUS,
        guide=BLIND,
        estimate=exact,
        exact_variance=0.0,
        queries=pool.population,
    )


def _plain(pool: TargetPool, seed: int, sizes: Mapping[str, int]) -> Findings:
    if not sizes:
        return {}
    opened = sampling.open_pool(pool.clock_bits(seed))
    order = sampling.first_arrivals(opened, np.ones(pool.population), size=max(sizes.values()))
    return {
        budget: census(pool) if pool.is_census(budget) else _plain_finding(pool, order[:n])
        for budget, n in sizes.items()
    }


def _plain_finding(pool: TargetPool, items: IntArray) -> Finding:
    size = len(items)
    zeros = np.zeros(size)
    sample = Sample(
        population=pool.population,
        dispersion=1.0,
        items=items,
        probabilities=1.0 / (pool.population - np.arange(size)),
        predictions=zeros,
        rest_prediction_sums=zeros,
        model_variances=zeros,
        scores=pool.scores[items],
        answered=np.ones(size, dtype=np.bool_),
        weights=np.full(size, 1.0 / size),
    )
    interval = "hypergeometric" if pool.trial.is_binary else "betting"
    return Finding(
        drawn_by=designs.Simple.name,
        guide=BLIND,
        estimate=Estimated.of(
            sample, estimator="sample_mean", interval=interval, level=pool.trial.level
        ),
        exact_variance=effective.srs_variance(pool.scores, size),
        queries=size,
    )


def _guided(
    pool: TargetPool, seed: int, shares: Mapping[str, Sequence[float]], *, fit: Fit
) -> Findings:
    """Return findings from one rehearsal: fewer draws are the beginning of more."""
    if not shares:
        return {}
    rehearsal = rehearsals.rehearse(
        rehearsals.Pool.of(pool.scores),
        fit.guide,
        design=designs.DESIGNS[designs.WithoutReplacement.name],
        bits=pool.clock_bits(seed),
        size=max(map(len, shares.values())),
        floor=fit.floor,
    )
    return {
        budget: Finding(
            drawn_by=designs.WithoutReplacement.name,
            guide=fit.guide.name,
            estimate=Estimated.of(
                rehearsal.sample(share),
                estimator="active_mean",
                interval="mixed_t",
                level=pool.trial.level,
            ),
            exact_variance=rehearsal.exact_variance(share),
            queries=len(share),
        )
        for budget, share in shares.items()
    }
