import itertools
import math

import numpy as np
import pytest

from monitor.history import lure, trials
from monitor.history.records import Record
from tests.unit.history import recorded

SHARES = np.array([0.1, 0.4, 0.3, 0.2])
LOSSES = np.array([1.0, 0.0, 1.0, 0.5])


def records(*budgets: str, runs: int = 1, row: np.ndarray | None = None) -> tuple[Record, ...]:
    surrogate = recorded.surrogate()
    seeds = tuple(range(runs))
    return trials.run(
        recorded.trial(*budgets, design="lure", seeds=seeds, surrogate=surrogate, row=row)
    )


def probabilities(order: tuple[int, ...]) -> np.ndarray:
    """Chance of each item of an order when it was drawn."""
    left = 1.0 - np.cumsum([0.0, *SHARES[list(order[:-1])]])
    return np.asarray(SHARES[list(order)] / left)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_over_all_orders_the_mean_is_exact(size: int) -> None:
    mean = 0.0
    for order in itertools.permutations(range(4), size):
        chances = probabilities(order)
        weighted = lure.loss_weights(chances, 4) * LOSSES[list(order)]
        mean += math.prod(chances) * weighted.mean()
    assert mean == pytest.approx(LOSSES.mean())


def test_even_draws_have_weight_1() -> None:
    chances = 1.0 / (400 - np.arange(50))
    np.testing.assert_allclose(lure.loss_weights(chances, 400), np.ones(50))


def test_term_weights_sum_to_1_and_grow() -> None:
    found = lure.term_weights(50, 400)
    assert found.sum() == pytest.approx(1.0)
    assert (np.diff(found) > 0.0).all()


def test_estimates_are_right_on_average() -> None:
    found = records("60", runs=300)
    errors = [each.estimate - each.truth for each in found if each.estimate is not None]
    exact = np.mean([each.exact_variance for each in found])
    assert abs(np.mean(errors)) < 3.3 * math.sqrt(exact / 300)
    assert np.mean(np.square(errors)) == pytest.approx(exact, rel=0.33)
    assert np.mean([each.covers for each in found]) > 0.85


def test_fewer_draws_are_the_beginning_of_more() -> None:
    together = {each.budget: each for each in records("40", "90", "390")}
    (alone,) = records("40")
    assert together["40"].estimate == pytest.approx(alone.estimate)
    assert together["40"].exact_variance == pytest.approx(alone.exact_variance)
    assert together["390"].drawn_by == "census"


def test_a_census_alone_draws_nothing() -> None:
    (found,) = records("400")
    assert (found.estimate, found.exact_variance) == (found.truth, 0.0)


@pytest.mark.parametrize(
    ("budget", "row", "reason"),
    [("1", recorded.scores()[-1], "too_few_draws"), ("60", np.ones(400), "no_spread")],
)
def test_without_spread_there_is_no_interval(budget: str, row: np.ndarray, reason: str) -> None:
    (found,) = records(budget, row=row)
    assert (found.estimate, found.reason) == (None, reason)
