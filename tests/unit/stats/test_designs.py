import numpy as np
import pytest

from monitor.stats import sampling
from monitor.stats.designs import Simple, WithoutReplacement, WithReplacement
from monitor.stats.draws import ItemView
from monitor.stats.sampling import Pool

VIEW = ItemView.from_columns(np.array([0.5, 0.1, 0.9, 0.02]), [0, 0, 1, 1], dispersion=0.5)


def pool(seed: int = 0) -> Pool:
    return sampling.open_pool(np.random.default_rng(seed).integers(0, 2**53, 4).tolist())


def test_simple_draws_by_the_clocks_alone() -> None:
    drawn, _ = Simple().draw(pool(), VIEW, size=4)
    assert drawn.item.tolist() == np.argsort(pool().clocks).tolist()
    assert drawn.probability.tolist() == [1 / 4, 1 / 3, 1 / 2, 1.0]


def test_simple_stores_no_prediction() -> None:
    drawn, _ = Simple().draw(pool(), VIEW, size=3)
    assert not drawn.prediction.any()
    assert not drawn.rest_prediction_sum.any()
    assert not drawn.model_variance.any()


def test_uncertain_items_have_the_larger_shares() -> None:
    deviations = np.array([0.5, 0.3, 0.3, 0.14])
    expected = 0.9 * deviations / deviations.sum() + 0.025
    assert WithoutReplacement().shares(pool(), VIEW) == pytest.approx(expected)


def test_shares_are_made_anew_over_what_is_left() -> None:
    _, after = WithoutReplacement().draw(pool(), VIEW, size=2)
    shares = WithoutReplacement().shares(after, VIEW)
    assert shares.sum() == pytest.approx(1.0)
    assert not shares[~after.undrawn].any()


def test_with_replacement_the_shares_stay_those_of_the_whole_pool() -> None:
    before = WithReplacement().shares(pool(), VIEW)
    _, after = WithReplacement().draw(pool(), VIEW, size=6)
    assert WithReplacement().shares(after, VIEW).tolist() == before.tolist()
    assert before.tolist() == WithoutReplacement().shares(pool(), VIEW).tolist()
