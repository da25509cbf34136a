"""Whole evaluations on arrays: what the engine does with the statistics, without the engine."""

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from monitor.stats import allocation, designs, rounds, sampling, weights
from monitor.stats.answers import Answers
from monitor.stats.arrays import BoolArray, FloatArray
from monitor.stats.draws import DrawRow, ItemView
from monitor.stats.samples import Sample, SampleColumns, Strata
from monitor.stats.stratification import Layout

Predict = Callable[[Answers], FloatArray]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Setting:
    """scores: (N,) true; missing: (N,) items that never answer; sizes: of the rounds.

    layout: the strata of the design that has any; three even ones where None.
    """

    scores: FloatArray
    predict: Predict
    sizes: Sequence[int]
    design: str = "without_replacement"
    missing: BoolArray | None = None
    dispersion: float = 1.0
    lag: int = 1
    layout: Layout | None = None

    @property
    def population(self) -> int:
        return len(self.scores)

    @property
    def strata(self) -> Layout | None:
        if self.design != designs.Stratified.name:
            return None
        return self.layout or even_layout(self.population, sum(self.sizes))

    def answer(self, item: int) -> float | None:
        lost = self.missing is not None and self.missing[item]
        return None if lost else float(self.scores[item])


def even_layout(population: int, n: int, strata: int = 3) -> Layout:
    """Strata of neighbouring items."""
    labels = np.arange(population) * strata // population
    sizes = np.bincount(labels)
    return Layout(labels=labels, draws=allocation.allocate(sizes, np.ones(strata), n, floor=1))


def fixed(predictions: FloatArray) -> Predict:
    """A guide that learns nothing."""
    return lambda _: predictions


def blind(population: int) -> Predict:
    return fixed(np.full(population, 0.5))


def run(setting: Setting, rng: np.random.Generator) -> Sample:
    """Draw every round from the answers of the rounds before it, `lag` of them still in flight."""
    return sample(setting, [row for drawn in run_rounds(setting, rng) for row in drawn])


def run_rounds(setting: Setting, rng: np.random.Generator) -> list[tuple[DrawRow, ...]]:
    design = designs.DESIGNS[setting.design]
    pool = sampling.open_pool(rng.integers(0, 2**53, setting.population).tolist())
    groups = np.arange(setting.population) % 3
    drawn: list[tuple[DrawRow, ...]] = []
    for number, size in enumerate(setting.sizes):
        seen = drawn[: max(0, number - setting.lag)]
        predictions = setting.predict(_answers(setting, seen))
        view = ItemView.from_columns(
            predictions, groups, dispersion=setting.dispersion, layout=setting.strata
        )
        draws, pool = design.draw(pool, view, size=size)
        drawn.append(draws.rows())
    return drawn


def sample(setting: Setting, rows: Sequence[DrawRow]) -> Sample:
    layout = setting.strata
    columns = SampleColumns(
        items=[row.item for row in rows],
        probabilities=[row.probability for row in rows],
        predictions=[row.prediction for row in rows],
        rest_prediction_sums=[row.rest_prediction_sum for row in rows],
        model_variances=[row.model_variance for row in rows],
        scores=[setting.answer(row.item) for row in rows],
        weights=weights.term_weights(len(rows), setting.population),
    )
    return Sample.from_columns(
        columns,
        population=setting.population,
        dispersion=setting.dispersion,
        strata=Strata.of(layout, columns.items) if layout else None,
    )


def plain_sample(scores: Sequence[float | None], *, population: int) -> Sample:
    """Items 0, 1, ... of a pool with these answers, as plain random sampling would store them."""
    count = len(scores)
    columns = SampleColumns(
        items=range(count),
        probabilities=[1 / (population - step) for step in range(count)],
        predictions=[0.0] * count,
        rest_prediction_sums=[0.0] * count,
        model_variances=[0.0] * count,
        scores=scores,
        weights=weights.term_weights(count, population),
    )
    return Sample.from_columns(columns, population=population)


def two_rounds(n: int) -> tuple[int, ...]:
    """Sizes for tests in which the guide does not learn."""
    return (n // 2, n - n // 2)


def planned(n: int) -> tuple[int, ...]:
    return rounds.round_sizes(n)


def _answers(setting: Setting, drawn: Sequence[tuple[DrawRow, ...]]) -> Answers:
    items = [row.item for rows in drawn for row in rows]
    pairs = [(item, score) for item in items if (score := setting.answer(item)) is not None]
    return Answers.from_columns(
        items=[item for item, _ in pairs], scores=[score for _, score in pairs]
    )
