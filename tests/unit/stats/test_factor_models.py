import numpy as np
import pytest
from scipy import special

from monitor.stats import factor_models
from monitor.stats.answers import History
from monitor.stats.arrays import FloatArray
from monitor.stats.factor_models import Factors
from monitor.stats.factor_settings import FactorSettings

QUICK = FactorSettings(k=2, decay=1.0, steps=300)


def low_rank(models: int = 30, items: int = 200, *, observed: float = 1.0) -> History:
    """Outcomes of a model with two factors; cells missing at random."""
    rng = np.random.default_rng(0)
    logits = 2.0 * rng.normal(size=(models, 2)) @ rng.normal(size=(2, items))
    outcomes = (rng.random(logits.shape) < special.expit(logits)).astype(np.float64)
    outcomes[rng.random(logits.shape) >= observed] = np.nan
    return History.from_matrix(outcomes)


def predicted(factors: Factors) -> FloatArray:
    chances: FloatArray = special.expit(factors.models.astype(np.float64) @ factors.items.T)
    return chances


def test_the_prior_of_a_new_model_is_how_the_earlier_ones_are_spread() -> None:
    rows = np.random.default_rng(0).normal(size=(9, 3))
    mean, covariance = Factors.from_arrays(rows, np.ones((4, 3))).prior
    assert np.allclose(mean, rows.mean(axis=0), atol=1e-6)
    assert np.allclose(covariance, np.cov(rows.T), atol=1e-6)


def test_one_factor_has_a_prior_of_the_same_shape() -> None:
    mean, covariance = Factors.from_arrays([[0.0], [2.0]], [[1.0]]).prior
    assert (mean.tolist(), covariance.tolist()) == ([1.0], [[2.0]])


def test_factors_of_some_items_keep_their_order() -> None:
    factors = Factors.from_arrays(np.ones((2, 1)), [[1.0], [2.0], [3.0]])
    assert factors.of_items(np.array([2, 0])).items.tolist() == [[3.0], [1.0]]


@pytest.mark.parametrize(
    ("models", "items", "message"),
    [
        ([1.0, 2.0], [[1.0]], r"U: shape must be \(rows, factors\), not \(2,\)"),
        ([[1.0], [2.0]], np.empty((0, 1)), "V: shape must be"),
        ([[1.0], [np.nan]], [[1.0]], "U: every value must be a finite number"),
        ([[1.0], [2.0]], [[1.0, 2.0]], "U has 1 factors, V has 2"),
        ([[1.0]], [[1.0]], "U: one model says nothing"),
    ],
)
def test_factors_must_fit_together(models: object, items: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Factors.from_arrays(np.array(models), np.array(items))


def test_it_finds_what_the_outcomes_were_made_of() -> None:
    history = low_rank()
    inside = predicted(factor_models.fit(history, QUICK, device="cpu"))
    assert np.mean((inside > 0.5) == history.outcomes) > 0.75


def test_missing_cells_are_predicted_from_the_others() -> None:
    whole, seen = low_rank(), low_rank(observed=0.8)
    hidden = ~seen.observed
    guessed = predicted(factor_models.fit(seen, QUICK, device="cpu"))[hidden] > 0.5
    assert np.mean(guessed == whole.outcomes[hidden]) > 0.7


def test_fractional_scores_stay_fractional() -> None:
    history = History.from_matrix(np.full((6, 10), 0.3))
    factors = factor_models.fit(history, FactorSettings(k=2, decay=0.0), device="cpu")
    assert np.allclose(predicted(factors), 0.3, atol=0.01)


def test_the_same_seed_gives_the_same_factors() -> None:
    first, again = (factor_models.fit(low_rank(), QUICK, device="cpu") for _ in range(2))
    other = factor_models.fit(low_rank(), FactorSettings(k=2, decay=1.0, steps=300, seed=1))
    assert np.array_equal(first.items, again.items)
    assert not np.array_equal(first.items, other.items)


@pytest.mark.parametrize("models", [0, 1])
def test_one_model_is_not_enough(models: int) -> None:
    history = History.from_matrix(np.ones((models, 5)))
    with pytest.raises(ValueError, match=f"history: {models} model with outcomes"):
        factor_models.fit(history, QUICK)
    with pytest.raises(ValueError, match="needs at least 2"):
        factor_models.cross_validate(history)


def test_cross_validation_finds_the_complexity() -> None:
    grid = [
        FactorSettings(k=k, decay=decay, steps=600)
        for k, decay in ((2, 1.0), (16, 0.0), (2, 100.0))
    ]
    found = factor_models.cross_validate(low_rank(), grid, device="cpu")
    assert found[0].settings == grid[0]
    assert [each.loss for each in found] == sorted(each.loss for each in found)


def test_a_grid_must_hold_a_candidate() -> None:
    with pytest.raises(ValueError, match="grid: no candidate"):
        factor_models.cross_validate(low_rank(), [])


@pytest.mark.parametrize(("models", "ranks"), [(100, {8, 16, 32, 64}), (20, {8, 16}), (3, {3})])
def test_the_grid_has_no_more_factors_than_models(models: int, ranks: set[int]) -> None:
    assert {each.k for each in factor_models.paper_grid(models)} == ranks
