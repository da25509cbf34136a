"""Evaluations of recorded models by the thousand, each with its record."""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

import numpy as np

from monitor.history import paper_designs, product_designs
from monitor.history.pools import Estimated, Finding, TargetPool, Trial
from monitor.history.product_designs import Findings
from monitor.history.records import Record
from monitor.stats import effective

DESIGNS: Final[Mapping[str, Callable[[TargetPool], Iterator[Findings]]]] = MappingProxyType(
    {
        "simple": product_designs.simple,
        "without_replacement": product_designs.without_replacement,
        **dict.fromkeys(paper_designs.VARIANTS, paper_designs.published),
    }
)


def run(trial: Trial) -> tuple[Record, ...]:
    """Evaluate by every seed and budget; the same trial gives the same bits anywhere.

    Raises:
        ModuleNotFoundError: the design needs torch, which is not installed.
    """
    pool = TargetPool.of(trial)
    return tuple(
        _record(pool, seed=seed, budget=budget, finding=findings[budget])
        for seed, findings in zip(trial.seeds, DESIGNS[trial.design](pool), strict=True)
        for budget in pool.sizes
    )


def _record(pool: TargetPool, *, seed: int, budget: str, finding: Finding) -> Record:
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
    )
