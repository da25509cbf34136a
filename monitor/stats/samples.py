"""All draws of an evaluation as columns: the one input of estimators and intervals.

It is made from stored numbers alone, so what an evaluation computes and what a replay computes are
the same thing.
"""

import dataclasses
import math
from collections.abc import Sequence
from typing import Final, Self

import numpy as np

from monitor.stats import arrays, sampling, weights
from monitor.stats.arrays import BoolArray, FloatArray, IntArray
from monitor.stats.stratification import Layout

WEIGHT_TOLERANCE: Final = 1e-9


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SampleColumns:
    """The stored columns of an evaluation in plain numbers, all of length n in draw order.

    items, probabilities, predictions, rest_prediction_sums, model_variances: as in `Draws`.
    scores: in [0, 1], None where the answer is missing.
    weights: W, summing to 1.
    """

    items: Sequence[int]
    probabilities: Sequence[float]
    predictions: Sequence[float]
    rest_prediction_sums: Sequence[float]
    model_variances: Sequence[float]
    scores: Sequence[float | None]
    weights: Sequence[float]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Strata:
    """Which strata the draws came from.

    labels: (n,) stratum of each draw, numbered from 0 in the order of the surrogate's signal.
    sizes: (H,) items of each stratum.
    draws: (H,) planned draws of each stratum.
    """

    labels: IntArray
    sizes: IntArray
    draws: IntArray

    @classmethod
    def of(cls, layout: Layout, items: Sequence[int] | IntArray) -> Self:
        """Return the strata of draws of these items, (n,)."""
        drawn = arrays.integers(items, name="items", below=len(layout.labels))
        return cls(labels=layout.labels[drawn], sizes=layout.sizes, draws=layout.draws)

    def fit(self, *, population: int) -> bool:
        """Return whether they make up the pool, and every stratum gave its planned draws."""
        given = np.bincount(self.labels, minlength=len(self.draws))
        return np.array_equal(given, self.draws) and int(self.sizes.sum()) == population


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sample:
    """All draws of an evaluation in draw order, columns of shape (n,).

    population: number of items N.
    dispersion: variance of a score over p (1 - p).
    items .. model_variances: as in `Draws`.
    answered: mask; scores: 0 where the answer is missing, to be read through the mask.
    weights: W, summing to 1.
    floor: share of every draw that was spread evenly.
    strata: of the draws, where the design has any.
    """

    population: int
    dispersion: float
    items: IntArray
    probabilities: FloatArray
    predictions: FloatArray
    rest_prediction_sums: FloatArray
    model_variances: FloatArray
    scores: FloatArray
    answered: BoolArray
    weights: FloatArray
    floor: float = sampling.FLOOR
    strata: Strata | None = None

    @classmethod
    def from_columns(
        cls,
        columns: SampleColumns,
        *,
        population: int,
        dispersion: float = 1.0,
        floor: float = sampling.FLOOR,
        strata: Strata | None = None,
    ) -> Self:
        """Check and copy.

        Raises:
            ValueError: no draw, lengths differ, a value out of its range, weights that do not
                sum to 1, or draws that are not the planned ones of the strata.
        """
        size = len(columns.items)
        if size == 0:
            raise ValueError("sample: at least one draw is needed")
        if strata is not None and not strata.fit(population=population):
            raise ValueError("strata: of another pool, or the draws are not those planned")
        shared = arrays.floats(columns.weights, name="weights", size=size, within=(0.0, 1.0))
        if abs(arrays.exact_sum(shared) - 1.0) > WEIGHT_TOLERANCE:
            raise ValueError("weights: must sum to 1")
        known = [0.0 if score is None else score for score in columns.scores]
        return cls(
            population=population,
            dispersion=dispersion,
            items=arrays.integers(columns.items, name="items", below=population),
            probabilities=arrays.floats(
                columns.probabilities,
                name="probabilities",
                size=size,
                within=(math.ulp(0.0), 1.0),
            ),
            predictions=arrays.floats(
                columns.predictions, name="predictions", size=size, within=(0.0, 1.0)
            ),
            rest_prediction_sums=arrays.floats(
                columns.rest_prediction_sums, name="rest_prediction_sums", size=size
            ),
            model_variances=arrays.floats(
                columns.model_variances,
                name="model_variances",
                size=size,
                within=(0.0, math.inf),
            ),
            scores=arrays.floats(known, name="scores", size=size, within=(0.0, 1.0)),
            answered=np.array([score is not None for score in columns.scores]),
            weights=shared,
            floor=floor,
            strata=strata,
        )

    @property
    def size(self) -> int:
        """Number of draws n, missing answers included."""
        return len(self.items)

    @property
    def missing(self) -> int:
        """Number of draws without an answer."""
        return self.size - int(np.count_nonzero(self.answered))

    @property
    def answers(self) -> FloatArray:
        """Scores of the answered draws in draw order."""
        return self.scores[self.answered]

    @property
    def is_binary(self) -> bool:
        """Whether every answer is exactly 0 or 1."""
        return bool(((self.answers == 0.0) | (self.answers == 1.0)).all())

    def with_missing_as(self, score: float) -> FloatArray:
        """Return the scores (n,) with `score` for every missing answer."""
        return np.where(self.answered, self.scores, score)

    def filled(self, score: float) -> Self:
        """Return the sample as it would be if every missing answer were `score`."""
        everything = np.full(self.size, fill_value=True)
        return dataclasses.replace(self, scores=self.with_missing_as(score), answered=everything)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class GroupColumns:
    """What the draws of one group store about it, columns of length n_g in draw order."""

    masses: Sequence[float]
    rest_prediction_sums: Sequence[float]
    model_variances: Sequence[float]


def group_sample(
    sample: Sample, inside: Sequence[bool], *, columns: GroupColumns, population: int
) -> Sample:
    """Return the draws that fell into one group, as a sample of that group.

    N, R, sums and q are taken inside the group, weights are renormalised; estimates from it are
    approximately unbiased only.

    Args:
        sample: the evaluation.
        inside: (n,) whether the draw fell into the group; at least one must.
        columns: of the draws inside.
        population: number of items of the group.

    Raises:
        ValueError: no draw inside, lengths differ, or the draws came from strata.
    """
    if sample.strata is not None:
        raise ValueError("strata: how many items of a group each has is not known")
    mask = np.array(inside, dtype=np.bool_)
    size = int(np.count_nonzero(mask))
    if len(mask) != sample.size or size == 0:
        raise ValueError(f"inside: {size} of {len(mask)} draws, for a sample of {sample.size}")
    masses = arrays.floats(columns.masses, name="masses", size=size, within=(math.ulp(0.0), 1.0))
    return dataclasses.replace(
        sample,
        population=population,
        items=sample.items[mask],
        probabilities=np.minimum(sample.probabilities[mask] / masses, 1.0),
        predictions=sample.predictions[mask],
        rest_prediction_sums=arrays.floats(
            columns.rest_prediction_sums, name="rest_prediction_sums", size=size
        ),
        model_variances=arrays.floats(columns.model_variances, name="model_variances", size=size),
        scores=sample.scores[mask],
        answered=sample.answered[mask],
        weights=np.array(weights.normalised(sample.weights[mask].tolist())),
    )
