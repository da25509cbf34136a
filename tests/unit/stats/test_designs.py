import numpy as np
import pytest

from monitor.stats import sampling
from monitor.stats.designs import Simple, Stratified, WithoutReplacement, WithReplacement
from monitor.stats.draws import ItemView
from monitor.stats.sampling import Pool
from monitor.stats.stratification import Layout

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


STRATA = ItemView.from_columns(
    np.full(9, 0.5),
    [0] * 9,
    dispersion=1.0,
    layout=Layout.from_columns(labels=[0, 0, 0, 0, 0, 1, 1, 1, 1], draws=[3, 2]),
)


def nine(seed: int) -> Pool:
    return sampling.open_pool(np.random.default_rng(seed).integers(0, 2**53, 9).tolist())


def test_strata_give_their_planned_draws_by_the_clocks() -> None:
    drawn, _ = Stratified().draw(nine(0), STRATA, size=5)
    order = np.argsort(nine(0).clocks)
    expected = {*order[order < 5][:3].tolist(), *order[order >= 5][:2].tolist()}
    assert set(drawn.item.tolist()) == expected


def test_every_item_of_a_stratum_is_drawn_as_often_as_its_probability_says() -> None:
    counts = np.zeros(9)
    for seed in range(3000):
        drawn, _ = Stratified().draw(nine(seed), STRATA, size=5)
        counts[drawn.item] += 1
        assert drawn.probability.tolist() == np.where(drawn.item < 5, 0.6, 0.5).tolist()
    assert counts[:5] == pytest.approx(1800, abs=4 * (3000 * 0.6 * 0.4) ** 0.5)
    assert counts[5:] == pytest.approx(1500, abs=4 * (3000 * 0.5 * 0.5) ** 0.5)


def test_rounds_of_strata_draw_what_one_round_would() -> None:
    whole, _ = Stratified().draw(nine(1), STRATA, size=5)
    first, after = Stratified().draw(nine(1), STRATA, size=2)
    rest, _ = Stratified().draw(after, STRATA, size=3)
    assert whole.item.tolist() == [*first.item.tolist(), *rest.item.tolist()]


def test_strata_give_no_more_than_planned() -> None:
    _, after = Stratified().draw(nine(1), STRATA, size=5)
    assert not Stratified().shares(after, STRATA).any()
    with pytest.raises(ValueError, match="a round of 1 from 0 undrawn items"):
        Stratified().draw(after, STRATA, size=1)


def test_no_stratum_comes_first() -> None:
    firsts = [Stratified().draw(nine(seed), STRATA, size=5)[0].item[0] < 5 for seed in range(300)]
    assert 100 < sum(firsts) < 250


def test_without_strata_none_are_drawn_from() -> None:
    with pytest.raises(ValueError, match="layout"):
        Stratified().draw(pool(), VIEW, size=1)
