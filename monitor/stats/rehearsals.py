"""Whole evaluations on known outcomes, as columns: what back-tests run by the thousand.

They draw as the service does, in the same lagged rounds from the same clocks, only without the
objects around it; a test holds both to the same bytes. An evaluation of fewer draws is the
beginning of one with more, so one rehearsal serves every smaller budget.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np

from monitor.stats import arrays, draws, effective, rounds, sampling
from monitor.stats.answers import Answers
from monitor.stats.arrays import BoolArray, FloatArray, IntArray
from monitor.stats.designs import Design
from monitor.stats.draws import Draws, ItemView
from monitor.stats.guides import Guide
from monitor.stats.samples import Sample

LAG = 2


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pool:
    """What is drawn from.

    scores: (N,) outcome of each item, known in back-tests only.
    groups: (N,) label of each item's group, numbered from 0.
    answering: (N,) whether an item's answer arrives.
    """

    scores: FloatArray
    groups: IntArray
    answering: BoolArray

    @classmethod
    def of(cls, scores: FloatArray, *, answering: BoolArray | None = None) -> "Pool":
        """Check and copy; one group, and every answer arrives unless `answering` says otherwise.

        Raises:
            ValueError: a score outside [0, 1], or lengths that differ.
        """
        known = arrays.floats(scores, name="scores", within=(0.0, 1.0))
        heard = np.ones(len(known), dtype=np.bool_) if answering is None else answering
        if len(heard) != len(known):
            raise ValueError(f"answering: {len(heard)} values for {len(known)} scores")
        return cls(scores=known, groups=np.zeros(len(known), dtype=np.int64), answering=heard)

    @property
    def mean(self) -> float:
        """The truth."""
        return arrays.exact_sum(self.scores) / len(self.scores)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rehearsal:
    """All draws in draw order, columns of shape (n,).

    dispersion, floor: as in `ItemView`.
    items .. model_variances: as in `Draws`.
    exact_variances: V_t of `effective.step_variances`, from the known outcomes.
    """

    pool: Pool
    dispersion: float
    floor: float
    items: IntArray
    probabilities: FloatArray
    predictions: FloatArray
    rest_prediction_sums: FloatArray
    model_variances: FloatArray
    exact_variances: FloatArray

    def sample(self, weights: Sequence[float]) -> Sample:
        """Return the evaluation that ends after as many draws as there are weights."""
        size = len(weights)
        items = self.items[:size]
        return Sample(
            population=len(self.pool.scores),
            dispersion=self.dispersion,
            items=items,
            probabilities=self.probabilities[:size],
            predictions=self.predictions[:size],
            rest_prediction_sums=self.rest_prediction_sums[:size],
            model_variances=self.model_variances[:size],
            scores=np.where(self.pool.answering[items], self.pool.scores[items], 0.0),
            answered=self.pool.answering[items],
            weights=np.array(weights),
            floor=self.floor,
        )

    def exact_variance(self, weights: Sequence[float]) -> float:
        """Return the variance of the estimate after as many draws as there are weights."""
        return effective.exact_variance(np.array(weights), self.exact_variances[: len(weights)])


def rehearse(
    pool: Pool,
    guide: Guide,
    *,
    design: Design,
    bits: Sequence[int] | IntArray,
    size: int,
    floor: float = sampling.FLOOR,
) -> Rehearsal:
    """Run one evaluation.

    Args:
        pool: known outcomes.
        guide: of this pool.
        design: one without repeats.
        bits: (N,) numbers in [0, 2^53) behind the clocks.
        size: number of draws.
        floor: share of every draw that is spread evenly.

    Raises:
        ValueError: as many bits as there are items are needed, a guide of as many, and no more
            draws.
    """
    if len(bits) != len(pool.scores):
        raise ValueError(f"bits: {len(bits)} numbers for {len(pool.scores)} items")
    state = sampling.open_pool(bits)
    drawn: list[Draws] = []
    exact: list[FloatArray] = []
    for number, count in enumerate(rounds.round_sizes(size)):
        view = _view(pool, guide, drawn[: max(0, number - LAG + 1)], floor=floor)
        shares = design.shares(state, view)
        undrawn = state.undrawn
        columns, state = design.draw(state, view, size=count)
        exact.append(
            effective.step_variances(
                pool.scores, columns.item, view=view, shares=shares, undrawn=undrawn
            )
        )
        drawn.append(columns)
    joined = np.concatenate(exact)
    return _joined(pool, drawn, exact=joined, dispersion=guide.dispersion, floor=floor)


def _view(pool: Pool, guide: Guide, known: Sequence[Draws], *, floor: float) -> ItemView:
    items = np.concatenate([np.empty(0, dtype=np.int64), *(each.item for each in known)])
    answered = items[pool.answering[items]]
    predictions = guide.predict(Answers(items=answered, scores=pool.scores[answered]))
    if len(predictions) != len(pool.scores):
        raise ValueError(f"guide: {len(predictions)} items, the pool has {len(pool.scores)}")
    return draws.ItemView(
        predictions=predictions,
        groups=pool.groups,
        dispersion=guide.dispersion,
        floor=floor,
    )


def _joined(
    pool: Pool, drawn: Sequence[Draws], *, exact: FloatArray, dispersion: float, floor: float
) -> Rehearsal:
    return Rehearsal(
        pool=pool,
        dispersion=dispersion,
        floor=floor,
        items=np.concatenate([each.item for each in drawn]),
        probabilities=np.concatenate([each.probability for each in drawn]),
        predictions=np.concatenate([each.prediction for each in drawn]),
        rest_prediction_sums=np.concatenate([each.rest_prediction_sum for each in drawn]),
        model_variances=np.concatenate([each.model_variance for each in drawn]),
        exact_variances=exact,
    )
