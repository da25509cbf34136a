import dataclasses

import numpy as np
import pytest

from monitor.stats import samples
from monitor.stats.samples import GroupColumns, Sample, SampleColumns, Strata
from monitor.stats.stratification import Layout

COLUMNS = SampleColumns(
    items=[3, 0, 2],
    probabilities=[0.2, 0.4, 0.5],
    predictions=[0.5, 0.6, 0.7],
    rest_prediction_sums=[2.0, 1.5, 0.9],
    model_variances=[0.1, 0.1, 0.05],
    scores=[1.0, None, 0.5],
    weights=[0.2, 0.3, 0.5],
)


def test_missing_answers_are_behind_the_mask() -> None:
    sample = Sample.from_columns(COLUMNS, population=4)
    assert (sample.size, sample.missing) == (3, 1)
    assert sample.answers.tolist() == [1.0, 0.5]
    assert sample.with_missing_as(1.0).tolist() == [1.0, 1.0, 0.5]


def test_a_missing_answer_is_not_a_fraction() -> None:
    whole = dataclasses.replace(COLUMNS, scores=[1.0, None, 0.0])
    assert Sample.from_columns(whole, population=4).is_binary
    assert not Sample.from_columns(COLUMNS, population=4).is_binary


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"probabilities": [0.0, 0.4, 0.5]}, "probabilities: values"),
        ({"scores": [1.0, 2.0, None]}, "scores: values"),
        ({"scores": [1.0]}, "scores: shape"),
        ({"items": [0, 1, 4]}, "items: numbers"),
        ({"model_variances": [0.1, -0.1, 0.0]}, "model_variances: values"),
        ({"weights": [0.2, 0.2, 0.2]}, "weights: must sum to 1"),
        ({"items": []}, "at least one draw"),
    ],
)
def test_columns_that_do_not_fit_are_refused(change: dict[str, list[float]], message: str) -> None:
    broken = dataclasses.replace(COLUMNS, **change)  # type: ignore[arg-type] # as read from outside
    with pytest.raises(ValueError, match=message):
        Sample.from_columns(broken, population=4)


def test_a_group_is_a_sample_of_its_own() -> None:
    sample = Sample.from_columns(COLUMNS, population=4)
    columns = GroupColumns(
        masses=[0.4, 0.5], rest_prediction_sums=[1.2, 0.7], model_variances=[0.2, 0.1]
    )
    group = samples.group_sample(sample, [True, False, True], columns=columns, population=2)
    assert group.population == 2
    assert group.items.tolist() == [3, 2]
    assert group.probabilities.tolist() == [0.5, 1.0]
    assert group.rest_prediction_sums.tolist() == [1.2, 0.7]
    assert np.allclose(group.weights, [2 / 7, 5 / 7])


@pytest.mark.parametrize("inside", [[False] * 3, [True] * 2])
def test_a_group_needs_a_draw(inside: list[bool]) -> None:
    sample = Sample.from_columns(COLUMNS, population=4)
    empty = GroupColumns(masses=[], rest_prediction_sums=[], model_variances=[])
    with pytest.raises(ValueError, match="inside"):
        samples.group_sample(sample, inside, columns=empty, population=2)


LAYOUT = Layout.from_columns(labels=[0, 0, 1, 1], draws=[1, 2])


def test_a_filled_sample_misses_nothing() -> None:
    filled = Sample.from_columns(COLUMNS, population=4).filled(0.25)
    assert filled.missing == 0
    assert filled.answers.tolist() == [1.0, 0.25, 0.5]


def test_strata_are_those_of_the_items_drawn() -> None:
    strata = Strata.of(LAYOUT, COLUMNS.items)
    sample = Sample.from_columns(COLUMNS, population=4, strata=strata)
    assert sample.strata is not None
    assert sample.strata.labels.tolist() == [1, 0, 1]
    assert sample.strata.sizes.tolist() == [2, 2]


@pytest.mark.parametrize(("items", "population"), [([0, 1, 2], 4), ([3, 0, 2], 5), ([3, 2], 4)])
def test_strata_that_do_not_fit_are_refused(items: list[int], population: int) -> None:
    with pytest.raises(ValueError, match="strata: of another pool"):
        Sample.from_columns(COLUMNS, population=population, strata=Strata.of(LAYOUT, items))


def test_a_group_of_strata_is_not_known() -> None:
    sample = Sample.from_columns(COLUMNS, population=4, strata=Strata.of(LAYOUT, COLUMNS.items))
    columns = GroupColumns(masses=[1.0], rest_prediction_sums=[1.0], model_variances=[0.0])
    with pytest.raises(ValueError, match="strata"):
        samples.group_sample(sample, [True, False, False], columns=columns, population=2)
