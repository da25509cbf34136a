"""The draws of one round: what is stored with each of them, and where the numbers come from.

Everything an estimate will ever need of a draw is written down before its query goes out; nothing
is recomputed from the guide later.

symbol      name                     shape
R           items not yet drawn      (N,) mask; where items repeat, all of them
p           predictions              (N,)
w           dispersion p (1 - p)     (N,)
s           shares                   (N,) draw weights, fixed for the round
"""

import dataclasses
from collections.abc import Sequence
from typing import Self

import numpy as np

from monitor.stats import arrays, sampling
from monitor.stats.arrays import BoolArray, FloatArray, IntArray
from monitor.stats.stratification import Layout


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ItemView:
    """What a design may know of the items at the start of a round.

    predictions: (N,) in [0, 1].
    groups: (N,) label of each item's group, numbered from 0.
    dispersion: variance of a score over p (1 - p), in (0, 1].
    floor: share of every draw that is spread evenly, in (0, 1].
    layout: the strata of the N items, where the plan has any.
    """

    predictions: FloatArray
    groups: IntArray
    dispersion: float
    floor: float = sampling.FLOOR
    layout: Layout | None = None

    @classmethod
    def from_columns(
        cls,
        predictions: FloatArray,
        groups: Sequence[int] | IntArray,
        *,
        dispersion: float,
        floor: float = sampling.FLOOR,
        layout: Layout | None = None,
    ) -> Self:
        """Check and copy.

        Raises:
            ValueError: lengths differ, or a value is out of its range.
        """
        if not 0.0 < dispersion <= 1.0:
            raise ValueError(f"dispersion: must lie in (0, 1], not {dispersion!r}")
        if not 0.0 < floor <= 1.0:
            raise ValueError(f"floor: must lie in (0, 1], not {floor!r}")
        size = len(predictions)
        if layout is not None and len(layout.labels) != size:
            raise ValueError(f"layout: {len(layout.labels)} items, the pool has {size}")
        return cls(
            predictions=arrays.floats(
                predictions, name="predictions", size=size, within=(0.0, 1.0)
            ),
            groups=arrays.integers(groups, name="groups", size=size),
            dispersion=dispersion,
            floor=floor,
            layout=layout,
        )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DrawRow:
    """One draw in plain numbers; the fields are those of `Draws`."""

    item: int
    probability: float
    prediction: float
    rest_prediction_sum: float
    model_variance: float
    group_mass: float
    group_rest_prediction_sum: float
    group_model_variance: float


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Draws:
    """The draws of one round in draw order, all columns of shape (size,).

    Every column describes the moment just before its draw; R includes the item drawn. Where items
    repeat R is the whole pool, so that `rest_prediction_sum` is the sum of p over all items; for
    strata see `describe_stratified`.

    item: position in the pool.
    probability: q, the chance that this draw took this item, given all before it; never 0.
    prediction: p of the item.
    rest_prediction_sum: sum of p over R.
    model_variance: v = max(0, sum_R w/q - sum_R w) / N^2.
    group_mass: chance that this draw fell into the item's group, in (0, 1].
    group_rest_prediction_sum, group_model_variance: as above with N, R, q inside the group.
    """

    item: IntArray
    probability: FloatArray
    prediction: FloatArray
    rest_prediction_sum: FloatArray
    model_variance: FloatArray
    group_mass: FloatArray
    group_rest_prediction_sum: FloatArray
    group_model_variance: FloatArray

    def rows(self) -> tuple[DrawRow, ...]:
        """Return the draws one by one, as plain Python numbers."""
        names = [field.name for field in dataclasses.fields(DrawRow)]
        columns = [getattr(self, name).tolist() for name in names]
        return tuple(
            DrawRow(**dict(zip(names, row, strict=True))) for row in zip(*columns, strict=True)
        )


def describe(items: IntArray, *, shares: FloatArray, undrawn: BoolArray, view: ItemView) -> Draws:
    """Return the stored columns of a round that drew `items` in this order, without repeats.

    Args:
        items: (size,) distinct positions inside `undrawn`.
        shares: (N,) draw weights s, positive where `undrawn`.
        undrawn: (N,) mask of R at the start of the round.
        view: predictions, groups and dispersion at the start of the round.
    """
    spread = view.dispersion * view.predictions * (1.0 - view.predictions)
    safe_shares = np.where(undrawn, shares, 1.0)
    terms = np.stack([shares, view.predictions, spread, spread / safe_shares])
    left = undrawn.copy()
    left[items] = False
    mass, rest, rest_spread, ratio = suffix_sums(terms[:, items], terms[:, left].sum(axis=1))
    labels = view.groups[items]
    sizes = np.bincount(view.groups)[labels]
    group_mass, group_rest, group_spread, group_ratio = _group_suffix_sums(
        terms, items=items, left=left, groups=view.groups
    )
    return Draws(
        item=items,
        probability=shares[items] / mass,
        prediction=view.predictions[items],
        rest_prediction_sum=rest,
        model_variance=_model_variance(mass, ratio, rest_spread) / len(undrawn) ** 2,
        group_mass=np.minimum(group_mass / mass, 1.0),
        group_rest_prediction_sum=group_rest,
        group_model_variance=_model_variance(group_mass, group_ratio, group_spread) / sizes**2,
    )


def describe_independent(items: IntArray, *, shares: FloatArray, view: ItemView) -> Draws:
    """Return the stored columns of a round that drew each of `items` from the whole pool.

    Args:
        items: (size,) positions, repeats among them.
        shares: (N,) draw weights s, positive.
        view: predictions, groups and dispersion at the start of the round.
    """
    spread = view.dispersion * view.predictions * (1.0 - view.predictions)
    terms = np.stack([shares, view.predictions, spread, spread / shares])
    mass, rest, rest_spread, ratio = terms.sum(axis=1)
    labels = view.groups[items]
    sizes = np.bincount(view.groups)[labels]
    by_group = np.stack([np.bincount(view.groups, weights=row) for row in terms])
    group_mass, group_rest, group_spread, group_ratio = by_group[:, labels]
    variance = _model_variance(mass, ratio, rest_spread) / len(shares) ** 2
    return Draws(
        item=items,
        probability=shares[items] / mass,
        prediction=view.predictions[items],
        rest_prediction_sum=np.full(len(items), rest),
        model_variance=np.full(len(items), variance),
        group_mass=np.minimum(group_mass / mass, 1.0),
        group_rest_prediction_sum=group_rest,
        group_model_variance=_model_variance(group_mass, group_ratio, group_spread) / sizes**2,
    )


def describe_stratified(items: IntArray, *, layout: Layout, view: ItemView) -> Draws:
    """Return the stored columns of a round that drew `items` from their strata.

    R is the stratum of the item, and inside a group their common part; the probability is that of
    the item to be drawn at all, n_h/N_h.

    Args:
        items: (size,) distinct positions.
        layout: of the pool.
        view: predictions and groups.
    """
    strata, groups = layout.labels, int(view.groups.max()) + 1
    parts = strata * groups + view.groups
    nothing = np.zeros(len(items))
    return Draws(
        item=items,
        probability=layout.rates[items],
        prediction=view.predictions[items],
        rest_prediction_sum=np.asarray(np.bincount(strata, view.predictions)[strata[items]]),
        model_variance=nothing,
        group_mass=np.ones(len(items)),
        group_rest_prediction_sum=np.bincount(parts, view.predictions)[parts[items]],
        group_model_variance=nothing,
    )


def _model_variance(mass: FloatArray, ratio: FloatArray, spread: FloatArray) -> FloatArray:
    """Return sum_R w/q - sum_R w, where q = s / mass, so sum_R w/q = mass sum_R w/s."""
    return np.maximum(mass * ratio - spread, 0.0)


def suffix_sums(drawn: FloatArray, rest: FloatArray) -> FloatArray:
    """Return, before each draw, the sums over it, the draws after it and the rest.

    Adding up from the end loses nothing; subtracting draw by draw would.

    Args:
        drawn: (terms, size) in draw order.
        rest: (terms,) sums over what the round left undrawn.
    """
    backwards = np.concatenate([rest[:, np.newaxis], drawn[:, ::-1]], axis=1)
    return np.cumsum(backwards, axis=1)[:, :0:-1]


def _group_suffix_sums(
    terms: FloatArray, *, items: IntArray, left: BoolArray, groups: IntArray
) -> FloatArray:
    """Return `suffix_sums` taken inside each draw's own group, (terms, size)."""
    count = int(groups.max()) + 1
    rest: FloatArray = np.stack(
        [np.bincount(groups[left], weights=row[left], minlength=count) for row in terms]
    )
    labels = groups[items]
    sums = np.empty((len(terms), len(items)))
    for label in np.unique(labels):
        inside = np.flatnonzero(labels == label)
        sums[:, inside] = suffix_sums(terms[:, items[inside]], rest[:, int(label)])
    return sums
