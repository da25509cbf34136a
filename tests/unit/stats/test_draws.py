import numpy as np
import pytest

from monitor.stats import draws
from monitor.stats.arrays import BoolArray, FloatArray, IntArray
from monitor.stats.draws import Draws, ItemView
from monitor.stats.stratification import Layout

POPULATION = 30


def view(seed: int = 0) -> ItemView:
    rng = np.random.default_rng(seed)
    return ItemView.from_columns(
        rng.uniform(0.05, 0.95, POPULATION), rng.integers(0, 4, POPULATION), dispersion=0.6
    )


def described(items: IntArray, shares: FloatArray, undrawn: BoolArray) -> Draws:
    return draws.describe(items, shares=shares, undrawn=undrawn, view=view())


@pytest.fixture(name="drawn")
def _drawn() -> tuple[Draws, FloatArray, BoolArray]:
    """A round of ten after five earlier draws, with its shares and R at its start."""
    rng = np.random.default_rng(1)
    order = rng.permutation(POPULATION)
    undrawn = np.full(POPULATION, fill_value=True)
    undrawn[order[:5]] = False
    shares = rng.uniform(0.1, 1.0, POPULATION) * undrawn
    return described(order[5:15], shares, undrawn), shares, undrawn


def test_columns_are_the_definitions_step_by_step(
    drawn: tuple[Draws, FloatArray, BoolArray],
) -> None:
    found, shares, rest = drawn
    known = view()
    spread = 0.6 * known.predictions * (1 - known.predictions)
    for row in found.rows():
        chances = shares / shares[rest].sum()
        variance = (spread[rest] / chances[rest]).sum() - spread[rest].sum()
        assert row.probability == pytest.approx(chances[row.item])
        assert row.prediction == known.predictions[row.item]
        assert row.rest_prediction_sum == pytest.approx(known.predictions[rest].sum())
        assert row.model_variance == pytest.approx(variance / POPULATION**2)
        rest[row.item] = False


def test_group_columns_are_the_same_inside_the_group(
    drawn: tuple[Draws, FloatArray, BoolArray],
) -> None:
    found, shares, rest = drawn
    known = view()
    spread = 0.6 * known.predictions * (1 - known.predictions)
    for row in found.rows():
        group = known.groups == known.groups[row.item]
        inside = rest & group
        chances = shares[inside] / shares[inside].sum()
        variance = (spread[inside] / chances).sum() - spread[inside].sum()
        assert row.group_mass == pytest.approx(shares[inside].sum() / shares[rest].sum())
        assert row.group_rest_prediction_sum == pytest.approx(known.predictions[inside].sum())
        assert row.group_model_variance == pytest.approx(variance / group.sum() ** 2)
        rest[row.item] = False


def test_the_last_item_is_certain() -> None:
    shares = np.random.default_rng(2).uniform(0.1, 1.0, POPULATION)
    everything = np.arange(POPULATION)
    found = described(everything, shares, np.full(POPULATION, fill_value=True))
    assert found.probability[-1] == 1.0
    assert found.model_variance[-1] == 0.0


def test_where_items_repeat_every_draw_is_from_the_whole_pool() -> None:
    shares, known = np.random.default_rng(3).uniform(0.1, 1.0, POPULATION), view()
    spread = 0.6 * known.predictions * (1 - known.predictions)
    chances = shares / shares.sum()
    found = draws.describe_independent(np.array([4, 9, 4]), shares=shares, view=known).rows()
    for row in found:
        assert row.probability == pytest.approx(chances[row.item])
        assert row.prediction == known.predictions[row.item]
        assert row.rest_prediction_sum == pytest.approx(known.predictions.sum())
        variance = (spread / chances).sum() - spread.sum()
        assert row.model_variance == pytest.approx(variance / POPULATION**2)
    assert [row.item for row in found] == [4, 9, 4]
    assert found[0] == found[2]


def test_where_items_repeat_group_columns_are_those_of_the_whole_group() -> None:
    shares, known = np.random.default_rng(3).uniform(0.1, 1.0, POPULATION), view()
    spread = 0.6 * known.predictions * (1 - known.predictions)
    for row in draws.describe_independent(np.array([4, 9]), shares=shares, view=known).rows():
        group = known.groups == known.groups[row.item]
        chances = shares[group] / shares[group].sum()
        variance = (spread[group] / chances).sum() - spread[group].sum()
        assert row.group_mass == pytest.approx(shares[group].sum() / shares.sum())
        assert row.group_rest_prediction_sum == pytest.approx(known.predictions[group].sum())
        assert row.group_model_variance == pytest.approx(variance / group.sum() ** 2)


def test_rows_are_plain_numbers(drawn: tuple[Draws, FloatArray, BoolArray]) -> None:
    row = drawn[0].rows()[0]
    assert type(row.item) is int
    assert type(row.probability) is float


@pytest.mark.parametrize("dispersion", [0.0, 1.5])
def test_a_dispersion_out_of_range_is_refused(dispersion: float) -> None:
    with pytest.raises(ValueError, match="dispersion"):
        ItemView.from_columns(np.full(2, 0.5), [0, 0], dispersion=dispersion)


def test_draws_from_strata_have_the_chance_of_their_stratum() -> None:
    known, layout = view(), Layout(labels=np.arange(POPULATION) % 3, draws=np.array([2, 4, 10]))
    items = np.array([3, 4, 29])
    for row in draws.describe_stratified(items, layout=layout, view=known).rows():
        stratum = layout.labels == row.item % 3
        group = stratum & (known.groups == known.groups[row.item])
        assert row.probability == layout.draws[row.item % 3] / 10
        assert row.prediction == known.predictions[row.item]
        assert row.rest_prediction_sum == pytest.approx(known.predictions[stratum].sum())
        assert row.group_rest_prediction_sum == pytest.approx(known.predictions[group].sum())
        assert (row.model_variance, row.group_model_variance, row.group_mass) == (0.0, 0.0, 1.0)


def test_strata_of_another_pool_are_refused() -> None:
    layout = Layout.from_columns(labels=[0, 0, 0], draws=[1])
    with pytest.raises(ValueError, match="layout: 3 items, the pool has 2"):
        ItemView.from_columns(np.full(2, 0.5), [0, 0], dispersion=1.0, layout=layout)
