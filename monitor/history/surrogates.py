"""Recorded models as surrogates: their repeated answers tell which items are hard."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, assert_never

import numpy as np

from monitor.domain import errors
from monitor.history import recorded_signals, repeats
from monitor.history.outcomes import OutcomeMatrix
from monitor.history.repeats import Samples
from monitor.stats import signals
from monitor.stats.arrays import IntArray
from monitor.stats.signals import Signal

FORMS: Final = "row:MODEL, row:MODEL,row:MODEL, auto, auto:COUNT or FILE.npz"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """The rows of these names, averaged."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EveryRow:
    """Every row of the most repeated answers in turn, or averages of so many of them."""

    together: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSignal:
    """A file of the arrays `entropy`, `consistency`, `single` and perhaps `pass_rate`, (N,)."""

    path: Path


Wish = Rows | EveryRow | StoredSignal


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Surrogate:
    """What some rows, or a file, tell of the items.

    number: place among all surrogates of a back-test; it sets their draws apart.
    rows: whose answers the signal was made from; empty for a file.
    """

    name: str
    number: int
    rows: tuple[int, ...]
    signal: Signal

    def of_items(self, items: IntArray) -> "Surrogate":
        """Return the surrogate of a pool that holds these items only, in this order."""
        return replace(self, signal=recorded_signals.of_items(self.signal, items))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Recorded:
    """What surrogates are made from.

    samples: (M, N, K), None where only pass rates were recorded.
    """

    matrix: OutcomeMatrix
    samples: Samples | None
    seed: int


def parse_wish(written: str) -> Wish:
    """Read what `--surrogate` was given.

    Raises:
        UsageError: it has none of the forms.
    """
    if every := re.fullmatch(r"auto(?::([1-9]\d*))?", written, re.ASCII):
        return EveryRow(together=int(every[1] or 1))
    parts = [part.strip() for part in written.split(",row:")]
    if parts[0].startswith("row:"):
        return Rows(names=(parts[0].removeprefix("row:"), *parts[1:]))
    if written.endswith(".npz"):
        return StoredSignal(path=Path(written))
    raise errors.UsageError(f"--surrogate {written!r}: must be {FORMS}")


def find(recorded: Recorded, wish: Wish) -> tuple[Surrogate, ...]:
    """Return the surrogates that were wished for.

    Raises:
        UsageError: there is no such row.
        HistoryError: the file cannot be read, or does not fit.
    """
    match wish:
        case Rows():
            rows = [_row(recorded.matrix, name) for name in wish.names]
            return (_of_rows(recorded, rows, number=0),)
        case EveryRow():
            dealt = _deal(_repeated_rows(recorded), wish.together)
            return tuple(
                _of_rows(recorded, rows, number=number) for number, rows in enumerate(dealt)
            )
        case StoredSignal():
            signal = recorded_signals.read_signal(wish.path, len(recorded.matrix.items))
            return (Surrogate(name=str(wish.path), number=0, rows=(), signal=signal),)
        case _:
            assert_never(wish)


def unrelated(
    surrogates: Sequence[Surrogate],
    target: int,
    *,
    families: Sequence[int],
    models: Sequence[str],
    same_prefix: int = 0,
) -> tuple[Surrogate, ...]:
    """Return the surrogates that a row may be evaluated with: those made from none of its kin.

    Args:
        surrogates: to choose from.
        target: row.
        families: (M,) label of each row; rows with one label are one model in several settings.
        models: (M,) name of each row.
        same_prefix: rows whose names begin with so many equal characters are kin too; 0 for none.
    """

    def is_kin(row: int) -> bool:
        alike = models[row][:same_prefix] == models[target][:same_prefix]
        return families[row] == families[target] or bool(same_prefix and alike)

    return tuple(each for each in surrogates if not any(map(is_kin, each.rows)))


def shuffle(surrogate: Surrogate, *, seed: int) -> Surrogate:
    """Return the surrogate with its signal given to the items in random order: a useless one."""
    population = surrogate.signal.population
    order = np.random.default_rng([seed, surrogate.number]).permutation(population)
    return surrogate.of_items(order)


def _row(matrix: OutcomeMatrix, name: str) -> int:
    if name not in matrix.models:
        raise errors.UsageError(f"--surrogate row:{name}: the outcomes have no model of this name")
    return matrix.models.index(name)


def _repeated_rows(recorded: Recorded) -> list[int]:
    """Return the rows whose usual number of answers an item is the largest there is."""
    if recorded.samples is None:
        return list(range(len(recorded.matrix.models)))
    asked = np.median((recorded.samples != repeats.NONE).sum(axis=2), axis=1)
    return np.flatnonzero(asked == asked.max()).tolist()


def _deal(rows: Sequence[int], together: int) -> list[Sequence[int]]:
    """Deal the rows round into sets of `together` or more: kin are neighbours in a file."""
    count = max(1, len(rows) // together)
    return [rows[start::count] for start in range(count)]


def _of_rows(recorded: Recorded, rows: Sequence[int], *, number: int) -> Surrogate:
    return Surrogate(
        name=", ".join(recorded.matrix.models[row] for row in rows),
        number=number,
        rows=tuple(rows),
        signal=signals.average([_of_row(recorded, row) for row in rows]),
    )


def _of_row(recorded: Recorded, row: int) -> Signal:
    if recorded.samples is None:
        return recorded_signals.of_pass_rates(recorded.matrix.outcomes[row])
    answers = recorded.samples[row]
    return recorded_signals.of_answers(
        (answers == repeats.RIGHT).sum(axis=1),
        (answers != repeats.NONE).sum(axis=1),
        np.random.default_rng([recorded.seed, row]),
    )
