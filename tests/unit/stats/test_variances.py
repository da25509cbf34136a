import dataclasses
from collections.abc import Sequence

import numpy as np
import pytest

from monitor.stats import variances
from monitor.stats.samples import Sample
from monitor.stats.variances import Gate
from tests.unit.stats import evaluations


def guided(scores: Sequence[float | None], prediction: float, *, dispersion: float = 1.0) -> Sample:
    """Equal predictions and probabilities in a pool of 1,000: all by hand."""
    plain = evaluations.plain_sample(scores, population=1000)
    count = len(scores)
    return dataclasses.replace(
        plain,
        dispersion=dispersion,
        predictions=np.full(count, prediction),
        probabilities=np.full(count, 1 / 1000),
        rest_prediction_sums=np.full(count, 1000 * prediction),
        model_variances=np.full(count, 0.2),
        weights=np.full(count, 1 / count),
    )


def test_terms_add_what_is_known_predicted_and_corrected() -> None:
    found = variances.terms(guided([1.0, None, 0.0], 0.5))
    assert found == pytest.approx([0.5 + 0.5, 0.501, 0.5 + 1.5 / 1000 - 0.5])


def test_the_variance_mixes_seen_and_expected() -> None:
    sample = guided([1.0, 0.0] * 10, 0.5)
    terms = variances.terms(sample)
    seen = ((terms - terms.mean()) ** 2).sum() / 400 / (1 - 1 / 20)
    found = variances.mixed(sample)
    assert found.degrees == pytest.approx(32)
    assert found.variance == pytest.approx((20 * seen + 12 * 0.2 / 20) / 32)


def test_rare_failures_are_worth_few_degrees() -> None:
    sample = guided([0.0] + [1.0] * 19, 0.95)
    kappa = (1 - 3 * 0.0475) / 0.0475
    assert variances.mixed(sample).degrees == pytest.approx(12 + 2 * 20 / (kappa - 1))


def test_the_errors_seen_limit_what_a_sure_guide_discards() -> None:
    sample = guided([0.0] * 4 + [1.0] * 16, 0.99)
    seen = (4 * 0.99**2 + 16 * 0.01**2) / 20
    kappa = (1 - 3 * seen) / seen
    assert variances.mixed(sample).degrees == pytest.approx(12 + min(20, 2 * 20 / (kappa - 1)))


@pytest.mark.parametrize(
    ("failures", "gate"), [(1, Gate.CALM), (4, Gate.TRIPPED), (8, Gate.TRIPPED_HARD)]
)
def test_the_gate_trips_on_large_errors(failures: int, gate: Gate) -> None:
    sample = guided([0.0] * failures + [1.0] * (20 - failures), 0.92)
    assert variances.mixed(sample).gate is gate


def test_a_tripped_gate_takes_the_larger_variance() -> None:
    sample = guided([0.0] * 8 + [1.0] * 12, 0.92)
    tight = dataclasses.replace(sample, model_variances=np.zeros(20))
    terms = variances.terms(tight)
    seen = ((terms - terms.mean()) ** 2).sum() / 400 / (1 - 1 / 20)
    assert variances.mixed(tight).variance == pytest.approx(seen, rel=1e-3)


def spread_out(wrong: Sequence[int]) -> Sample:
    """Ten items predicted at .9, ten at .1, the sure ones drawn more often; `wrong` fail."""
    predictions = np.repeat([0.9, 0.1], 10)
    scores = np.where(np.isin(np.arange(20), wrong), 1.0 - predictions.round(), predictions.round())
    return dataclasses.replace(guided(scores.tolist(), 0.5), predictions=predictions)


def test_the_gate_trips_where_scores_rise_less_than_predictions() -> None:
    assert variances.mixed(spread_out([0, 10])).gate is Gate.CALM
    assert variances.mixed(spread_out([0, 1, 2, 10, 11])).gate is not Gate.CALM


def test_an_error_common_to_all_predictions_is_no_slope() -> None:
    # As many failures as are expected, only among other items than expected.
    steep = dataclasses.replace(guided([0.0] * 5 + [1.0] * 15, 0.5), predictions=np.full(20, 0.7))
    assert variances.mixed(steep).gate is Gate.CALM


def test_one_failure_speaks_for_all_sure_predictions_where_the_gate_trips() -> None:
    # Half of the sure predictions failed, all where a failure moves the estimate little.
    sample = spread_out(range(5))
    reach = np.where(np.arange(20) < 5, 1 / 20, 1 / 1000)
    lucky = dataclasses.replace(sample, probabilities=reach, model_variances=np.zeros(20))
    terms = variances.terms(lucky)
    seen = ((terms - terms.mean()) ** 2).sum() / 400 / (1 - 1 / 20)
    found = variances.mixed(lucky)
    assert found.gate is not Gate.CALM
    assert found.variance is not None
    assert found.variance > 1.5 * seen


def test_missing_answers_count_neither_for_nor_against_the_guide() -> None:
    with_gap = variances.mixed(guided([0.0] * 3 + [1.0] * 16 + [None], 0.9))
    assert with_gap.gate is variances.mixed(guided([0.0] * 3 + [1.0] * 16, 0.9)).gate


def test_small_dispersion_makes_the_same_errors_larger() -> None:
    scores = [0.0] * 2 + [1.0] * 18
    assert variances.mixed(guided(scores, 0.9)).gate is Gate.CALM
    assert variances.mixed(guided(scores, 0.9, dispersion=0.3)).gate is Gate.TRIPPED


@pytest.mark.parametrize("scores", [[1.0], [None, None]])
def test_one_draw_or_no_answer_has_no_variance(scores: list[float | None]) -> None:
    sample = guided([1.0, 1.0], 0.5) if scores == [None, None] else guided([1.0], 0.5)
    lost = dataclasses.replace(sample, answered=np.array([score is not None for score in scores]))
    assert variances.mixed(lost).variance is None


def test_plain_random_draws_have_no_guide() -> None:
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        variances.mixed(evaluations.plain_sample([1.0, 0.0], population=10))
