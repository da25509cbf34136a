"""The factor model of FAQ: P(model m answers item j right) = sigmoid(u_m . v_j).

Wu, Nair and Candes, arXiv 2601.20251. Fitting needs torch; fitted factors are plain arrays.
"""

import contextlib
import dataclasses
from collections.abc import Sequence
from typing import Final, Self

import numpy as np
import numpy.typing as npt

from monitor.stats import tensors
from monitor.stats.answers import History
from monitor.stats.arrays import FloatArray, IntArray
from monitor.stats.factor_settings import FactorArray, FactorSettings, Validation

RANKS: Final = (8, 16, 32, 64)
DECAYS: Final = (0.1, 1.0, 10.0)
ONE_THREAD: Final = 10_000_000
"""Cells times factors up to which a step is too short to share it out."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Factors:
    """A fitted factor model.

    models: (M, k), row m is u_m.
    items: (N, k), row j is v_j.
    """

    models: FactorArray
    items: FactorArray

    @classmethod
    def from_arrays(cls, models: npt.ArrayLike, items: npt.ArrayLike) -> Self:
        """Check and copy.

        Args:
            models: (M, k), M at least 2, since a new model's prior is their mean and covariance.
            items: (N, k).

        Raises:
            ValueError: another shape, or a value that is not finite.
        """
        rows, columns = (np.array(each, dtype=np.float32) for each in (models, items))
        for name, array in (("U", rows), ("V", columns)):
            if array.ndim != 2 or array.size == 0:  # noqa: PLR2004 - what a matrix is
                raise ValueError(f"{name}: shape must be (rows, factors), not {array.shape}")
            if not np.isfinite(array).all():
                raise ValueError(f"{name}: every value must be a finite number")
        if rows.shape[1] != columns.shape[1]:
            raise ValueError(f"U has {rows.shape[1]} factors, V has {columns.shape[1]}")
        if len(rows) < 2:  # noqa: PLR2004 - one row has no covariance
            raise ValueError("U: one model says nothing about the next; at least 2 are needed")
        return cls(models=rows, items=columns)

    def of_items(self, items: IntArray) -> Self:
        """Return the factors of a pool of these items only."""
        return dataclasses.replace(self, items=self.items[items])

    @property
    def population(self) -> int:
        """Number of items N."""
        return len(self.items)

    @property
    def prior(self) -> tuple[FloatArray, FloatArray]:
        """Mean (k,) and covariance (k, k) of a new model's factors."""
        rows = self.models.astype(np.float64)
        return rows.mean(axis=0), np.atleast_2d(np.cov(rows, rowvar=False))


def fit(history: History, settings: FactorSettings, *, device: str = "auto") -> Factors:
    """Fit by AdamW on the masked Bernoulli log-likelihood; fractional scores stay fractional.

    The same history and settings give the same factors on one CPU; another machine or a GPU
    rounds differently.

    Raises:
        ValueError: fewer than two models.
        ModuleNotFoundError: torch is not installed.
    """
    _check_models(history)
    place = tensors.device(device)
    from monitor.stats import factor_training  # noqa: PLC0415 - torch is an extra

    cells = factor_training.observed(history)
    is_large = len(cells.scores) * settings.k > ONE_THREAD
    with contextlib.nullcontext() if is_large else tensors.one_thread():
        training = factor_training.Training(cells, settings, device=place)
        training.advance(settings.steps)
        return Factors.from_arrays(*training.factors())


def paper_grid(models: int) -> tuple[FactorSettings, ...]:
    """Return the candidates that the paper's cross-validation ever chose.

    Args:
        models: number of rows of the history; more factors than rows add nothing.
    """
    ranks = [k for k in RANKS if k <= models] or [max(models, 1)]
    return tuple(FactorSettings(k=k, decay=decay) for k in ranks for decay in DECAYS)


def cross_validate(
    history: History,
    grid: Sequence[FactorSettings] | None = None,
    *,
    seed: int = 0,
    device: str = "auto",
) -> tuple[Validation, ...]:
    """Compare candidates by 5-fold cross-validation over cells, the best one first.

    So that it takes seconds, a fit ends early once its held-out loss has settled or is lost, and
    on a CPU a random part of a history with more than 250,000 outcomes is used. A part of the
    models supports fewer factors than all of them: for such a history a GPU chooses better.

    Args:
        history: at least two models.
        grid: candidates; `paper_grid` where None.
        seed: of the folds and of the part that is used.
        device: auto, cpu or cuda.

    Raises:
        ValueError: fewer than two models or five outcomes, or an empty grid.
        ModuleNotFoundError: torch is not installed.
    """
    _check_models(history)
    candidates = paper_grid(len(history.outcomes)) if grid is None else tuple(grid)
    if not candidates:
        raise ValueError("grid: no candidate to compare")
    place = tensors.device(device)
    from monitor.stats import factor_validation  # noqa: PLC0415 - torch is an extra

    with tensors.one_thread():
        return tuple(factor_validation.validate(history, candidates, device=place, seed=seed))


def _check_models(history: History) -> None:
    if len(history.outcomes) < 2:  # noqa: PLR2004 - see Factors.from_arrays
        raise ValueError(
            f"history: {len(history.outcomes)} model with outcomes; a factor model needs at least 2"
        )
