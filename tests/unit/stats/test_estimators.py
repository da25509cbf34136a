import dataclasses

import numpy as np
import pytest

from monitor.stats import estimators
from monitor.stats.estimators import PointEstimate
from monitor.stats.samples import Sample
from tests.unit.stats import evaluations


def point(found: object) -> PointEstimate:
    assert isinstance(found, PointEstimate)
    return found


def guided(*, missing: int = 0, population: int = 60) -> Sample:
    rng = np.random.default_rng(4)
    setting = evaluations.Setting(
        scores=rng.integers(0, 2, population).astype(np.float64),
        predict=evaluations.fixed(rng.uniform(0.1, 0.9, population)),
        sizes=(4, 16),
        missing=np.arange(population) % 20 < missing,
    )
    return evaluations.run(setting, rng)


def filled(sample: Sample, score: float) -> Sample:
    full = np.full(sample.size, fill_value=True)
    return dataclasses.replace(sample, scores=sample.with_missing_as(score), answered=full)


def test_the_plain_mean_leaves_missing_answers_out() -> None:
    found = point(estimators.sample_mean(evaluations.plain_sample([1.0, None, 0.5], population=10)))
    assert found.value == 0.75
    assert found.coefficients == (0.5, 0.0, 0.5)
    assert found.lower_shift == pytest.approx(1.5 / 3 - 0.75)
    assert found.upper_shift == pytest.approx(2.5 / 3 - 0.75)


def test_the_plain_variance_shrinks_with_the_pool() -> None:
    found = point(estimators.sample_mean(evaluations.plain_sample([1.0, 0.0], population=4)))
    assert found.variance == pytest.approx(0.5 * (1 - 2 / 4) / 2)


def test_one_answer_has_no_variance() -> None:
    found = point(estimators.sample_mean(evaluations.plain_sample([1.0, None], population=4)))
    assert found.variance is None


def test_the_active_mean_is_linear_in_the_scores() -> None:
    sample = guided()
    found = point(estimators.active_mean(sample))
    for draw in (0, 7, 19):
        scores = sample.scores.copy()
        scores[draw] = 1.0 - scores[draw]
        moved = point(estimators.active_mean(dataclasses.replace(sample, scores=scores)))
        step = (scores[draw] - sample.scores[draw]) * found.coefficients[draw]
        assert moved.value - found.value == pytest.approx(step)


def test_the_active_mean_takes_missing_answers_as_predicted() -> None:
    sample = guided(missing=5)
    as_predicted = dataclasses.replace(
        sample,
        scores=np.where(sample.answered, sample.scores, sample.predictions),
        answered=np.full(sample.size, fill_value=True),
    )
    assert sample.missing
    found, expected = estimators.active_mean(sample), estimators.active_mean(as_predicted)
    assert point(found).value == point(expected).value


def test_the_active_shifts_are_what_missing_answers_could_do() -> None:
    sample = guided(missing=5)
    found = point(estimators.active_mean(sample))
    wrong = point(estimators.active_mean(filled(sample, 0.0)))
    right = point(estimators.active_mean(filled(sample, 1.0)))
    assert found.value + found.lower_shift == pytest.approx(wrong.value)
    assert found.value + found.upper_shift == pytest.approx(right.value)


def test_a_perfect_guide_is_exact_from_the_first_draw() -> None:
    scores = np.tile([0.2, 0.7, 0.6], 20)
    setting = evaluations.Setting(scores=scores, predict=evaluations.fixed(scores), sizes=(3,))
    sample = evaluations.run(setting, np.random.default_rng(0))
    assert point(estimators.active_mean(sample)).value == pytest.approx(scores.mean())


def repeating(*, missing: int = 0) -> Sample:
    """Draws with equal weights in which an item may come again, as its plan would have them."""
    rng = np.random.default_rng(5)
    setting = evaluations.Setting(
        scores=rng.integers(0, 2, 20).astype(np.float64),
        predict=evaluations.fixed(rng.uniform(0.2, 0.8, 20)),
        sizes=(4, 16),
        design="with_replacement",
        missing=np.arange(20) < missing,
    )
    sample = evaluations.run(setting, rng)
    return dataclasses.replace(sample, weights=np.full(20, 1 / 20))


def test_the_proactive_mean_and_its_variance_are_as_published() -> None:
    """The formulas of arXiv 2601.20251 with their loops written out."""
    sample = repeating()
    n, count = sample.size, sample.population
    phi, squares, scaled = [], [], []
    for draw in range(n):
        score, q = sample.scores[draw], sample.probabilities[draw]
        error = (score - sample.predictions[draw]) / (count * q)
        phi.append(sample.rest_prediction_sums[draw] / count + error)
        squares.append(error**2)
        scaled.append(score / q)
    level = sum(scaled) / (n * count)
    means = sample.rest_prediction_sums / count
    sigma_squared = sum(squares) / n - sum((level - mean) ** 2 for mean in means) / n
    found = point(estimators.proactive_mean(sample))
    assert found.value == pytest.approx(sum(phi) / n)
    assert found.variance == pytest.approx(sigma_squared / n)
    assert found.coefficients == pytest.approx(1 / (n * count * sample.probabilities))


def test_the_proactive_mean_takes_missing_answers_as_predicted() -> None:
    sample = repeating(missing=5)
    as_predicted = filled(sample, 0.0)
    as_predicted = dataclasses.replace(
        as_predicted, scores=np.where(sample.answered, sample.scores, sample.predictions)
    )
    assert sample.missing
    found = point(estimators.proactive_mean(sample))
    expected = point(estimators.proactive_mean(as_predicted))
    assert (found.value, found.variance) == (expected.value, expected.variance)


def test_a_published_variance_below_zero_is_none() -> None:
    """Errors are small beside the scatter of z/q, which is what is taken away."""
    setting = evaluations.Setting(
        scores=np.ones(20),
        predict=evaluations.fixed(np.linspace(0.9, 0.995, 20)),
        sizes=(10,),
        design="with_replacement",
    )
    sample = evaluations.run(setting, np.random.default_rng(2))
    assert point(estimators.proactive_mean(sample)).variance == 0.0


@pytest.mark.parametrize("prediction", [0.1, 0.35, 0.7])
def test_rounding_is_no_evidence_of_spread(prediction: float) -> None:
    setting = evaluations.Setting(
        scores=np.zeros(30),
        predict=evaluations.fixed(np.full(30, prediction)),
        sizes=(7,),
        design="with_replacement",
    )
    sample = evaluations.run(setting, np.random.default_rng(0))
    equal = dataclasses.replace(sample, weights=np.full(7, 1 / 7))
    assert point(estimators.proactive_mean(equal)).variance == 0.0


def test_one_draw_with_replacement_has_no_variance() -> None:
    setting = evaluations.Setting(
        scores=np.ones(9), predict=evaluations.blind(9), sizes=(1,), design="with_replacement"
    )
    sample = evaluations.run(setting, np.random.default_rng(0))
    assert point(estimators.proactive_mean(sample)).variance is None


def stratified(*, missing: int = 0, seed: int = 4) -> Sample:
    rng = np.random.default_rng(seed)
    setting = evaluations.Setting(
        scores=rng.integers(0, 2, 60).astype(np.float64),
        predict=evaluations.fixed(rng.uniform(0.1, 0.9, 60)),
        sizes=(18,),
        design="stratified",
        missing=np.arange(60) < missing,
    )
    return evaluations.run(setting, rng)


@pytest.mark.parametrize("missing", [0, 10, 20])
def test_the_stratified_mean_is_linear_in_the_scores(missing: int) -> None:
    """Twenty: a stratum without an answer."""
    sample = stratified(missing=missing)
    found = point(estimators.stratified_mean(sample))
    for draw in np.flatnonzero(sample.answered).tolist():
        scores = sample.scores.copy()
        scores[draw] = 1.0 - scores[draw]
        moved = point(estimators.stratified_mean(dataclasses.replace(sample, scores=scores)))
        step = (scores[draw] - sample.scores[draw]) * found.coefficients[draw]
        assert moved.value - found.value == pytest.approx(step)


def test_the_variance_of_strata_needs_two_answers_of_one() -> None:
    sample = stratified()
    one = dataclasses.replace(sample, answered=np.arange(sample.size) == 0)
    assert point(estimators.stratified_mean(one)).variance is None
