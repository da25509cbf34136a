"""The gate every array passes on its way in, and the one way sums are taken on the way out.

Inside the gate an array is one-dimensional, finite, of the stated length and read-only, so the
formulas behind it need no checks of their own.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


def floats(
    values: Sequence[float] | FloatArray,
    *,
    name: str,
    size: int | None = None,
    within: tuple[float, float] = (-math.inf, math.inf),
) -> FloatArray:
    """Copy `values` into a read-only float64 array.

    Args:
        values: numbers, shape (size,).
        name: what the error message calls them.
        size: required length; any where None.
        within: lowest and highest value allowed, both included.

    Raises:
        ValueError: another shape, a value that is not finite, or one outside `within`.
    """
    array = np.array(values, dtype=np.float64)
    _check_shape(array.shape, name=name, size=size)
    if not np.isfinite(array).all():
        raise ValueError(f"{name}: every value must be a finite number")
    low, high = within
    if array.size and not (low <= array.min() and array.max() <= high):
        raise ValueError(f"{name}: values must lie in [{low:g}, {high:g}]")
    array.setflags(write=False)
    return array


def integers(
    values: Sequence[int] | IntArray,
    *,
    name: str,
    size: int | None = None,
    below: int | None = None,
) -> IntArray:
    """Copy `values` into a read-only int64 array of numbers in [0, below).

    Args:
        values: whole numbers, shape (size,).
        name: what the error message calls them.
        size: required length; any where None.
        below: first number too large; none where None.

    Raises:
        ValueError: another shape, or a number outside [0, below).
    """
    array = np.array(values, dtype=np.int64)
    _check_shape(array.shape, name=name, size=size)
    if array.size and (array.min() < 0 or (below is not None and array.max() >= below)):
        raise ValueError(f"{name}: numbers must lie in [0, {'...' if below is None else below})")
    array.setflags(write=False)
    return array


def column(columns: Mapping[str, FloatArray], name: str, *, size: int | None = None) -> FloatArray:
    """Return one stored column, checked as by `floats`.

    Raises:
        ValueError: it is missing, or does not fit.
    """
    if name not in columns:
        raise ValueError(f"{name}: no such column among {sorted(columns)}")
    return floats(columns[name], name=name, size=size)


def exact_sum(values: FloatArray) -> float:
    """Return the sum rounded once, so that every machine gets the same bits."""
    return math.fsum(values.tolist())


def _check_shape(shape: tuple[int, ...], *, name: str, size: int | None) -> None:
    if len(shape) != 1 or (size is not None and shape != (size,)):
        expected = "(n,)" if size is None else f"({size},)"
        raise ValueError(f"{name}: shape must be {expected}, not {shape}")
