"""Files of earlier outcomes, checked once at the border so that all behind it can trust them.

A file is a NumPy archive (.npz, no pickles) of at least the arrays

    outcomes  models x items: integers 0, 1 and -1 for missing, or fractions with NaN for missing
    models    name of each row, each once
    items     name of each column, each once

(a back-test does without the names) and, where known, `dates` (YYYY, YYYY-MM, YYYY-MM-DD or "" for
each row), `groups` (for each column), and `pair_old`, `pair_new`, `pair_kind`: by name or number,
rows of which one came out of the other, and how. Further arrays are ignored.
"""

import calendar
import re
import zipfile
import zlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np
import numpy.typing as npt

from monitor.domain import errors

REQUIRED = ("outcomes", "models", "items")
PAIRS = ("pair_old", "pair_new", "pair_kind")
TYPES = {
    "outcomes": ("biuf", "numbers"),
    "pair_old": ("Uiu", "names or row numbers"),
    "pair_new": ("Uiu", "names or row numbers"),
}
OPTIONAL = ("dates", "groups", *PAIRS)
AXES = {"models": 0, "dates": 0, "items": 1, "groups": 1}
# What zipfile, zlib and numpy raise on bytes that are not what they should be.
UNREADABLE = (
    EOFError,
    KeyError,
    MemoryError,
    NotImplementedError,
    OSError,
    OverflowError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
    zipfile.BadZipFile,
    zlib.error,
)

Arrays = dict[str, npt.NDArray[np.generic]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two rows by name, the newer one a `kind` of the older: version, finetune, prompt, ..."""

    old: str
    new: str
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OutcomeMatrix:
    """Outcomes of M models on N items.

    outcomes: (M, N), in [0, 1], NaN where missing; read-only.
    dates: (M,), as written; "" where unknown. groups: (N,), None where the file has none.
    pairs: of rows that are both there; a file may name others.
    """

    outcomes: npt.NDArray[np.float64]
    models: tuple[str, ...]
    items: tuple[str, ...]
    dates: tuple[str, ...]
    groups: tuple[str, ...] | None
    pairs: tuple[Pair, ...] = ()


def read_outcomes(path: Path, *, needs_names: bool = True) -> OutcomeMatrix:
    """Read a file of outcomes.

    Args:
        path: the file.
        needs_names: whether `models` and `items` must be there; else rows and columns that lack
            names are called by their numbers.

    Raises:
        HistoryError: the file cannot be read or does not hold what it must; all findings at once.
    """
    arrays = read_arrays(path, REQUIRED + OPTIONAL)
    if not needs_names:
        arrays = _numbered(arrays) | arrays
    for check in (_missing_arrays, _unfit_types, _unfit_shapes, _unfit_texts, _unfit_values):
        problems = check(str(path), arrays)
        if problems:
            raise errors.HistoryError(problems)
    scores = _scores(arrays["outcomes"])
    scores.setflags(write=False)
    return OutcomeMatrix(
        outcomes=scores,
        models=_texts(arrays["models"]),
        items=_texts(arrays["items"]),
        dates=_texts(arrays["dates"]) if "dates" in arrays else ("",) * len(scores),
        groups=_texts(arrays["groups"]) if "groups" in arrays else None,
        pairs=_pairs(arrays),
    )


def write_outcomes(path: Path, matrix: OutcomeMatrix) -> None:
    """Write a file that `read_outcomes` reads back as the same matrix.

    Raises:
        OSError: the file cannot be written.
    """
    arrays = {
        "outcomes": matrix.outcomes,
        "models": np.array(matrix.models),
        "items": np.array(matrix.items),
        "dates": np.array(matrix.dates),
    }
    if matrix.groups is not None:
        arrays["groups"] = np.array(matrix.groups)
    if matrix.pairs:
        arrays["pair_old"] = np.array([pair.old for pair in matrix.pairs])
        arrays["pair_new"] = np.array([pair.new for pair in matrix.pairs])
        arrays["pair_kind"] = np.array([pair.kind for pair in matrix.pairs])
    with path.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def read_arrays(path: Path, names: Collection[str]) -> Arrays:
    """Read those arrays of an archive that it has.

    Raises:
        HistoryError: the file cannot be read.
    """
    name, todo = "", "write it with numpy.savez_compressed and plain arrays of numbers and text"
    try:
        # An archive or nothing: numpy would also open single arrays, and suggest pickles.
        with path.open("rb") as file, zipfile.ZipFile(file) as archive:
            found = {member.removesuffix(".npy") for member in archive.namelist()}
            arrays: Arrays = {}
            for name in (name for name in names if name in found):
                with archive.open(f"{name}.npy") as member:
                    arrays[name] = np.lib.format.read_array(member, allow_pickle=False)
    except FileNotFoundError:
        problem = _problem(str(path), "", "there is no such file", todo="correct the path")
        raise errors.HistoryError([problem]) from None
    except UNREADABLE as error:
        kind = type(error).__name__
        problem = _problem(str(path), name, f"cannot be read: {kind}: {error}", todo=todo)
        raise errors.HistoryError([problem]) from error
    return arrays


def last_day(written: str) -> date | None:
    """Last day that a date written as YYYY, YYYY-MM or YYYY-MM-DD may mean; None for "".

    Raises:
        ValueError: it is written otherwise, or there is no such day.
    """
    if not written:
        return None
    parts = re.fullmatch(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?", written, re.ASCII)
    if parts is None:
        raise ValueError(f"{written!r} is not YYYY, YYYY-MM or YYYY-MM-DD")
    year, month = int(parts[1]), int(parts[2] or 12)
    first = date(year, month, 1)
    return first.replace(day=int(parts[3] or calendar.monthrange(year, month)[1]))


def _numbered(arrays: Arrays) -> Arrays:
    """Names for the rows and columns of `outcomes`, if it is there and is a matrix."""
    shape = arrays["outcomes"].shape if "outcomes" in arrays else ()
    return {
        name: np.array([f"{axis} {number}" for number in range(size)])
        for name, axis, size in zip(("models", "items"), ("row", "column"), shape, strict=False)
    }


def _missing_arrays(path: str, arrays: Arrays) -> list[errors.Problem]:
    together = PAIRS if any(name in arrays for name in PAIRS) else ()
    return [
        _problem(path, name, "is missing", todo=f"add it; needed are {', '.join(needed)}")
        for needed in (REQUIRED, together)
        for name in needed
        if name not in arrays
    ]


def _unfit_types(path: str, arrays: Arrays) -> list[errors.Problem]:
    problems = []
    for name, array in arrays.items():
        kinds, wanted = TYPES.get(name, ("U", "text"))
        # An empty list becomes an array of floats.
        if array.size and array.dtype.kind not in kinds:
            what = f"holds {array.dtype}, not {wanted}"
            problems.append(_problem(path, name, what, todo=f"convert it to {wanted}"))
    return problems


def _unfit_shapes(path: str, arrays: Arrays) -> list[errors.Problem]:
    shape = arrays["outcomes"].shape
    if len(shape) != len(("models", "items")) or 0 in shape:
        what = f"has shape {shape}, not (models, items) with at least one of each"
        return [_problem(path, "outcomes", what, todo="one row a model, one column an item")]
    return [
        _problem(
            path,
            name,
            f"has shape {arrays[name].shape}, but outcomes has shape {shape}",
            todo=f"one entry for each {('row', 'column')[axis]} of outcomes",
        )
        for name, axis in AXES.items()
        if name in arrays and arrays[name].shape != (shape[axis],)
    ] + _unfit_pairs(path, arrays)


def _unfit_pairs(path: str, arrays: Arrays) -> list[errors.Problem]:
    shapes = {name: arrays[name].shape for name in PAIRS if name in arrays}
    if all(len(shape) == 1 for shape in shapes.values()) and len(set(shapes.values())) <= 1:
        return []
    what = f"have shapes {', '.join(map(str, shapes.values()))}"
    return [_problem(path, ", ".join(shapes), what, todo="one entry of each for every pair")]


def _unfit_texts(path: str, arrays: Arrays) -> list[errors.Problem]:
    problems = []
    for name in (name for name in AXES if name in arrays):
        unfit = [place for place, text in enumerate(arrays[name]) if _fails(_encode, text)]
        for place in unfit[:1]:
            where = f"{name}, {('row', 'column')[AXES[name]]} {place}"
            what = f"holds what is not a Unicode character{_more(len(unfit))}"
            problems.append(_problem(path, where, what, todo="write the text anew, in UTF-8"))
    return problems


def _unfit_values(path: str, arrays: Arrays) -> list[errors.Problem]:
    problems = _unfit_scores(path, arrays)
    for name in ("models", "items"):
        problems += _repeated(path, name, _texts(arrays[name]))
    dates = _texts(arrays["dates"]) if "dates" in arrays else ()
    unfit = [(row, text) for row, text in enumerate(dates) if _fails(last_day, text)]
    for row, text in unfit[:1]:
        where, what = f"dates, row {row}", f"{text!r} is not a date{_more(len(unfit))}"
        problems.append(_problem(path, where, what, todo='YYYY-MM-DD, YYYY-MM, YYYY or ""'))
    return problems


def _unfit_scores(path: str, arrays: Arrays) -> list[errors.Problem]:
    scores = _scores(arrays["outcomes"])
    unfit = np.argwhere(~(np.isnan(scores) | ((scores >= 0.0) & (scores <= 1.0))))
    if not len(unfit):
        return []
    row, column = unfit[0]
    where = (
        f"outcomes, row {row} (model {str(arrays['models'][row])!r}), "
        f"column {column} (item {str(arrays['items'][column])!r})"
    )
    what = f"{scores[row, column]:g} is not a score in [0, 1]{_more(len(unfit))}"
    todo = "missing is -1 in an integer array and NaN in any other"
    return [_problem(path, where, what, todo=todo)]


def _repeated(path: str, name: str, texts: Sequence[str]) -> list[errors.Problem]:
    first: dict[str, int] = {}
    again = [place for place, text in enumerate(texts) if first.setdefault(text, place) != place]
    if not again:
        return []
    text = texts[again[0]]
    axis = ("row", "column")[AXES[name]]
    where = f"{name}, {axis} {again[0]}"
    what = f"{text!r} already stands at {axis} {first[text]}{_more(len(again))}"
    return [_problem(path, where, what, todo="give each a name of its own, or leave one out")]


def _scores(outcomes: npt.NDArray[np.generic]) -> npt.NDArray[np.float64]:
    scores = outcomes.astype(np.float64)
    if outcomes.dtype.kind in "iu":
        scores[scores == -1.0] = np.nan
    return scores


def _pairs(arrays: Arrays) -> tuple[Pair, ...]:
    if PAIRS[0] not in arrays:
        return ()
    models = _texts(arrays["models"])
    named = zip(*(_names(arrays[name], models) for name in PAIRS[:2]), strict=True)
    kinds = _texts(arrays["pair_kind"])
    return tuple(
        Pair(old=old, new=new, kind=kind)
        for (old, new), kind in zip(named, kinds, strict=True)
        if old in models and new in models
    )


def _names(array: npt.NDArray[np.generic], models: Sequence[str]) -> tuple[str, ...]:
    """Names as they stand; those of numbered rows, "" for a number that is no row's."""
    if array.dtype.kind == "U":
        return _texts(array)
    names = dict(enumerate(models))
    return tuple(names.get(int(number), "") for number in array)


def _texts(array: npt.NDArray[np.generic]) -> tuple[str, ...]:
    return tuple(str(text) for text in array)


def _encode(text: object) -> bytes:
    return str(text).encode()


def _fails(parse: Callable[[str], object], text: str) -> bool:
    try:
        parse(text)
    except ValueError:
        return True
    return False


def _more(count: int) -> str:
    return f", and {count - 1} more" if count > 1 else ""


def _problem(path: str, array: str, what: str, *, todo: str) -> errors.Problem:
    where = f"{path}, array {array}" if array else path
    return errors.Problem(where=where, what=what, todo=todo)
