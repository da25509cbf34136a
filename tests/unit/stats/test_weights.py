import math

import numpy as np
import pytest

from monitor.stats import weights
from monitor.stats.profiles import Profile


def test_weights_are_inverse_to_the_squared_share_that_is_left() -> None:
    found = weights.term_weights(10, 10)
    raw = [(10 / max(10 - t, 1)) ** 2 for t in range(10)]
    assert found == pytest.approx([value / sum(raw) for value in raw])


def test_the_last_tenth_weighs_alike() -> None:
    found = weights.term_weights(100, 100)
    assert found[90] == found[99]
    assert found[89] < found[90]


def test_a_profile_weighs_terms_inversely() -> None:
    profile = Profile(starts=np.array([0.0, 2.0]), levels=np.array([3.0, 1.0]))
    ratios = np.array(weights.term_weights(4, 10, profile)) / weights.term_weights(4, 10)
    assert ratios / ratios[-1] == pytest.approx([1 / 3, 1 / 3, 1.0, 1.0])


@pytest.mark.parametrize("n", [1, 7, 1203])
def test_weights_sum_to_one(n: int) -> None:
    assert math.fsum(weights.term_weights(n, 12_032)) == pytest.approx(1.0, abs=1e-15)


@pytest.mark.parametrize("n", [0, 11])
def test_more_draws_than_items_are_refused(n: int) -> None:
    with pytest.raises(ValueError, match="of 10 items"):
        weights.term_weights(n, 10)
