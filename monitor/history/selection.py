"""Which earlier outcomes an evaluation may learn from, brought into the order of its suite."""

import fnmatch
import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np
import numpy.typing as npt

from monitor.domain.identifiers import Digest, canonical_json
from monitor.history.outcomes import OutcomeMatrix, last_day


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class History:
    """Rows that may be learnt from, aligned to a suite.

    outcomes: (M', N), in [0, 1], NaN where missing; columns in the suite's item order.
    models: (M',), name of each row.
    """

    outcomes: npt.NDArray[np.float64]
    models: tuple[str, ...]

    @property
    def items_covered(self) -> int:
        """Number of items with an outcome of any model."""
        return int((~np.isnan(self.outcomes)).any(axis=0).sum())

    @property
    def digest(self) -> Digest:
        """SHA-256 over names, shape and float64 values, the same on every machine."""
        # Adding 0 turns -0 into 0, and one NaN stands for all of them.
        values = np.where(np.isnan(self.outcomes), np.nan, self.outcomes + 0.0)
        hashed = hashlib.sha256(canonical_json([list(self.models), list(values.shape)]))
        hashed.update(values.astype("<f8").tobytes())
        return Digest(hashed.hexdigest())


def select(
    matrix: OutcomeMatrix,
    item_ids: Sequence[str],
    *,
    before: date | None = None,
    exclude: Collection[str] = (),
    exclude_models: Collection[str] = (),
) -> History:
    """Choose rows of a matrix and bring its columns into the order of a suite.

    Rows without any outcome on the suite's items are left out.

    Args:
        matrix: earlier outcomes, by item name.
        item_ids: (N,), the suite's item ids; an item that the matrix lacks gets NaN.
        before: keep only rows that are certainly older: a row dated 2024-03 counts as of its
            last day, and a row without a date is left out. None keeps all.
        exclude: patterns of model names to leave out, as in a shell (`*`, `?`, `[a-z]`),
            case-sensitive.
        exclude_models: names to leave out as they stand, such as the version under evaluation.
    """
    column = {item: index for index, item in enumerate(matrix.items)}
    sources = np.array([column.get(item, -1) for item in item_ids], dtype=np.intp)
    aligned = np.where(sources >= 0, matrix.outcomes[:, sources], np.nan)
    rows = [
        row
        for row, (model, written) in enumerate(zip(matrix.models, matrix.dates, strict=True))
        if _is_older(written, before)
        and model not in exclude_models
        and not any(fnmatch.fnmatchcase(model, pattern) for pattern in exclude)
        and not np.isnan(aligned[row]).all()
    ]
    return History(outcomes=aligned[rows], models=tuple(matrix.models[row] for row in rows))


def stack(histories: Sequence[History]) -> History:
    """Put the rows of several histories of one suite below each other.

    Args:
        histories: one or more, all with N columns.
    """
    return History(
        outcomes=np.vstack([history.outcomes for history in histories]),
        models=tuple(model for history in histories for model in history.models),
    )


def _is_older(written: str, before: date | None) -> bool:
    if before is None:
        return True
    day = last_day(written)
    return day is not None and day < before
