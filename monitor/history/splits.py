"""Who is evaluated in a back-test, and from whose outcomes: never from those of its own family.

symbol   name               shape
M        rows of the file
family   label of a row     (M,), see `families`
rank     place in time      (M,), equal for equal dates; None where it is unknown
"""

import enum
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, assert_never

import numpy as np

from monitor.domain import errors
from monitor.history import families
from monitor.history.outcomes import OutcomeMatrix, last_day

MOST_FOLDS: Final = 5


class SplitKind(enum.StrEnum):
    """How targets are told from history.

    DATE: the newer half are targets, the older half is history.
    MODEL: each model is a target once, the models of the other folds are history.
    PAIRS: the newer versions of named pairs are targets, what is not newer is history.
    """

    DATE = "date"
    MODEL = "model"
    PAIRS = "pairs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """Rows that are evaluated, and the rows that may be learnt from for it, oldest first."""

    targets: tuple[int, ...]
    history: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Folds whose targets are distinct, and what the user should know of how they came about.

    families: (M,) label of each row.
    """

    folds: tuple[Fold, ...]
    families: tuple[int, ...]
    remarks: tuple[str, ...] = ()


def split(matrix: OutcomeMatrix, kind: SplitKind, *, seed: int) -> Split:
    """Divide the rows of a file.

    Args:
        matrix: recorded outcomes.
        kind: how.
        seed: of the folds of `SplitKind.MODEL`.

    Raises:
        UsageError: there are no targets, or no history.
    """
    labels = families.label_families(matrix.models, matrix.pairs)
    ranks, remarks = _ranks(matrix.dates)
    match kind:
        case SplitKind.DATE:
            folds = _by_date(labels, ranks)
        case SplitKind.MODEL:
            folds = _by_model(labels, ranks, seed=seed)
            remarks = ()
        case SplitKind.PAIRS:
            folds = _by_pairs(matrix, labels, ranks)
        case _:
            assert_never(kind)
    _check(folds, kind)
    return Split(folds=folds, families=labels, remarks=remarks)


def every_row(matrix: OutcomeMatrix) -> Split:
    """Every row a target and no history: for a model of the items that was fitted elsewhere."""
    rows = tuple(range(len(matrix.models)))
    return Split(
        folds=(Fold(targets=rows, history=()),),
        families=families.label_families(matrix.models, matrix.pairs),
    )


def _check(folds: Sequence[Fold], kind: SplitKind) -> None:
    if not any(fold.targets for fold in folds):
        todo = "another --split, or a file with pair_old, pair_new and pair_kind"
        if kind is not SplitKind.PAIRS:
            todo = "a file of at least two models"
        raise errors.UsageError(f"--split {kind}: there is no target in the file; needed: {todo}")
    if not any(fold.history for fold in folds):
        raise errors.UsageError(
            f"--split {kind}: no target has a model of another family as history; needed: another "
            "--split, or a file of more models"
        )


def _by_date(labels: Sequence[int], ranks: Sequence[int | None]) -> tuple[Fold, ...]:
    rows = _oldest_first(ranks)
    older, newer = rows[: len(rows) // 2], rows[len(rows) // 2 :]
    return (Fold(targets=newer, history=_others(older, labels, targets=newer)),)


def _by_model(labels: Sequence[int], ranks: Sequence[int | None], *, seed: int) -> tuple[Fold, ...]:
    """Whole families go into at most `MOST_FOLDS` folds, at random."""
    distinct = sorted(set(labels))
    order = np.random.default_rng(seed).permutation(len(distinct))
    count = min(MOST_FOLDS, len(distinct))
    fold_of = {distinct[index]: place % count for place, index in enumerate(order.tolist())}
    undated = tuple(row for row, rank in enumerate(ranks) if rank is None)
    rows = undated + _oldest_first(ranks)
    folds = [
        tuple(row for row, label in enumerate(labels) if fold_of[label] == number)
        for number in range(count)
    ]
    return tuple(
        Fold(targets=targets, history=_others(rows, labels, targets=targets)) for targets in folds
    )


def _by_pairs(
    matrix: OutcomeMatrix, labels: Sequence[int], ranks: Sequence[int | None]
) -> tuple[Fold, ...]:
    """One fold for each new version of another model, with what is dated on or before it."""
    row_of = {name: row for row, name in enumerate(matrix.models)}
    named = {row_of[pair.new] for pair in matrix.pairs if pair.kind not in families.SAME_MODEL}
    folds = []
    for target in sorted(named):
        newest = ranks[target]
        if newest is not None:
            before = tuple(row for row in _oldest_first(ranks) if (ranks[row] or 0) <= newest)
            history = _others(before, labels, targets=(target,))
            folds.append(Fold(targets=(target,), history=history))
    return tuple(folds)


def _others(
    rows: Sequence[int], labels: Sequence[int], *, targets: Sequence[int]
) -> tuple[int, ...]:
    """Return the rows of no target's family."""
    taken = {labels[target] for target in targets}
    return tuple(row for row in rows if labels[row] not in taken)


def _oldest_first(ranks: Sequence[int | None]) -> tuple[int, ...]:
    dated = [(rank, row) for row, rank in enumerate(ranks) if rank is not None]
    return tuple(row for _, row in sorted(dated))


def _ranks(dates: Sequence[str]) -> tuple[tuple[int | None, ...], tuple[str, ...]]:
    """Rank rows by date; where the file is in order already, its order dates the undated too."""
    dated = [_days(written) for written in dates if written]
    undated = len(dates) - len(dated)
    if not dated:
        return tuple(range(len(dates))), ()
    if _is_in_order(dated):
        remark = f"{undated} undated rows are taken to be as old as the dated ones before them"
        return tuple(_ranks_in_order(dates)), (remark,) if undated else ()
    remark = f"{undated} undated rows are left out, since the dated ones are not in order"
    place = {written: number for number, written in enumerate(sorted({*dates} - {""}, key=_days))}
    return tuple(place.get(written) for written in dates), (remark,) if undated else ()


def _ranks_in_order(dates: Sequence[str]) -> Iterator[int]:
    first: dict[str, int] = {}
    rank = 0
    for row, written in enumerate(dates):
        if written:
            rank = first.setdefault(written, row)
        yield rank


def _is_in_order(days: Sequence[tuple[str, str]]) -> bool:
    """Whether no row is certainly older than one before it."""
    latest = ""
    for last, begun in days:
        if last < latest:
            return False
        latest = max(latest, begun)
    return True


def _days(written: str) -> tuple[str, str]:
    """Last and first day that a date may mean, as texts that sort."""
    return str(last_day(written)), (written + "-01-01")[: len("2024-01-01")]
