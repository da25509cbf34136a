import dataclasses

import numpy as np
import pytest

from monitor.stats import effective, faq_estimates
from monitor.stats.faq_estimates import Pass, Run
from monitor.stats.faq_settings import Settings

# Two draws from four items, so N q is 2 and 1.
RUN = Run(
    settings=Settings(),
    population=4,
    items=np.array([2, 0]),
    probabilities=np.array([0.5, 0.25]),
    predictions=np.array([0.5, 0.25]),
    scores=np.array([1.0, 0.0]),
    mean_predictions=np.array([0.5, 0.75]),
    exact_variances=np.array([0.25, 0.75]),
)
PASS = Pass(
    budget=2,
    probabilities=np.array([0.5, 0.5, 0.25, 0.75]),
    predictions=np.array([0.5, 0.25, 0.5, 1.0]),
    scores=np.array([1.0, 0.0, 1.0, 1.0]),
    asked=np.array([True, False, False, True]),
)


def test_the_value_is_the_mean_of_the_terms() -> None:
    assert RUN.estimate(2, level=0.95).value == np.mean([0.5 + 0.5 / 2, 0.75 - 0.25])


def test_the_variance_is_the_published_one() -> None:
    first = np.mean([0.25**2, 0.25**2])
    weighted = (1.0 / 2 + 0.0) / 2
    second = np.mean([(weighted - 0.5) ** 2, (weighted - 0.75) ** 2])
    assert first < second
    assert RUN.estimate(2, level=0.95).variance == 0.0
    level = dataclasses.replace(RUN, mean_predictions=np.array([0.25, 0.125]))
    expected = (first - np.mean([0.0, 0.125**2])) / 2
    assert level.estimate(2, level=0.95).variance == pytest.approx(expected, rel=1e-12)


def test_the_exact_variance_is_the_sum_over_the_square() -> None:
    assert RUN.estimate(2, level=0.95).exact_variance == 0.25
    assert RUN.estimate(1, level=0.95).exact_variance == 0.25


def test_an_item_drawn_again_is_not_paid_again() -> None:
    again = dataclasses.replace(RUN, items=np.array([2, 2]))
    assert (RUN.estimate(2, level=0.5).queries, again.estimate(2, level=0.5).queries) == (2, 1)


def test_the_interval_is_that_of_wald() -> None:
    run = dataclasses.replace(RUN, mean_predictions=np.array([0.25, 0.125]))
    found = run.estimate(2, level=0.2)
    margin = 0.2533471 * found.variance**0.5
    assert found.lower == pytest.approx(found.value - margin)
    assert found.upper == pytest.approx(found.value + margin)


@pytest.mark.parametrize("shift", [-3.0, 3.0])
def test_both_ends_stay_in_the_unit_interval(shift: float) -> None:
    run = dataclasses.replace(RUN, mean_predictions=RUN.mean_predictions + shift)
    found = run.estimate(2, level=0.95)
    assert found.lower == found.upper == (shift > 0)
    assert not 0.0 <= found.value <= 1.0


@pytest.mark.parametrize("n", [0, 3])
def test_there_are_only_so_many_draws(n: int) -> None:
    with pytest.raises(ValueError, match=f"must be 1 to 2, the draws of the run, not {n}"):
        RUN.estimate(n, level=0.95)


def test_where_schedules_depend_on_the_size_the_beginning_is_no_evaluation() -> None:
    run = dataclasses.replace(RUN, settings=Settings(rho=0.1))
    assert run.estimate(2, level=0.95).queries == 2
    with pytest.raises(ValueError, match="first 1 of 2 draws are not an evaluation of 1"):
        run.estimate(1, level=0.95)


def test_a_pass_counts_what_it_asked() -> None:
    found = PASS.estimate(2, level=0.95)
    assert found.queries == 2
    assert found.value == np.mean([0.5 + 0.5 / 0.5, 0.25, 0.5, 1.0])
    assert found.variance == 0.5**2 / 0.5 / 0.5 * 0.5 / 16
    odds = np.array([1.0, 1.0, 3.0, 1 / 3])
    squares = np.array([0.5, 0.25, 0.5, 0.0]) ** 2
    assert found.exact_variance == pytest.approx((odds * squares).sum() / 16, rel=1e-12)


def test_a_pass_is_of_its_budget() -> None:
    with pytest.raises(ValueError, match="planned for 2 queries, not 3"):
        PASS.estimate(3, level=0.95)


def test_the_papers_yardstick_is_above_plain_sampling_by_what_is_right() -> None:
    scores = np.repeat([1.0, 0.0], [750, 250])
    ratio = faq_estimates.uniform_variance(scores, 100) / effective.srs_variance(scores, 100)
    assert ratio == pytest.approx(1 / 0.25, rel=2e-3)
