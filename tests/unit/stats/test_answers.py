import numpy as np
import pytest

from monitor.stats.answers import Answers, History

NAN = np.nan


def test_canonical_order_sorts_by_item_then_score() -> None:
    answers = Answers.from_columns(items=[2, 0, 2], scores=[1.0, 0.5, 0.0]).in_canonical_order()
    assert answers.items.tolist() == [0, 2, 2]
    assert answers.scores.tolist() == [0.5, 0.0, 1.0]


def test_answers_need_as_many_scores_as_items() -> None:
    with pytest.raises(ValueError, match="scores: shape"):
        Answers.from_columns(items=[0, 1], scores=[1.0])


def test_rows_without_a_cell_are_dropped_with_their_family() -> None:
    history = History.from_matrix(
        np.array([[1.0, NAN], [NAN, NAN], [0.0, 1.0]]), families=[7, 8, 9]
    )
    assert history.families.tolist() == [7, 9]
    assert history.observed.tolist() == [[True, False], [True, True]]


def test_every_row_is_its_own_family_unless_said() -> None:
    assert History.from_matrix(np.zeros((3, 2))).families.tolist() == [0, 1, 2]


@pytest.mark.parametrize(("cell", "binary"), [(1.0, True), (NAN, True), (0.5, False)])
def test_binary_means_only_zero_and_one(cell: float, *, binary: bool) -> None:
    assert History.from_matrix(np.array([[0.0, cell]])).is_binary is binary


@pytest.mark.parametrize("bad", [np.zeros(3), np.zeros((2, 0)), np.array([[1.5]])])
def test_what_is_no_history_is_refused(bad: np.ndarray) -> None:
    with pytest.raises(ValueError, match="outcomes"):
        History.from_matrix(bad)


def test_without_leaves_whole_families_out() -> None:
    history = History.from_matrix(
        np.array([[0.0, 1.0], [1.0, 1.0], [0.5, np.nan]]), families=[4, 7, 4]
    )
    assert history.without([4]).outcomes.tolist() == [[1.0, 1.0]]
    assert history.without([4]).families.tolist() == [7]


def test_of_items_keeps_order_groups_and_rows_with_a_cell() -> None:
    outcomes = np.array([[0.0, 1.0, 0.5], [np.nan, 1.0, np.nan]])
    some = History.from_matrix(outcomes, families=[3, 5], groups=[0, 1, 2]).of_items(
        np.array([2, 0])
    )
    assert some.outcomes.tolist() == [[0.5, 0.0]]
    assert (some.families.tolist(), some.groups.tolist()) == ([3], [2, 0])


def test_groups_must_fit_the_items() -> None:
    with pytest.raises(ValueError, match="groups"):
        History.from_matrix(np.zeros((1, 3)), groups=[0, 1])
