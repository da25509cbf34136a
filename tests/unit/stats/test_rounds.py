import hypothesis
import pytest
from hypothesis import strategies as st

from monitor.stats import rounds


def test_rounds_start_at_two_and_grow_by_an_eighth() -> None:
    sizes = rounds.round_sizes(60)
    assert sizes == (*[2] * 12, 3, 3, 3, 4, 4, 5, 5, 6, 3)


@hypothesis.given(n=st.integers(1, 5000), first=st.integers(1, 20))
def test_rounds_sum_to_the_number_of_draws(n: int, first: int) -> None:
    sizes = rounds.round_sizes(n, first=first)
    assert sum(sizes) == n
    assert min(sizes) >= 1


@pytest.mark.parametrize(("n", "first"), [(0, 4), (10, 0)])
def test_empty_rounds_are_refused(n: int, first: int) -> None:
    with pytest.raises(ValueError, match="rounds"):
        rounds.round_sizes(n, first=first)


@pytest.mark.parametrize(("n", "census"), [(95, False), (96, True), (100, True)])
def test_a_census_is_more_than_nineteen_twentieths(n: int, *, census: bool) -> None:
    assert rounds.is_census(n, 100) is census
