"""The method of arXiv 2601.20251 on a recorded model, draw by draw as published."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from monitor.history.pools import Estimated, Finding, TargetPool
from monitor.history.product_designs import Findings, census
from monitor.stats import faq
from monitor.stats.faq import Settings, Variant

GUIDE: Final = "factor_model"

# The method, and the two ablations of its paper.
VARIANTS: Final[Mapping[str, Variant]] = {
    "with_replacement": Variant.PUBLISHED,
    "faq_sequential": Variant.SEQUENTIAL,
    "faq_without_replacement": Variant.WITHOUT_REPLACEMENT,
}


def published(pool: TargetPool) -> Iterator[Findings]:
    """Yield the findings of the trial's design by budget, for each seed.

    Raises:
        ModuleNotFoundError: torch is not installed.
        ValueError: the lesson has no factors.
    """
    asked = {budget: census(pool) for budget in pool.sizes if pool.is_census(budget)}
    drawn = {budget: n for budget, n in pool.sizes.items() if budget not in asked}
    runs: list[Findings] = [dict(asked) for _ in pool.trial.seeds]
    for sizes in _shared_runs(pool, drawn):
        for findings, found in zip(runs, _findings(pool, sizes), strict=True):
            findings.update(found)
    yield from runs


def _shared_runs(pool: TargetPool, sizes: Mapping[str, int]) -> Sequence[Mapping[str, int]]:
    """Return the budgets that one run serves: all, unless draws depend on how many follow."""
    if _settings(pool).depends_on_size:
        return [{budget: n} for budget, n in sizes.items()]
    return [sizes] if sizes else []


def _findings(pool: TargetPool, sizes: Mapping[str, int]) -> Iterator[Findings]:
    trial = pool.trial
    if trial.lesson.factors is None:
        raise ValueError(f"{trial.design}: no factors were fitted")
    runs = faq.rehearse(
        trial.lesson.factors.of_items(pool.items),
        np.tile(pool.scores, (len(trial.seeds), 1)),
        settings=_settings(pool),
        n=max(sizes.values()),
        seeds=[int(pool.seeds(seed).generate_state(1)[0]) for seed in trial.seeds],
    )
    for each in runs:
        yield {
            budget: _finding(trial.design, each.estimate(n, level=trial.level))
            for budget, n in sizes.items()
        }


def _settings(pool: TargetPool) -> Settings:
    paper = pool.trial.paper
    return Settings(
        beta0=paper.beta0,
        rho=paper.rho,
        gamma=paper.gamma,
        tau=paper.tau,
        variant=VARIANTS[pool.trial.design],
    )


def _finding(design: str, found: faq.Estimate) -> Finding:
    return Finding(
        drawn_by=design,
        guide=GUIDE,
        estimate=Estimated(
            value=found.value, lower=found.lower, upper=found.upper, variance=found.variance
        ),
        exact_variance=found.exact_variance,
        queries=found.queries,
    )
