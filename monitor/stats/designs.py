"""Seam Design: how the items of a round are drawn.

A design turns what is known into shares; `sampling` owns the floor and the draw. The contract of
the seam allows repeated items; never to repeat is what `simple` and `without_replacement` add.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar, Final, Protocol

import numpy as np

from monitor.stats import arrays, draws, sampling
from monitor.stats.arrays import BoolArray, FloatArray, IntArray
from monitor.stats.draws import Draws, ItemView
from monitor.stats.sampling import Pool
from monitor.stats.stratification import Layout


class Design(Protocol):
    """How items are drawn: a pure function of the pool and the view.

    Contract:
        - `draw` returns exactly `size` draws and the pool after them; the same pool and view give
          the same bits.
        - each draw's `probability` is the chance of its item given all before it, never 0, and
          its other columns describe the moment just before it (see `Draws`).
        - `advance` gives the pool that `draw` returned with these items, so that an evaluation can
          go on from stored draws even where other libraries would now draw others.
    """

    name: ClassVar[str]
    repeats: ClassVar[bool]
    """Whether an item can be drawn more than once."""

    def shares(self, pool: Pool, view: ItemView) -> FloatArray:
        """Return the draw weights of the round at its start, shape (N,), not normalised."""
        ...

    def draw(self, pool: Pool, view: ItemView, *, size: int) -> tuple[Draws, Pool]:
        """Draw a round.

        Args:
            pool: state before the round.
            view: what is known at its start.
            size: number of draws, at least 1.

        Raises:
            ValueError: the pool cannot give `size` draws.
        """
        ...

    def advance(self, pool: Pool, view: ItemView, *, items: Sequence[int]) -> Pool:
        """Return the pool after a round that is known to have drawn `items`."""
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class Simple:
    """Plain random sampling without replacement: every undrawn item is equally likely.

    It draws as if every prediction were 0; the columns say so (predictions, their sums and model
    variances are 0), and with that every identity between them holds.
    """

    name: ClassVar[str] = "simple"
    repeats: ClassVar[bool] = False

    def shares(self, pool: Pool, view: ItemView) -> FloatArray:  # noqa: ARG002 - of the seam
        """Return 1 for every undrawn item, so that probabilities are exact fractions."""
        return pool.undrawn.astype(np.float64)

    def draw(self, pool: Pool, view: ItemView, *, size: int) -> tuple[Draws, Pool]:
        """See `Design.draw`; no item twice."""
        blind = dataclasses.replace(view, predictions=np.zeros_like(view.predictions))
        return _draw_distinct(self, pool, blind, size=size)

    def advance(self, pool: Pool, view: ItemView, *, items: Sequence[int]) -> Pool:
        """See `Design.advance`."""
        return _advance_distinct(self, pool, view, items=items)


@dataclasses.dataclass(frozen=True, slots=True)
class WithoutReplacement:
    """Draws by the guide's uncertainty, no item twice.

    s = (1 - floor) sqrt(w) / sum sqrt(w) + floor / |R|.
    """

    name: ClassVar[str] = "without_replacement"
    repeats: ClassVar[bool] = False

    def shares(self, pool: Pool, view: ItemView) -> FloatArray:
        """Return s, summing to 1 over R."""
        return _uncertain_shares(view, pool.undrawn)

    def draw(self, pool: Pool, view: ItemView, *, size: int) -> tuple[Draws, Pool]:
        """See `Design.draw`; no item twice."""
        return _draw_distinct(self, pool, view, size=size)

    def advance(self, pool: Pool, view: ItemView, *, items: Sequence[int]) -> Pool:
        """See `Design.advance`."""
        return _advance_distinct(self, pool, view, items=items)


@dataclasses.dataclass(frozen=True, slots=True)
class WithReplacement:
    """Draws by the guide's uncertainty from all items each time: FAQ as published.

    q = (1 - floor) sqrt(w) / sum sqrt(w) + floor / N: the oracle score of arXiv 2601.20251 with
    beta_0 = 1 and rho = gamma = 0, its reference's choice for a full history.
    """

    name: ClassVar[str] = "with_replacement"
    repeats: ClassVar[bool] = True

    def shares(self, pool: Pool, view: ItemView) -> FloatArray:
        """Return q, summing to 1 over all items."""
        return _uncertain_shares(view, np.full(len(pool.clocks), fill_value=True))

    def draw(self, pool: Pool, view: ItemView, *, size: int) -> tuple[Draws, Pool]:
        """See `Design.draw`; an item may come again, in the same round too."""
        shares = self.shares(pool, view)
        items = sampling.renewed_arrivals(pool, shares, size=size)
        described = draws.describe_independent(items, shares=shares, view=view)
        return described, sampling.advance_renewed(pool, shares, items=items)

    def advance(self, pool: Pool, view: ItemView, *, items: Sequence[int]) -> Pool:
        """See `Design.advance`."""
        drawn = arrays.integers(items, name="items", below=len(pool.clocks))
        return sampling.advance_renewed(pool, self.shares(pool, view), items=drawn)


@dataclasses.dataclass(frozen=True, slots=True)
class Stratified:
    """Draws n_h items of each stratum at random, no item twice.

    Inside a stratum every undrawn item is equally likely; over the strata the draws are mixed as
    their numbers are, so that no stratum is asked first.
    """

    name: ClassVar[str] = "stratified"
    repeats: ClassVar[bool] = False

    def shares(self, pool: Pool, view: ItemView) -> FloatArray:
        """Return n_h/N_h for every undrawn item of a stratum that still has draws to give."""
        layout = _layout(view)
        given = np.bincount(layout.labels[~pool.undrawn], minlength=len(layout.draws))
        open_strata = given < layout.draws
        return np.asarray(layout.rates * (pool.undrawn & open_strata[layout.labels]))

    def draw(self, pool: Pool, view: ItemView, *, size: int) -> tuple[Draws, Pool]:
        """See `Design.draw`; no item twice, and none beyond the draws of its stratum."""
        layout = _layout(view)
        items = self._planned(pool, layout)
        if not 1 <= size <= len(items):
            raise ValueError(f"size: a round of {size} from {len(items)} undrawn items of the plan")
        described = draws.describe_stratified(items[:size], layout=layout, view=view)
        return described, sampling.advance(pool, layout.rates, items=items[:size])

    def advance(self, pool: Pool, view: ItemView, *, items: Sequence[int]) -> Pool:
        """See `Design.advance`."""
        drawn = arrays.integers(items, name="items", below=len(pool.clocks))
        return sampling.advance(pool, _layout(view).rates, items=drawn)

    def _planned(self, pool: Pool, layout: Layout) -> IntArray:
        """Return the undrawn items whose clocks are the first n_h of their strata, soonest first.

        Clocks of one stratum stay in the order in which they began.
        """
        arrivals = np.where(pool.undrawn, pool.clocks / layout.rates, -1.0)
        order = np.lexsort((arrivals, layout.labels))
        firsts = np.cumsum(layout.sizes) - layout.sizes
        strata = layout.labels[order]
        planned = order[np.arange(len(order)) - firsts[strata] < layout.draws[strata]]
        left = planned[pool.undrawn[planned]]
        return left[np.argsort(arrivals[left], kind="stable")]


DESIGNS: Final[Mapping[str, Design]] = MappingProxyType(
    {each.name: each for each in (Simple(), WithoutReplacement(), WithReplacement(), Stratified())}
)


def _layout(view: ItemView) -> Layout:
    if view.layout is None:
        raise ValueError("layout: strata are drawn from, and the view has none")
    return view.layout


def _uncertain_shares(view: ItemView, candidates: BoolArray) -> FloatArray:
    """Return the floored shares by sqrt(w) over the candidates; the dispersion cancels."""
    deviations = np.sqrt(view.predictions * (1.0 - view.predictions))
    return sampling.floored_shares(deviations, candidates, floor=view.floor)


def _draw_distinct(design: Design, pool: Pool, view: ItemView, *, size: int) -> tuple[Draws, Pool]:
    shares = design.shares(pool, view)
    items = sampling.first_arrivals(pool, shares, size=size)
    described = draws.describe(items, shares=shares, undrawn=pool.undrawn, view=view)
    return described, sampling.advance(pool, shares, items=items)


def _advance_distinct(design: Design, pool: Pool, view: ItemView, *, items: Sequence[int]) -> Pool:
    drawn = arrays.integers(items, name="items", below=len(pool.clocks))
    return sampling.advance(pool, design.shares(pool, view), items=drawn)
