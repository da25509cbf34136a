"""Answer books: which simulated model gets which item right, settled before anyone asks.

Since an outcome is fixed, the true pool mean is known, and an estimate can be held against it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from monitor.domain import errors
from monitor.simulation import chance

# Of a version's items, the share on which it keeps the luck of the version before.
KEPT_LUCK = 0.8
DIFFICULTY_SCALE = 1.2
DISCRIMINATION_SCALE = 0.3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AnswerBook:
    """Outcomes of M simulated models on N items.

    outcomes: (M, N): 1 right, 0 wrong, NaN where nothing was recorded.
    """

    models: tuple[str, ...]
    items: tuple[str, ...]
    outcomes: npt.NDArray[np.float64]

    def __post_init__(self) -> None:
        """One row a model and one column an item, each named once.

        Raises:
            UsageError: a name occurs twice, or the shape does not fit.
        """
        for kind, names in (("model", self.models), ("item", self.items)):
            if len(set(names)) != len(names):
                twice = next(name for name in names if names.count(name) > 1)
                raise errors.UsageError(f"simulated {kind} {twice!r} is named twice")
        if self.outcomes.shape != (len(self.models), len(self.items)):
            raise errors.UsageError(
                f"outcomes of shape {self.outcomes.shape} do not fit "
                f"{len(self.models)} models and {len(self.items)} items"
            )

    def truth(self, model: str) -> float | None:
        """Share of right answers on all recorded items; None where none is recorded.

        Raises:
            ValueError: there is no such model.
        """
        row = self.outcomes[self.models.index(model)]
        recorded = row[~np.isnan(row)]
        return float(recorded.mean()) if len(recorded) else None

    def of_items(self, items: Sequence[str]) -> "AnswerBook":
        """The same models on some of the items, in another order.

        Raises:
            UsageError: the book has no such item.
        """
        column = {item: index for index, item in enumerate(self.items)}
        unknown = [item for item in items if item not in column]
        if unknown:
            more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
            raise errors.UsageError(f"no outcomes are known for item {unknown[0]!r}{more}")
        outcomes = self.outcomes[:, [column[item] for item in items]]
        return AnswerBook(models=self.models, items=tuple(items), outcomes=outcomes)

    def rows(self) -> dict[str, tuple[bool | None, ...]]:
        """By model, in item order: right or not, None where nothing was recorded."""
        return {
            model: tuple(None if np.isnan(cell) else bool(cell) for cell in row)
            for model, row in zip(self.models, self.outcomes, strict=True)
        }


def recorded_book(
    outcomes: npt.NDArray[np.float64],
    *,
    models: Sequence[str],
    items: Sequence[str],
    seed: int = 0,
) -> AnswerBook:
    """Models that answer as real ones once did.

    A fraction, such as a pass rate of several samples, becomes one right or wrong answer by
    chance. A cell that was not recorded stays unknown: asked for it, the endpoint says so with
    an error 500, and `truth` leaves it out.

    Args:
        outcomes: (M, N), in [0, 1], NaN where missing.
        models: name of each row.
        items: name of each column.
        seed: of the draws for fractions.
    """
    realised = np.array(outcomes, dtype=np.float64)
    for row, column in np.argwhere((realised > 0.0) & (realised < 1.0)):
        luck = chance.uniform("fraction", seed, models[row], items[column])
        realised[row, column] = luck < realised[row, column]
    return AnswerBook(models=tuple(models), items=tuple(items), outcomes=realised)


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedModel:
    """A model with a wanted share of right answers.

    version_of: an earlier model of the list, whose right and wrong answers it mostly shares.
    """

    name: str
    accuracy: float
    version_of: str | None = None

    def __post_init__(self) -> None:
        """An accuracy inside [0, 1].

        Raises:
            UsageError: it is not.
        """
        if not 0.0 <= self.accuracy <= 1.0:
            raise errors.UsageError(f"accuracy {self.accuracy} of {self.name!r} is not in [0, 1]")


def item_response_book(
    models: Sequence[SimulatedModel], *, items: Sequence[str], seed: int = 0
) -> AnswerBook:
    """Models that follow the two-parameter logistic model of item response theory.

    Model i answers item j rightly with probability 1 / (1 + exp(-a_j (theta_i - b_j))): Birnbaum,
    in Lord and Novick, Statistical Theories of Mental Test Scores, 1968, chapter 17. Difficulty
    b_j and discrimination a_j depend on the seed and the item's name alone, so books over the
    same items agree about them.

    Each outcome is settled by one uniform number u_ij, so item j is answered rightly from the
    ability b_j + logit(u_ij) / a_j on. The ability theta_i is put just above as many of these
    as the wanted accuracy says, which meets it to the nearest item.

    Raises:
        UsageError: a version_of names no earlier model.
    """
    difficulty = DIFFICULTY_SCALE * _logit(_column("difficulty", seed, items))
    discrimination = np.exp(DISCRIMINATION_SCALE * _logit(_column("discrimination", seed, items)))
    luck: dict[str, npt.NDArray[np.float64]] = {}
    outcomes = np.zeros((len(models), len(items)))
    for row, model in enumerate(models):
        luck[model.name] = _luck(model, items=items, seed=seed, earlier=luck)
        needed = difficulty + _logit(luck[model.name]) / discrimination
        right = np.argsort(needed, kind="stable")[: round(model.accuracy * len(items))]
        outcomes[row, right] = 1.0
    names = tuple(model.name for model in models)
    return AnswerBook(models=names, items=tuple(items), outcomes=outcomes)


def _luck(
    model: SimulatedModel,
    *,
    items: Sequence[str],
    seed: int,
    earlier: Mapping[str, npt.NDArray[np.float64]],
) -> npt.NDArray[np.float64]:
    """The numbers u_ij of one model: of its own, or mostly those of the version before."""
    own = _column(f"luck/{model.name}", seed, items)
    if model.version_of is None:
        return own
    if model.version_of not in earlier:
        known = ", ".join(earlier) or "none"
        raise errors.UsageError(
            f"{model.name!r} is a version of {model.version_of!r}, which is not among "
            f"the models before it: {known}"
        )
    kept = _column(f"kept/{model.name}", seed, items) < KEPT_LUCK
    return np.where(kept, earlier[model.version_of], own)


def _column(purpose: str, seed: int, items: Sequence[str]) -> npt.NDArray[np.float64]:
    return np.array([chance.uniform(purpose, seed, item) for item in items])


def _logit(share: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.log(share) - np.log1p(-share)
