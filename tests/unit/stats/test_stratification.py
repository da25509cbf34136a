import itertools

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from monitor.stats import stratification
from monitor.stats.signals import Signal
from monitor.stats.stratification import Allocation, Layout, Settings

PUBLISHED = Settings(refined=False)


def signal(population: int, *, seed: int = 0, graded: bool = True, draws: int = 10) -> Signal:
    """Answers of a surrogate that is right, or wrong in one of three ways."""
    rng = np.random.default_rng(seed)
    right = rng.binomial(draws, rng.beta(1.0, 0.8, population))
    wrong = rng.multinomial(draws - right, [0.5, 0.3, 0.2])
    shares = np.column_stack([right, wrong]) / draws
    logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
    return Signal.from_columns(
        entropy=np.abs((shares * logs).sum(axis=1)),
        consistency=shares.max(axis=1),
        single=shares.max(axis=1) == 1.0,
        pass_rate=right / draws if graded else None,
    )


def silent(population: int) -> Signal:
    """One answer an item, ungraded: nothing is known."""
    ones = np.ones(population)
    return Signal.from_columns(entropy=ones * 0.0, consistency=ones, single=ones > 0)


@hypothesis.given(
    st.integers(1, 300),
    st.floats(0.0, 1.0),
    st.sampled_from([1, 3, 10]),
    st.sampled_from([Settings(), PUBLISHED]),
)
def test_every_budget_is_laid_out(
    population: int, share: float, answers: int, settings: Settings
) -> None:
    n = 1 + round(share * (population - 1))
    layout = stratification.lay_out(signal(population, draws=answers), n, settings)
    checked = Layout.from_columns(labels=layout.labels, draws=layout.draws)
    assert checked.draws.sum() == n
    assert len(checked.draws) == 1 or min(checked.sizes) >= 10
    assert (checked.draws >= min(2, n)).all()


def test_published_strata_are_the_single_items_and_equal_counts_by_entropy() -> None:
    entropy = np.concatenate([np.zeros(30), np.linspace(0.3, 2.3, 80)])
    known = Signal.from_columns(
        entropy=entropy, consistency=np.full(110, 0.5), single=entropy == 0.0
    )
    layout = stratification.lay_out(known, 50, PUBLISHED)
    assert layout.labels.tolist() == np.repeat([0, 1, 2, 3, 4], [30, 20, 20, 20, 20]).tolist()


def test_an_entropy_at_the_edge_of_two_strata_goes_to_the_upper() -> None:
    entropy = np.repeat([0.5, 1.0, 1.5], [20, 10, 20])
    known = Signal.from_columns(
        entropy=entropy, consistency=np.full(50, 0.5), single=np.zeros(50, dtype=np.bool_)
    )
    layout = stratification.lay_out(known, 20, Settings(strata=3, refined=False))
    assert layout.labels.tolist() == np.repeat([0, 1], [20, 30]).tolist()


@pytest.mark.parametrize("few", [3, 9])
def test_small_strata_join_a_neighbour(few: int) -> None:
    entropy = np.concatenate([np.zeros(few), np.linspace(0.3, 2.3, 80)])
    known = Signal.from_columns(
        entropy=entropy, consistency=np.full(80 + few, 0.5), single=entropy == 0.0
    )
    assert stratification.lay_out(known, 50, PUBLISHED).sizes.tolist() == [20 + few, 20, 20, 20]


@pytest.mark.parametrize("settings", [Settings(), PUBLISHED])
def test_a_surrogate_that_tells_nothing_gives_one_stratum(settings: Settings) -> None:
    layout = stratification.lay_out(silent(100), 30, settings)
    assert layout.draws.tolist() == [30]


def test_cells_lie_in_the_order_of_the_pass_rate() -> None:
    known = signal(800)
    layout = stratification.lay_out(known, 160)
    assert known.pass_rate is not None
    rates = [known.pass_rate[layout.labels == label] for label in range(len(layout.draws))]
    assert all(upper.min() >= lower.max() for upper, lower in itertools.pairwise(rates))
    assert 10 <= len(layout.draws) <= 20


def test_without_pass_rates_cells_lie_in_the_order_of_entropy() -> None:
    known = signal(800, graded=False)
    labels = stratification.lay_out(known, 160).labels
    assert labels[known.single].max() == 0
    assert np.corrcoef(labels, known.entropy)[0, 1] > 0.9


def test_the_order_of_the_items_does_not_matter() -> None:
    known, order = signal(300), np.random.default_rng(1).permutation(300)
    assert known.pass_rate is not None
    moved = Signal.from_columns(
        entropy=known.entropy[order],
        consistency=known.consistency[order],
        single=known.single[order],
        pass_rate=known.pass_rate[order],
    )
    before, after = stratification.lay_out(known, 60), stratification.lay_out(moved, 60)
    assert after.labels.tolist() == before.labels[order].tolist()
    assert after.draws.tolist() == before.draws.tolist()


def layout_of(allocation: Allocation) -> Layout:
    return stratification.lay_out(signal(2000), 400, Settings(refined=False, allocation=allocation))


def test_proportional_draws_take_the_same_share_of_each_stratum() -> None:
    layout = layout_of("proportional")
    assert np.ptp(layout.draws / layout.sizes) < 0.005


def test_equal_draws_are_as_many_of_each_stratum() -> None:
    assert np.ptp(layout_of("equal").draws) == 0


def test_neyman_takes_more_where_the_surrogate_is_unsure() -> None:
    layout = layout_of("neyman")
    rates = layout.draws / layout.sizes
    assert rates[-1] > 1.02 * rates[0]


def test_less_smoothing_believes_more_of_the_signal() -> None:
    known = signal(2000)
    spread = [
        np.ptp(layout.draws / layout.sizes)
        for smoothing in (0.05, 0.75)
        for layout in [stratification.lay_out(known, 400, Settings(smoothing=smoothing))]
    ]
    assert spread[0] > 2 * spread[1]


def test_a_strong_model_is_expected_to_fail_at_the_hardest_items() -> None:
    ratios = []
    for mean in (None, 0.95):
        layout = stratification.lay_out(signal(2000), 400, mean=mean)
        rates = layout.draws / layout.sizes
        ratios.append(rates[-1] / rates[0])
    assert ratios[1] > 1.05 * ratios[0]


@pytest.mark.parametrize("n", [0, 51])
def test_a_budget_outside_the_pool_is_refused(n: int) -> None:
    with pytest.raises(ValueError, match=f"n: {n} draws of 50 items"):
        stratification.lay_out(signal(50), n)


@pytest.mark.parametrize("change", [{"strata": 0}, {"smoothing": -0.1}, {"smoothing": np.inf}])
def test_settings_out_of_range_are_refused(change: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(change))):
        Settings(**change)  # type: ignore[arg-type] # as read from outside


@pytest.mark.parametrize(
    ("labels", "draws"),
    [([0, 0, 1], [1, 2]), ([0, 0, 1], [0, 1]), ([0, 0, 0], [1, 1]), ([0, 1], [1]), ([], [])],
)
def test_a_layout_that_cannot_be_drawn_is_refused(labels: list[int], draws: list[int]) -> None:
    with pytest.raises(ValueError, match=r"draws|labels"):
        Layout.from_columns(labels=labels, draws=draws)


def test_rates_are_draws_over_sizes() -> None:
    layout = Layout.from_columns(labels=[0, 1, 1, 1], draws=[1, 2])
    assert layout.rates.tolist() == [1.0, 2 / 3, 2 / 3, 2 / 3]
