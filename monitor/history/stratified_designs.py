"""Strata by a surrogate's signal on a recorded model: the product's, the paper's, the best."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

import numpy as np

from monitor.history import recorded_signals
from monitor.history.pools import Estimated, Finding, TargetPool
from monitor.history.product_designs import Findings, census
from monitor.stats import allocation, designs, sampling, stratification
from monitor.stats.arrays import FloatArray
from monitor.stats.draws import Draws, ItemView
from monitor.stats.samples import Sample, Strata
from monitor.stats.signals import Signal
from monitor.stats.stratification import Layout, Settings
from monitor.stats.surrogate_guide import SurrogateGuide

HISTORY: Final = "stratified_history"
ORACLE: Final = "stratified_oracle"

# The oracle allocates anew, to the strata of the paper.
VARIANTS: Final[Mapping[str, Settings]] = MappingProxyType(
    {
        "stratified": Settings(),
        "stratified_published": Settings(refined=False),
        "stratified_proportional": Settings(refined=False, allocation="proportional"),
        "stratified_equal": Settings(refined=False, allocation="equal"),
        ORACLE: Settings(refined=False),
        HISTORY: Settings(),
    }
)


def stratified(pool: TargetPool) -> Iterator[Findings]:
    """Yield the findings of the trial's design by budget, for each seed.

    Raises:
        ValueError: the trial has neither a surrogate nor, where that is wanted, a fit.
    """
    layouts = {
        budget: lay_out(pool, n) for budget, n in pool.sizes.items() if not pool.is_census(budget)
    }
    exact = {budget: exact_variance(pool.scores, each) for budget, each in layouts.items()}
    expected = SurrogateGuide.of(_signal(pool)).scores
    for seed in pool.trial.seeds:
        yield {
            budget: _finding(pool, seed, layouts[budget], expected=expected, variance=exact[budget])
            if budget in layouts
            else census(pool)
            for budget in pool.sizes
        }


def lay_out(pool: TargetPool, n: int) -> Layout:
    """Return the strata of the trial's design, and their draws.

    Args:
        pool: of the target.
        n: number of draws.

    Raises:
        ValueError: see `stratified`.
    """
    settings = _settings(pool, VARIANTS[pool.trial.design])
    signal = _signal(pool) if settings.refined else _ungraded(_signal(pool))
    layout = stratification.lay_out(signal, n, settings)
    if pool.trial.design != ORACLE:
        return layout
    spreads = _deviations(pool.scores, layout)
    floor = min(allocation.FLOOR, n)
    return replace(layout, draws=allocation.allocate(layout.sizes, spreads, n, floor=floor))


def exact_variance(scores: FloatArray, layout: Layout) -> float:
    """Return sum (N_h/N)^2 (1 - n_h/N_h) S_h^2 / n_h (Cochran 1977, theorem 5.3).

    Args:
        scores: (N,) of the whole pool.
        layout: of the pool.
    """
    sizes = layout.sizes
    spread = _deviations(scores, layout) ** 2 * (1.0 / layout.draws - 1.0 / sizes)
    return float((sizes / len(scores)) ** 2 @ spread)


def explained(pool: TargetPool) -> float | None:
    """Return the share of the scores' variance between the paper's strata, whatever the budget.

    None where there is no surrogate, or no variance.
    """
    total = float(np.var(pool.scores))
    if pool.surrogate is None or total == 0.0:
        return None
    settings = _settings(pool, VARIANTS["stratified_published"])
    signal = _ungraded(pool.surrogate.signal)
    layout = stratification.lay_out(signal, pool.population, settings)
    sizes = layout.sizes
    means = np.bincount(layout.labels, pool.scores) / sizes
    return float(sizes @ (means - pool.truth) ** 2) / pool.population / total


def _signal(pool: TargetPool) -> Signal:
    if pool.trial.design != HISTORY:
        if pool.surrogate is None:
            raise ValueError(f"{pool.trial.design}: there is no surrogate")
        return pool.surrogate.signal
    if pool.trial.lesson.fit is None:
        raise ValueError(f"{HISTORY}: nothing was fitted")
    return recorded_signals.of_pass_rates(pool.trial.lesson.fit.of_items(pool.items).beforehand)


def _ungraded(signal: Signal) -> Signal:
    """Return all that the paper knows of a surrogate's answers: how they agree."""
    return replace(signal, pass_rate=None)


def _settings(pool: TargetPool, variant: Settings) -> Settings:
    given = pool.trial.strata
    return replace(variant, strata=given.strata, smoothing=given.smoothing)


def _deviations(scores: FloatArray, layout: Layout) -> FloatArray:
    """Return S_h with divisor N_h - 1, (H,)."""
    sizes = layout.sizes
    means = np.bincount(layout.labels, scores) / sizes
    squares = np.bincount(layout.labels, (scores - means[layout.labels]) ** 2)
    return np.sqrt(squares / np.maximum(sizes - 1, 1))


def _finding(
    pool: TargetPool, seed: int, layout: Layout, *, expected: FloatArray, variance: float
) -> Finding:
    view = ItemView.from_columns(
        expected,
        np.zeros(pool.population, dtype=np.int64),
        dispersion=1.0,
        layout=layout,
    )
    size = int(layout.draws.sum())
    opened = sampling.open_pool(pool.clock_bits(seed))
    drawn, _ = designs.DESIGNS[designs.Stratified.name].draw(opened, view, size=size)
    return Finding(
        drawn_by=designs.Stratified.name,
        guide=SurrogateGuide.name,
        estimate=Estimated.of(
            _sample(pool, drawn, layout),
            estimator="stratified_mean",
            interval="stratified_wilson",
            level=pool.trial.level,
        ),
        exact_variance=variance,
        queries=size,
    )


def _sample(pool: TargetPool, drawn: Draws, layout: Layout) -> Sample:
    size = len(drawn.item)
    return Sample(
        population=pool.population,
        dispersion=1.0,
        items=drawn.item,
        probabilities=drawn.probability,
        predictions=drawn.prediction,
        rest_prediction_sums=drawn.rest_prediction_sum,
        model_variances=drawn.model_variance,
        scores=pool.scores[drawn.item],
        answered=np.ones(size, dtype=np.bool_),
        weights=np.full(size, 1.0 / size),
        strata=Strata.of(layout, drawn.item),
    )
