import math

import numpy as np
import pytest

from monitor.stats import arrays


def test_floats_are_copied_and_read_only() -> None:
    source = np.array([1.0, 2.0])
    array = arrays.floats(source, name="x")
    source[0] = 9.0
    assert array.tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 3.0


@pytest.mark.parametrize("bad", [math.nan, math.inf, -0.1, 1.1])
def test_floats_outside_their_range_are_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="scores"):
        arrays.floats([0.5, bad], name="scores", within=(0.0, 1.0))


def test_floats_of_another_length_are_refused() -> None:
    with pytest.raises(ValueError, match=r"scores: shape must be \(3,\), not \(2,\)"):
        arrays.floats([0.0, 1.0], name="scores", size=3)


@pytest.mark.parametrize("bad", [-1, 4])
def test_integers_outside_their_range_are_refused(bad: int) -> None:
    with pytest.raises(ValueError, match=r"items: numbers must lie in \[0, 4\)"):
        arrays.integers([bad], name="items", below=4)


def test_a_missing_column_is_named() -> None:
    with pytest.raises(ValueError, match="prior: no such column among"):
        arrays.column({"feature": np.zeros(2)}, "prior")


def test_sums_are_rounded_once() -> None:
    assert arrays.exact_sum(np.array([1e16, 1.0, -1e16])) == 1.0
