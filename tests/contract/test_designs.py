"""What every design keeps; that nothing is drawn twice is asked only of those that promise it."""

import itertools
from collections import Counter

import numpy as np
import pytest
from scipy import stats

from monitor.stats import sampling
from monitor.stats.designs import DESIGNS, Design
from monitor.stats.draws import Draws, ItemView
from monitor.stats.sampling import Pool
from tests.unit.stats import evaluations

POPULATION = 40
WITHOUT_REPEATS = sorted(name for name, design in DESIGNS.items() if not design.repeats)
VIEW = ItemView.from_columns(
    np.random.default_rng(0).uniform(0.005, 0.995, POPULATION),
    np.arange(POPULATION) % 3,
    dispersion=0.7,
    layout=evaluations.even_layout(POPULATION, POPULATION),
)


@pytest.fixture(name="design", params=sorted(DESIGNS))
def _design(request: pytest.FixtureRequest) -> Design:
    return DESIGNS[request.param]


def pool(seed: int = 0, size: int = POPULATION) -> Pool:
    return sampling.open_pool(np.random.default_rng(seed).integers(0, 2**53, size).tolist())


def draw_rounds(design: Design, sizes: list[int]) -> tuple[list[Draws], Pool]:
    drawn, state = [], pool()
    for size in sizes:
        found, state = design.draw(state, VIEW, size=size)
        drawn.append(found)
    return drawn, state


def test_the_same_clocks_and_view_give_the_same_bits(design: Design) -> None:
    first, _ = draw_rounds(design, [4, 9])
    second, _ = draw_rounds(design, [4, 9])
    assert [found.rows() for found in first] == [found.rows() for found in second]


def test_other_clocks_give_other_draws(design: Design) -> None:
    items = {tuple(design.draw(pool(seed), VIEW, size=10)[0].item.tolist()) for seed in range(20)}
    assert len(items) > 15


def test_every_round_has_its_size(design: Design) -> None:
    drawn, state = draw_rounds(design, [1, 5, 20])
    assert [len(found.item) for found in drawn] == [1, 5, 20]
    assert state.times_drawn.sum() == 26


def test_drawing_changes_no_pool(design: Design) -> None:
    state = pool()
    before = state.clocks.tobytes()
    design.draw(state, VIEW, size=10)
    assert state.clocks.tobytes() == before
    assert not state.times_drawn.any()


def test_columns_lie_where_they_must(design: Design) -> None:
    drawn, _ = draw_rounds(design, [4, 30])
    for row in itertools.chain.from_iterable(found.rows() for found in drawn):
        assert 0 <= row.item < POPULATION
        assert 0.0 < row.probability <= row.group_mass <= 1.0
        assert 0.0 <= row.prediction <= 1.0
        assert row.model_variance >= 0.0
        assert row.group_model_variance >= 0.0
        assert row.group_rest_prediction_sum <= row.rest_prediction_sum + 1e-9


def test_every_probability_has_a_floor(design: Design) -> None:
    view = ItemView.from_columns(
        np.array([0.5] + [0.0] * 9),
        [0] * 10,
        dispersion=1.0,
        layout=evaluations.even_layout(10, 3, strata=1),
    )
    for seed in range(20):
        drawn, _ = design.draw(pool(seed, 10), view, size=3)
        assert drawn.probability.min() >= 0.1 / 10 - 1e-12


def test_probabilities_are_frequencies(design: Design) -> None:
    small = ItemView.from_columns(
        np.array([0.02, 0.5, 0.9]),
        [0, 0, 1],
        dispersion=1.0,
        layout=evaluations.even_layout(3, 1, strata=1),
    )
    runs = 3000
    rng = np.random.default_rng(4)
    seen: Counter[int] = Counter()
    chances: dict[int, float] = {}
    for _ in range(runs):
        state = sampling.open_pool(rng.integers(0, 2**53, 3).tolist())
        row = design.draw(state, small, size=1)[0].rows()[0]
        seen[row.item] += 1
        chances[row.item] = row.probability
    assert sum(chances.values()) == pytest.approx(1.0)
    expected = [runs * chances[item] for item in sorted(chances)]
    assert stats.chisquare([seen[item] for item in sorted(seen)], expected).pvalue > 1e-3


def test_a_pool_goes_on_from_stored_draws(design: Design) -> None:
    drawn, state = draw_rounds(design, [4, 9])
    again = pool()
    for found in drawn:
        again = design.advance(again, VIEW, items=[row.item for row in found.rows()])
    assert again.clocks.tobytes() == state.clocks.tobytes()
    assert again.times_drawn.tolist() == state.times_drawn.tolist()


def test_stored_draws_hold_even_where_others_would_be_drawn_now(design: Design) -> None:
    found, _ = design.draw(pool(), VIEW, size=4)
    other = [item for item in range(POPULATION) if item not in found.item][:4]
    after = design.advance(pool(), VIEW, items=other)
    assert np.flatnonzero(after.times_drawn).tolist() == other
    assert (after.clocks >= 0.0).all()


@pytest.mark.parametrize("size", [0, -1])
def test_a_round_draws_something(design: Design, size: int) -> None:
    with pytest.raises(ValueError, match="size"):
        design.draw(pool(), VIEW, size=size)


@pytest.mark.parametrize("name", sorted(set(DESIGNS) - set(WITHOUT_REPEATS)))
def test_an_item_may_come_again(name: str) -> None:
    drawn, state = draw_rounds(DESIGNS[name], [4, 60])
    assert len(set(drawn[1].item.tolist())) < 60
    assert state.times_drawn.max() > 1


@pytest.mark.parametrize("name", WITHOUT_REPEATS)
def test_no_item_comes_twice(name: str) -> None:
    drawn, state = draw_rounds(DESIGNS[name], [4, 30, 6])
    items = [row.item for found in drawn for row in found.rows()]
    assert sorted(items) == list(range(POPULATION))
    with pytest.raises(ValueError, match="from 0 undrawn items"):
        DESIGNS[name].draw(state, VIEW, size=1)


def test_the_table_knows_designs_by_their_names() -> None:
    assert {design.name for design in DESIGNS.values()} == set(DESIGNS)
