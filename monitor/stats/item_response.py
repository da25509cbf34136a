"""How hard each item was for earlier models, and how much it told the strong from the weak.

The two-parameter logistic model (Birnbaum 1968): model i answers item j rightly with probability
sigmoid(b_j + a_j t_i). An item's two parameters are features by which a new model is predicted:
its own ability is then one coefficient among few.

symbol   name                                  shape
b, a     easiness and discrimination           (N,)
t        abilities, mean 0 and deviation 1     (M,)
"""

import dataclasses
from typing import Final, Self

import numpy as np
from scipy import special

from monitor.stats.answers import History
from monitor.stats.arrays import FloatArray, IntArray

ROUNDS: Final = 8
FIRST_STEPS: Final = 4
LONGEST_STEP: Final = 1.0
# Keeps the ability of a model finite that got everything right.
ABILITY_PRECISION: Final = 0.05
SMALLEST_SPREAD: Final = 0.05
SMALLEST_VARIANCE: Final = 1e-3
LARGEST_CORRELATION: Final = 0.95
# Newer models tell more of the next one, and so many outcomes, or models, are enough of them.
MOST_CELLS: Final = 2_000_000
MOST_MODELS: Final = 64


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cells:
    """The observed outcomes of the newest models, row by row; columns of shape (cells,).

    starts: (M,) where each row begins.
    """

    rows: IntArray
    items: IntArray
    scores: FloatArray
    starts: IntArray
    population: int

    @classmethod
    def of(cls, history: History) -> Self:
        """Take the newest models, `MOST_MODELS` or about `MOST_CELLS` outcomes in all."""
        counts = history.observed.sum(axis=1)
        newer = np.cumsum(counts[::-1])[::-1] - counts
        rank = np.arange(len(counts))[::-1]
        outcomes = history.outcomes[(newer < MOST_CELLS) | (rank < MOST_MODELS)]
        rows, items = np.nonzero(~np.isnan(outcomes))
        return cls(
            rows=rows,
            items=items,
            scores=outcomes[rows, items],
            starts=np.flatnonzero(np.diff(rows, prepend=-1)),
            population=history.population,
        )

    def by_item(self, values: FloatArray) -> FloatArray:
        """Return the sum of the values (cells,) over each item's cells, (N,)."""
        sums = np.bincount(self.items, weights=values, minlength=self.population)
        return sums.astype(np.float64, copy=False)

    def by_row(self, values: FloatArray) -> FloatArray:
        """Return the sum of the values (cells,) over each model's cells, (M,)."""
        return np.asarray(np.add.reduceat(values, self.starts))


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Spread:
    """Normal distribution of (easiness, discrimination) over the items."""

    mean: FloatArray
    covariance: FloatArray


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ItemResponse:
    """Fitted parameters.

    easiness, discrimination: (N,) b and a.
    abilities: (M,) t of the newest models.
    """

    easiness: FloatArray
    discrimination: FloatArray
    abilities: FloatArray

    def residuals(self, outcomes: FloatArray) -> FloatArray:
        """Return outcome minus fitted probability, 0 where it is missing.

        Args:
            outcomes: (m, N) of the newest m models.
        """
        abilities = self.abilities[len(self.abilities) - len(outcomes) :, np.newaxis]
        fitted = special.expit(self.easiness + self.discrimination * abilities)
        return np.asarray(np.nan_to_num(outcomes - fitted))


def fit(history: History) -> ItemResponse:
    """Take Newton steps for abilities and items in turn; the items' spread is learnt on the way.

    Args:
        history: at least one model.
    """
    cells = Cells.of(history)
    fitted = _abilities_fitted(cells, _start(cells), steps=FIRST_STEPS)
    slope = float(fitted.discrimination[0])
    spread = Spread(
        mean=np.array([fitted.easiness.mean(), slope]),
        covariance=np.diag([fitted.easiness.var() + 0.1, 0.1 * slope * slope + 0.01]),
    )
    for _ in range(ROUNDS):
        fitted, spread = _items_fitted(cells, fitted, spread)
        fitted = _abilities_fitted(cells, fitted, steps=1)
    return fitted


def _start(cells: Cells) -> ItemResponse:
    """Return the model in which all models are alike."""
    counts = cells.by_item(np.ones_like(cells.scores))
    sums = cells.by_item(cells.scores)
    mean = (sums.sum() + 0.5) / (counts.sum() + 1.0)
    return ItemResponse(
        easiness=special.logit((sums + mean + 0.25) / (counts + 1.5)),
        discrimination=np.ones(cells.population),
        abilities=np.zeros(len(cells.starts)),
    )


def _abilities_fitted(cells: Cells, fitted: ItemResponse, *, steps: int) -> ItemResponse:
    """Return the model with abilities by Newton's method, then put on their scale."""
    slopes = fitted.discrimination[cells.items]
    offsets = fitted.easiness[cells.items]
    abilities = fitted.abilities
    for _ in range(steps):
        chances = special.expit(offsets + slopes * abilities[cells.rows])
        gradient = cells.by_row((cells.scores - chances) * slopes) - ABILITY_PRECISION * abilities
        curvature = cells.by_row(chances * (1.0 - chances) * slopes**2) + ABILITY_PRECISION
        abilities = abilities + np.clip(gradient / curvature, -LONGEST_STEP, LONGEST_STEP)
    centre, spread = float(abilities.mean()), float(abilities.std())
    scale = spread if spread > SMALLEST_SPREAD else 1.0
    return ItemResponse(
        easiness=fitted.easiness + fitted.discrimination * centre,
        discrimination=fitted.discrimination * scale,
        abilities=(abilities - centre) / scale,
    )


def _items_fitted(
    cells: Cells, fitted: ItemResponse, spread: Spread
) -> tuple[ItemResponse, Spread]:
    """Return the model with items one Newton step on, and what that says of their spread."""
    parameters, covariances = _item_step(cells, fitted, spread)
    easiness, discrimination = parameters
    moved = dataclasses.replace(fitted, easiness=easiness, discrimination=discrimination)
    return moved, _spread(parameters, covariances.mean(axis=2))


def _item_step(cells: Cells, fitted: ItemResponse, spread: Spread) -> tuple[FloatArray, FloatArray]:
    """Return each item's parameters after one step, (2, N), and their covariance, (2, 2, N)."""
    parameters = np.stack([fitted.easiness, fitted.discrimination])
    ability = fitted.abilities[cells.rows]
    slopes = fitted.discrimination[cells.items]
    chances = special.expit(fitted.easiness[cells.items] + slopes * ability)
    errors, information = cells.scores - chances, chances * (1.0 - chances)
    precision = np.linalg.inv(spread.covariance)
    gradient = np.stack([cells.by_item(errors), cells.by_item(errors * ability)])
    gradient -= precision @ (parameters - spread.mean[:, np.newaxis])
    level = cells.by_item(information) + precision[0, 0]
    joint = cells.by_item(information * ability) + precision[0, 1]
    slope = cells.by_item(information * ability**2) + precision[1, 1]
    covariances = np.stack([[slope, -joint], [-joint, level]]) / (level * slope - joint**2)
    step = np.einsum("abn,bn->an", covariances, gradient)
    limits = np.array([[2.0 * LONGEST_STEP], [LONGEST_STEP]])
    return parameters + np.clip(step, -limits, limits), covariances


def _spread(parameters: FloatArray, unsure: FloatArray) -> Spread:
    """Return mean and covariance over the items; what is not known of them is spread, too."""
    covariance = np.cov(parameters, bias=True) + unsure
    covariance[1, 1] = max(covariance[1, 1], SMALLEST_VARIANCE)
    limit = LARGEST_CORRELATION * np.sqrt(covariance[0, 0] * covariance[1, 1])
    covariance[0, 1] = covariance[1, 0] = np.clip(covariance[0, 1], -limit, limit)
    return Spread(mean=parameters.mean(axis=1), covariance=covariance)
