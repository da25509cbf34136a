"""How a factor model is fitted, in torch: AdamW on all observed cells at once."""

import dataclasses
import warnings
from typing import Final, Protocol

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from monitor.stats.answers import History
from monitor.stats.arrays import FloatArray, IntArray
from monitor.stats.factor_settings import FactorArray, FactorSettings

DENSE: Final = 0.2
"""Share of observed cells from which computing all cells is faster than picking some."""

BETAS: Final = (0.9, 0.999)
EPSILON: Final = 1e-8


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cells:
    """Observed cells of a history in row order.

    rows, columns: (c,) model and item.
    scores: (c,) in [0, 1].
    shape: (M, N) of the history.
    """

    rows: IntArray
    columns: IntArray
    scores: FloatArray
    shape: tuple[int, int]


def observed(history: History) -> Cells:
    """Return the cells that are there."""
    rows, columns = np.nonzero(history.observed)
    return Cells(
        rows=rows,
        columns=columns,
        scores=history.outcomes[rows, columns],
        shape=history.outcomes.shape,
    )


class Training:
    """The state of one fit.

    U and V are the rows of one matrix (M + N, k), as are their gradients and moments.
    """

    def __init__(self, cells: Cells, settings: FactorSettings, *, device: torch.device) -> None:
        size = (sum(cells.shape), settings.k)
        start = np.random.default_rng(settings.seed).standard_normal(size, np.float32)
        self._settings, self._steps = settings, 0
        self._factors = torch.tensor(start, device=device)
        self._models, self._items = self._factors.split_with_sizes(cells.shape)
        self._slopes, self._first, self._second = torch.zeros((3, *size), device=device)
        dense = len(cells.scores) > DENSE * cells.shape[0] * cells.shape[1]
        self._likelihood: _Likelihood = (_Dense if dense else _Sparse)(cells, device=device)

    def advance(self, steps: int) -> None:
        """Make so many steps of AdamW down the mean log-loss.

        Loshchilov and Hutter 2019, algorithm 2. torch's own takes seconds to import.
        """
        rate, decay = self._settings.learning_rate, self._settings.decay
        slopes, first, second = self._slopes, self._first, self._second
        for step in range(self._steps + 1, self._steps + steps + 1):
            torch.cat(self._likelihood.gradients(self._models, self._items), out=slopes)
            first.lerp_(slopes, 1.0 - BETAS[0])
            second.mul_(BETAS[1]).addcmul_(slopes, slopes, value=1.0 - BETAS[1])
            scale = second.div(1.0 - BETAS[1] ** step).sqrt_().add_(EPSILON)
            self._factors.mul_(1.0 - rate * decay)
            self._factors.addcdiv_(first, scale, value=-rate / (1.0 - BETAS[0] ** step))
        self._steps += steps

    def factors(self) -> tuple[FactorArray, FactorArray]:
        """Return U (M, k) and V (N, k)."""
        return self._models.cpu().numpy(), self._items.cpu().numpy()

    def loss(self, cells: Cells) -> float:
        """Return the mean log-loss of other cells of the same history, in nats."""
        logits = (self._models[cells.rows] * self._items[cells.columns]).sum(1)
        scores = torch.tensor(cells.scores, dtype=torch.float32, device=logits.device)
        return float(functional.binary_cross_entropy_with_logits(logits, scores))


class _Likelihood(Protocol):
    def gradients(self, models: Tensor, items: Tensor) -> tuple[Tensor, Tensor]:
        """Return the gradients of the mean log-loss by U (M, k) and by V (N, k)."""
        ...


class _Dense:
    """Computes every cell and drops those that were not observed."""

    def __init__(self, cells: Cells, *, device: torch.device) -> None:
        places = torch.tensor(cells.rows), torch.tensor(cells.columns)
        self._scores, self._weights = torch.zeros((2, *cells.shape))
        self._scores[places] = torch.tensor(cells.scores, dtype=torch.float32)
        self._weights[places] = 1.0 / len(cells.scores)
        self._scores, self._weights = self._scores.to(device), self._weights.to(device)
        self._work = torch.empty_like(self._scores)

    def gradients(self, models: Tensor, items: Tensor) -> tuple[Tensor, Tensor]:
        logits = torch.mm(models, items.T, out=self._work)
        slopes = logits.sigmoid_().sub_(self._scores).mul_(self._weights)
        return slopes @ items, slopes.T @ models


class _Sparse:
    """Computes the observed cells only: by compressed rows, and again transposed."""

    def __init__(self, cells: Cells, *, device: torch.device) -> None:
        self._scores = torch.tensor(cells.scores, dtype=torch.float32, device=device)
        order = np.argsort(cells.columns, kind="stable")
        self._order = torch.tensor(order, device=device)
        self._by_row = _compressed(cells.rows, cells.columns, cells.shape, device=device)
        self._by_column = _compressed(
            cells.columns[order], cells.rows[order], cells.shape[::-1], device=device
        )

    def gradients(self, models: Tensor, items: Tensor) -> tuple[Tensor, Tensor]:
        logits = torch.sparse.sampled_addmm(self._by_row, models, items.T, beta=0.0).values()
        slopes = logits.sigmoid_().sub_(self._scores).div_(len(self._scores))
        moved = slopes.index_select(0, self._order)
        return (
            _refilled(self._by_row, slopes) @ items,
            _refilled(self._by_column, moved) @ models,
        )


def _compressed(
    rows: IntArray, columns: IntArray, shape: tuple[int, ...], *, device: torch.device
) -> Tensor:
    ends = np.cumsum(np.bincount(rows, minlength=shape[0]))
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        # torch says once that this format is in beta state.
        return torch.sparse_csr_tensor(
            torch.tensor(np.concatenate(([0], ends)), dtype=torch.int32),
            torch.tensor(columns, dtype=torch.int32),
            torch.ones(len(columns)),
            size=shape,
            device=device,
            check_invariants=True,
        )


def _refilled(matrix: Tensor, values: Tensor) -> Tensor:
    return torch.sparse_csr_tensor(
        matrix.crow_indices(),
        matrix.col_indices(),
        values,
        size=matrix.shape,
        check_invariants=False,
    )
