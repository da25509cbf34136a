"""Which complexity a factor model should have: cross-validation over cells, in torch."""

import dataclasses
import math
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import torch

from monitor.stats.answers import History
from monitor.stats.arrays import BoolArray, IntArray
from monitor.stats.factor_settings import FactorSettings, Validation
from monitor.stats.factor_training import Cells, Training, observed

FOLDS: Final = 5
STRIDE: Final = 100
"""Steps between looks at the held-out loss."""
LOOKS: Final = 3
SETTLED: Final = 1e-4
"""A fit has converged where its last `LOOKS` held-out losses differ by less, in nats."""
LARGEST: Final = 250_000
"""Observed cells that are used on a CPU; of a larger history a random part is."""
FEWEST_ITEMS: Final = 1_000


def validate(
    history: History, grid: Sequence[FactorSettings], *, device: torch.device, seed: int
) -> list[Validation]:
    """Return the grid with its held-out losses, the smallest first.

    Candidates of strong decay converge first, so they run first and give later ones a loss to
    beat (see `_race`).
    """
    cells = observed(history)
    if len(cells.scores) < FOLDS:
        raise ValueError(
            f"history: {len(cells.scores)} outcomes; cross-validation needs at least {FOLDS}"
        )
    largest = LARGEST if device.type == "cpu" else len(cells.scores)
    folds = list(split(some_of(cells, largest, seed=seed), seed))
    best, found = math.inf, []
    for settings in sorted(grid, key=lambda each: (-each.decay, each.k)):
        loss = _race(folds, settings, best=best, device=device)
        best = min(best, loss)
        found.append(Validation(settings=settings, loss=loss))
    return sorted(found, key=lambda each: each.loss)


def _race(
    folds: Sequence[tuple[Cells, Cells]],
    settings: FactorSettings,
    *,
    best: float,
    device: torch.device,
) -> float:
    """Return the held-out loss at the last step, or where it has settled.

    A candidate that gets worse, and is worse than `best` already, is given up; its loss then is
    the one it had reached.
    """
    fits = [Training(kept, settings, device=device) for kept, _ in folds]
    losses: list[float] = []
    for done in range(0, settings.steps, STRIDE):
        for fit in fits:
            fit.advance(min(STRIDE, settings.steps - done))
        losses.append(_mean_loss(fits, folds))
        settled = len(losses) >= LOOKS and max(losses[-LOOKS:]) - min(losses[-LOOKS:]) < SETTLED
        if settled or losses[-1] > max([best, *losses[-2:-1]]):
            break
    return losses[-1]


def _mean_loss(fits: Sequence[Training], folds: Sequence[tuple[Cells, Cells]]) -> float:
    held = [cells for _, cells in folds]
    total = math.fsum(
        fit.loss(cells) * len(cells.scores) for fit, cells in zip(fits, held, strict=True)
    )
    return total / sum(len(cells.scores) for cells in held)


def split(cells: Cells, seed: int) -> Iterator[tuple[Cells, Cells]]:
    """Yield what is kept and what is held out, every cell held out once."""
    count = len(cells.scores)
    labels = np.random.default_rng(seed).permutation(np.arange(count) % FOLDS)
    for fold in range(FOLDS):
        yield _where(cells, labels != fold), _where(cells, labels == fold)


def _where(cells: Cells, mask: BoolArray) -> Cells:
    return dataclasses.replace(
        cells, rows=cells.rows[mask], columns=cells.columns[mask], scores=cells.scores[mask]
    )


def some_of(cells: Cells, largest: int, *, seed: int) -> Cells:
    """Return about `largest` cells: those of fewer items, and if need be of fewer models.

    Models and items without a cell are gone.
    """
    start = np.random.default_rng(seed)
    share = largest / len(cells.scores)
    kept = _some(cells.shape[1], share, least=FEWEST_ITEMS, start=start)
    cells = _where(cells, np.isin(cells.columns, kept))
    share = largest / len(cells.scores)
    kept = _some(cells.shape[0], share, least=2, start=start)
    cells = _where(cells, np.isin(cells.rows, kept))
    models, rows = np.unique(cells.rows, return_inverse=True)
    items, columns = np.unique(cells.columns, return_inverse=True)
    return Cells(rows=rows, columns=columns, scores=cells.scores, shape=(len(models), len(items)))


def _some(size: int, share: float, *, least: int, start: np.random.Generator) -> IntArray:
    kept = min(size, max(int(size * share), least))
    return np.sort(start.permutation(size)[:kept])
