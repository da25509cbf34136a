"""Evaluations of recorded models by the thousand, each with its record."""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

import numpy as np

from monitor.history import lure, paper_designs, product_designs, stratified_designs
from monitor.history.pools import Estimated, Finding, TargetPool, Trial
from monitor.history.product_designs import Findings
from monitor.history.records import Record
from monitor.stats import effective

# Designs that draw by what a surrogate says.
BY_SURROGATE: Final = frozenset({*stratified_designs.VARIANTS, lure.NAME}) - {
    stratified_designs.HISTORY
}
DESIGNS: Final[Mapping[str, Callable[[TargetPool], Iterator[Findings]]]] = MappingProxyType(
    {
        "simple": product_designs.simple,
        "without_replacement": product_designs.without_replacement,
        **dict.fromkeys(paper_designs.VARIANTS, paper_designs.published),
        **dict.fromkeys(stratified_designs.VARIANTS, stratified_designs.stratified),
        lure.NAME: lure.lure,
    }
)


def run(trial: Trial) -> tuple[Record, ...]:
    """Evaluate by every seed and budget; the same trial gives the same bits anywhere.

    Raises:
        ModuleNotFoundError: the design needs torch, which is not installed.
    """
    pool = TargetPool.of(trial)
    explained = stratified_designs.explained(pool)
    return tuple(
        _record(pool, findings[budget], seed=seed, budget=budget, explained=explained)
        for seed, findings in zip(trial.seeds, DESIGNS[trial.design](pool), strict=True)
        for budget in pool.sizes
    )


def _record(
    pool: TargetPool, finding: Finding, *, seed: int, budget: str, explained: float | None
) -> Record:
    n, found = pool.sizes[budget], finding.estimate
    known = found if isinstance(found, Estimated) else None
    return Record(
        target=pool.trial.target,
        design=pool.trial.design,
        budget=budget,
        n=n,
        population=pool.population,
        drawn_by=finding.drawn_by,
        guide=finding.guide,
        seed=seed,
        estimate=known.value if known else None,
        lower=known.lower if known else None,
        upper=known.upper if known else None,
        reason=found if isinstance(found, str) else None,
        truth=pool.truth,
        variance=known.variance if known else None,
        exact_variance=finding.exact_variance,
        srs_variance=effective.srs_variance(pool.scores, n),
        uniform_variance=float(np.mean(pool.scores**2)) * (1.0 / n - 1.0 / pool.population),
        queries=finding.queries,
        surrogate=None if pool.surrogate is None else pool.surrogate.name,
        explained=explained,
    )
