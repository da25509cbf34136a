import pytest
from scipy import stats

from monitor.stats import quantiles


@pytest.mark.parametrize("degrees", [12.5, 30.0, 1e4])
def test_the_student_quantile_is_two_sided(degrees: float) -> None:
    found = quantiles.student_quantile(degrees, level=0.95)
    assert found == pytest.approx(stats.t.ppf(0.975, degrees))


def test_the_normal_quantile_is_two_sided() -> None:
    assert quantiles.normal_quantile(level=0.9) == pytest.approx(stats.norm.ppf(0.95))


def test_nothing_seen_has_a_closed_form() -> None:
    found = quantiles.binomial_upper_bound(0, 30, tail=0.025)
    assert found == pytest.approx(1 - 0.025 ** (1 / 30), abs=1e-6)
    assert found >= 1 - 0.025 ** (1 / 30)


def test_the_binomial_bound_leaves_its_tail() -> None:
    found = quantiles.binomial_upper_bound(2, 40, tail=0.05)
    assert stats.binom.cdf(2, 40, found) == pytest.approx(0.05, abs=1e-4)
    assert stats.binom.cdf(2, 40, found) <= 0.05


def test_nothing_is_ruled_out_where_every_trial_succeeded() -> None:
    assert quantiles.binomial_upper_bound(3, 3, tail=0.025) == 1.0
