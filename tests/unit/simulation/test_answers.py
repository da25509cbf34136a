import numpy as np
import pytest

from monitor.domain import errors
from monitor.simulation import answers
from monitor.simulation.answers import SimulatedModel

ITEMS = tuple(f"item-{index}" for index in range(2000))
NAN = np.nan


def book(*models: SimulatedModel, items: tuple[str, ...] = ITEMS) -> answers.AnswerBook:
    return answers.item_response_book(models, items=items, seed=7)


def agreement(outcomes: np.ndarray, first: int, second: int) -> float:
    return float(np.corrcoef(outcomes[first], outcomes[second])[0, 1])


@pytest.mark.parametrize("accuracy", [0.0, 0.001, 0.37, 0.8, 0.9996, 1.0])
def test_accuracy_is_met_to_the_nearest_item(accuracy: float) -> None:
    truth = book(SimulatedModel(name="m", accuracy=accuracy)).truth("m")
    assert truth == round(accuracy * len(ITEMS)) / len(ITEMS)


def test_outcomes_are_fixed_and_depend_on_the_seed() -> None:
    model = SimulatedModel(name="m", accuracy=0.5)
    np.testing.assert_array_equal(book(model).outcomes, book(model).outcomes)
    other = answers.item_response_book([model], items=ITEMS, seed=8)
    assert (book(model).outcomes != other.outcomes).any()


def test_items_that_are_hard_are_hard_for_all() -> None:
    outcomes = book(*(SimulatedModel(name=n, accuracy=0.6) for n in ("a", "b"))).outcomes
    # Independent outcomes would correlate by 0, give or take 4 / sqrt(2000) = 0.09.
    assert 0.2 < agreement(outcomes, 0, 1) < 0.8


def test_versions_share_more_than_models_do() -> None:
    outcomes = book(
        SimulatedModel(name="a", accuracy=0.7),
        SimulatedModel(name="a2", accuracy=0.6, version_of="a"),
        SimulatedModel(name="b", accuracy=0.6),
    ).outcomes
    assert agreement(outcomes, 0, 1) > agreement(outcomes, 0, 2) + 0.2
    better = (outcomes[1] > outcomes[0]).sum()
    assert 0 < better < (outcomes[1] < outcomes[0]).sum()


def test_a_version_needs_its_model() -> None:
    with pytest.raises(errors.UsageError, match=r"'v2' is a version of 'v1', .*before it: none"):
        book(SimulatedModel(name="v2", accuracy=0.5, version_of="v1"))


@pytest.mark.parametrize("accuracy", [-0.1, 1.1, NAN])
def test_an_accuracy_is_a_share(accuracy: float) -> None:
    with pytest.raises(errors.UsageError, match=r"of 'm' is not in \[0, 1\]"):
        SimulatedModel(name="m", accuracy=accuracy)


def test_recorded_outcomes_are_repeated() -> None:
    outcomes = np.array([[1.0, 0.0, NAN], [NAN, NAN, NAN]])
    recorded = answers.recorded_book(outcomes, models=["m", "n"], items=["a", "b", "c"])
    assert recorded.rows() == {"m": (True, False, None), "n": (None, None, None)}
    assert (recorded.truth("m"), recorded.truth("n")) == (0.5, None)


def test_fractions_become_right_answers_as_often_as_they_say() -> None:
    outcomes = np.full((1, len(ITEMS)), 0.3)
    recorded = answers.recorded_book(outcomes, models=["m"], items=ITEMS)
    assert set(recorded.rows()["m"]) == {True, False}
    # Four standard deviations of the share of 2,000 draws.
    assert recorded.truth("m") == pytest.approx(0.3, abs=4 * (0.21 / 2000) ** 0.5)
    assert (outcomes == 0.3).all()


def test_a_draw_for_a_fraction_is_the_items_own() -> None:
    half = np.full((1, len(ITEMS)), 0.5)
    whole = answers.recorded_book(half, models=["m"], items=ITEMS).outcomes
    part = answers.recorded_book(half[:, :9], models=["m"], items=ITEMS[9:0:-1]).outcomes
    np.testing.assert_array_equal(part, whole[:, 9:0:-1])


def test_names_and_shapes_must_fit() -> None:
    with pytest.raises(errors.UsageError, match="model 'm' is named twice"):
        answers.recorded_book(np.zeros((2, 1)), models=["m", "m"], items=["a"])
    with pytest.raises(errors.UsageError, match="item 'a' is named twice"):
        answers.recorded_book(np.zeros((1, 2)), models=["m"], items=["a", "a"])
    with pytest.raises(errors.UsageError, match=r"shape \(1, 2\) do not fit 1 models and 3 items"):
        answers.recorded_book(np.zeros((1, 2)), models=["m"], items=["a", "b", "c"])
