"""What every estimator keeps, on samples of the design it belongs to."""

import dataclasses
import math

import numpy as np
import pytest

from monitor.stats.estimators import ESTIMATORS, NoValue, NoValueReason, PointEstimate
from monitor.stats.samples import Sample
from tests.unit.stats import evaluations

DESIGN_OF = {
    "sample_mean": "simple",
    "active_mean": "without_replacement",
    "proactive_mean": "with_replacement",
    "stratified_mean": "stratified",
}
POPULATION = 80


@pytest.fixture(name="name", params=sorted(ESTIMATORS))
def _name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def drawn(name: str, *, missing: float = 0.0, seed: int = 0, n: int = 30) -> Sample:
    rng = np.random.default_rng(seed)
    chances = rng.uniform(0.1, 0.9, POPULATION)
    setting = evaluations.Setting(
        scores=rng.binomial(2, chances) / 2,
        predict=evaluations.fixed(chances),
        sizes=evaluations.planned(n),
        design=DESIGN_OF[name],
        missing=rng.random(POPULATION) < missing,
    )
    return evaluations.run(setting, rng)


def estimated(name: str, sample: Sample) -> PointEstimate:
    found = ESTIMATORS[name](sample)
    assert isinstance(found, PointEstimate)
    return found


def test_nothing_missing_shifts_nothing(name: str) -> None:
    found = estimated(name, drawn(name))
    assert (found.lower_shift, found.upper_shift) == (0.0, 0.0)


def test_missing_answers_shift_both_ways(name: str) -> None:
    found = estimated(name, drawn(name, missing=0.3))
    assert found.lower_shift < 0.0 < found.upper_shift


def test_shifts_reach_the_value_of_a_sample_filled_in(name: str) -> None:
    sample = drawn(name, missing=0.3)
    found = estimated(name, sample)
    answered = np.full(sample.size, fill_value=True)
    for score, shift in ((0.0, found.lower_shift), (1.0, found.upper_shift)):
        filled = dataclasses.replace(
            sample, scores=sample.with_missing_as(score), answered=answered
        )
        assert estimated(name, filled).value == pytest.approx(found.value + shift)


def test_without_an_answer_there_is_no_value(name: str) -> None:
    assert ESTIMATORS[name](drawn(name, missing=1.0)) == NoValue(reason=NoValueReason.NO_ANSWER)


def test_every_draw_has_a_coefficient(name: str) -> None:
    sample = drawn(name, missing=0.3)
    found = estimated(name, sample)
    assert len(found.coefficients) == sample.size
    assert min(found.coefficients) >= 0.0


def test_numbers_are_plain_and_repeatable(name: str) -> None:
    first, second = estimated(name, drawn(name)), estimated(name, drawn(name))
    assert first == second
    assert type(first.value) is float
    assert first.variance is None or type(first.variance) is float


def test_the_value_is_near_the_mean_of_the_pool(name: str) -> None:
    values = [estimated(name, drawn(name, seed=seed)).value for seed in range(60)]
    truths = [pool_mean(seed) for seed in range(60)]
    errors = np.subtract(values, truths)
    assert abs(errors.mean()) < 3.3 * errors.std(ddof=1) / math.sqrt(60)


def pool_mean(seed: int) -> float:
    rng = np.random.default_rng(seed)
    chances = rng.uniform(0.1, 0.9, POPULATION)
    return float(rng.binomial(2, chances).mean()) / 2


def test_the_variance_is_known_with_two_answers(name: str) -> None:
    variance = estimated(name, drawn(name)).variance
    assert variance is not None
    assert variance > 0.0
