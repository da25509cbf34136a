import numpy as np
import pytest

from monitor.simulation import chance


def test_the_same_parts_have_the_same_luck() -> None:
    assert chance.uniform("a", 1) == chance.uniform("a", 1)
    different: list[tuple[str | int, ...]] = [("a", 1), ("a", "1"), ("a1",), (1, "a")]
    assert len({chance.uniform(*parts) for parts in different}) == 4


def test_it_is_spread_evenly() -> None:
    draws = np.array([chance.uniform("spread", index) for index in range(10_000)])
    counts, _ = np.histogram(draws, bins=10, range=(0.0, 1.0))
    # The 99.99 % quantile of chi-square with 9 degrees of freedom.
    assert ((counts - 1000) ** 2 / 1000).sum() < 33.7
    assert draws[:-1] @ draws[1:] / len(draws) == pytest.approx(0.25, abs=0.01)
