import numpy as np
import pytest

from monitor.stats import forecasts
from monitor.stats.arrays import FloatArray
from monitor.stats.signals import Signal
from monitor.stats.stratification import Layout
from tests.unit.stats import evaluations

PREDICTIONS = np.random.default_rng(0).beta(4.0, 1.0, 200)


def test_counts_sum_to_the_draws() -> None:
    failures, successes = forecasts.expected_counts(PREDICTIONS, size=30)
    assert failures + successes == pytest.approx(30)


def test_counts_are_what_a_round_draws_on_average() -> None:
    rng = np.random.default_rng(1)
    predict = evaluations.fixed(PREDICTIONS)
    setting = evaluations.Setting(scores=PREDICTIONS, predict=predict, sizes=(60,))
    means = [evaluations.run(setting, rng).scores.sum() for _ in range(300)]
    _, successes = forecasts.expected_counts(PREDICTIONS, size=60)
    assert successes == pytest.approx(np.mean(means), rel=0.01)


def test_a_guide_seeks_the_failures() -> None:
    guided, _ = forecasts.expected_counts(PREDICTIONS, size=30)
    plain, _ = forecasts.expected_counts_simple(30, float(PREDICTIONS.mean()))
    assert guided > plain


def test_an_earlier_estimate_moves_the_forecast() -> None:
    equal = np.full(100, 0.5)
    failures, successes = forecasts.expected_counts(equal, size=20, mean=0.9)
    assert (failures, successes) == pytest.approx((2.0, 18.0))


@pytest.mark.parametrize("mean", [0.0, 1.0])
def test_an_extreme_earlier_estimate_is_taken_as_nearly_so(mean: float) -> None:
    failures, successes = forecasts.expected_counts(PREDICTIONS, size=30, mean=mean)
    assert min(failures, successes) < 1.0


def test_all_items_are_all_outcomes() -> None:
    _, successes = forecasts.expected_counts(PREDICTIONS, size=200)
    assert successes == pytest.approx(PREDICTIONS.sum())


@pytest.mark.parametrize("size", [0, -2])
def test_a_forecast_needs_a_draw(size: int) -> None:
    with pytest.raises(ValueError, match=f"a forecast of {size} draws"):
        forecasts.expected_counts(PREDICTIONS, size=size)


def signal(pass_rate: FloatArray | None, consistency: FloatArray) -> Signal:
    return Signal.from_columns(
        entropy=1.0 - consistency,
        consistency=consistency,
        single=consistency == 1.0,
        pass_rate=pass_rate,
    )


EQUAL, HALF = np.full(200, 0.8), np.repeat([0.2, 0.9], 100)
HALVES = Layout.from_columns(labels=np.repeat([0, 1], 100), draws=[10, 10])


def test_strata_gain_what_other_models_keep_of_the_variance_between_them() -> None:
    """Chances .2 and .9 in two halves: p (1 - p) is .125 on average, the rest lies between them."""
    between = 0.35**2 * 200 / 199
    explained = between / (0.125 + between)
    graded = forecasts.expected_gain(signal(HALF, EQUAL), HALVES)
    assert graded == pytest.approx(1.0 / (1.0 - forecasts.TRANSFER_OF_SCORES * explained))
    agreed = forecasts.expected_gain(signal(None, HALF), HALVES)
    assert agreed == pytest.approx(1.0 / (1.0 - forecasts.TRANSFER_OF_AGREEMENT * explained))


@pytest.mark.parametrize("rates", [EQUAL, np.zeros(200), np.ones(200)])
def test_a_signal_that_says_the_same_of_all_items_promises_nothing(rates: FloatArray) -> None:
    assert forecasts.expected_gain(signal(rates, EQUAL), HALVES) == pytest.approx(1.0)


def test_draws_from_the_wrong_strata_promise_a_loss() -> None:
    layout = Layout.from_columns(labels=HALVES.labels, draws=[18, 2])
    assert forecasts.expected_gain(signal(EQUAL, EQUAL), layout) < 1.0
