"""Which earlier outcomes an evaluation may learn from, brought into the order of its suite."""

import fnmatch
import hashlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np
import numpy.typing as npt

from monitor.domain.identifiers import Digest, canonical_json
from monitor.history.families import label_families
from monitor.history.outcomes import OutcomeMatrix, Pair, last_day


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class History:
    """Rows that may be learnt from, aligned to a suite.

    outcomes: (M', N), in [0, 1], NaN where missing; columns in the suite's item order.
    models: (M',), name of each row. dates: (M',), as written; "" where unknown.
    pairs: of rows that may be one model in two settings.
    """

    outcomes: npt.NDArray[np.float64]
    models: tuple[str, ...]
    dates: tuple[str, ...]
    pairs: tuple[Pair, ...] = ()

    @property
    def families(self) -> tuple[int, ...]:
        """Label of each row; rows with one label are one model in several settings."""
        return label_families(self.models, self.pairs)

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
        exclude_models: names to leave out as they stand, such as the version under evaluation,
            each with what is the same model in another setting.
    """
    column = {item: index for index, item in enumerate(matrix.items)}
    sources = np.array([column.get(item, -1) for item in item_ids], dtype=np.intp)
    aligned = np.where(sources >= 0, matrix.outcomes[:, sources], np.nan)
    labels = label_families((*matrix.models, *exclude_models), matrix.pairs)
    excluded = set(labels[len(matrix.models) :])
    rows = [
        row
        for row, (model, written) in enumerate(zip(matrix.models, matrix.dates, strict=True))
        if _is_older(written, before)
        and labels[row] not in excluded
        and not any(fnmatch.fnmatchcase(model, pattern) for pattern in exclude)
        and not np.isnan(aligned[row]).all()
    ]
    return History(
        outcomes=aligned[rows],
        models=tuple(matrix.models[row] for row in rows),
        dates=tuple(matrix.dates[row] for row in rows),
        pairs=matrix.pairs,
    )


def stack(histories: Sequence[History]) -> History:
    """Put the rows of several histories of one suite below each other, the oldest first.

    A row without a date stays behind the one that it follows.

    Args:
        histories: one or more, all with N columns.
    """
    outcomes = np.vstack([history.outcomes for history in histories])
    models = [model for history in histories for model in history.models]
    dates = [written for history in histories for written in history.dates]
    days = [day for history in histories for day in _days(history.dates)]
    order = sorted(range(len(days)), key=days.__getitem__)
    return History(
        outcomes=outcomes[order],
        models=tuple(models[row] for row in order),
        dates=tuple(dates[row] for row in order),
        pairs=tuple(pair for history in histories for pair in history.pairs),
    )


def _days(dates: Iterable[str]) -> Iterator[date]:
    """The day of each row; without a date, that of the row before it."""
    day = date.min
    for written in dates:
        day = last_day(written) or day
        yield day


def _is_older(written: str, before: date | None) -> bool:
    if before is None:
        return True
    day = last_day(written)
    return day is not None and day < before
