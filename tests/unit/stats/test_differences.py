import math

import pytest

from monitor.stats import differences
from monitor.stats.differences import Difference, Measured


def measured(value: float, lower: float, upper: float, *, shift: float = 0.0) -> Measured:
    return Measured(
        value=value,
        lower=lower,
        upper=upper,
        lower_shift=-shift,
        upper_shift=shift,
        worst_lower=lower - shift,
        worst_upper=upper + shift,
    )


def independent(new: Measured, old: Measured, population: int = 10_000) -> Difference:
    return differences.independent(new, old, population=population)


def test_symmetric_intervals_add_their_variances() -> None:
    found = independent(measured(0.6, 0.57, 0.63), measured(0.5, 0.46, 0.54))
    assert found.value == pytest.approx(0.1)
    assert found.lower == pytest.approx(0.1 - 0.05)
    assert found.upper == pytest.approx(0.1 + 0.05)


def test_each_end_uses_the_sides_that_matter() -> None:
    found = independent(measured(0.95, 0.8, 0.97), measured(0.9, 0.7, 0.94))
    assert found.lower == pytest.approx(0.05 - math.hypot(0.15, 0.04))
    assert found.upper == pytest.approx(0.05 + math.hypot(0.02, 0.2))


def test_shifts_of_missing_answers_add_up_in_full() -> None:
    new, old = measured(0.6, 0.57, 0.63, shift=0.02), measured(0.5, 0.46, 0.54, shift=0.03)
    found = independent(new, old)
    assert found.worst_lower == pytest.approx(found.lower - 0.05)
    assert found.worst_upper == pytest.approx(found.upper + 0.05)


def test_an_estimate_beyond_its_clipped_interval_adds_no_width() -> None:
    found = independent(measured(1.02, 0.9, 1.0), measured(0.5, 0.5, 0.5))
    assert found.upper == pytest.approx(0.5)
    assert found.lower == pytest.approx(0.4)


def test_a_difference_stays_within_one() -> None:
    found = independent(measured(0.0, 0.0, 0.5), measured(1.0, 0.5, 1.0))
    assert found.lower == -1.0


def test_bounds_of_a_coarse_pool_are_subtracted() -> None:
    found = independent(measured(0.6, 0.5, 0.7), measured(0.5, 0.4, 0.6), population=100)
    assert found.lower == pytest.approx(-0.1)
    assert found.upper == pytest.approx(0.3)
