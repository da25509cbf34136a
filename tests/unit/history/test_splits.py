from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, strategies as st

from monitor.domain import errors
from monitor.history import splits
from monitor.history.outcomes import OutcomeMatrix, Pair
from monitor.history.splits import SplitKind

KINDS = ("prompt", "temperature", "version", "finetune")
DATES = ("", "2023", "2024-02", "2024-02-11", "2024-05-01")


def matrix(
    models: Sequence[str], dates: Sequence[str] = (), pairs: Sequence[Pair] = ()
) -> OutcomeMatrix:
    return OutcomeMatrix(
        outcomes=np.ones((len(models), 2)),
        models=tuple(models),
        items=("x", "y"),
        dates=tuple(dates) or ("",) * len(models),
        groups=None,
        pairs=tuple(pairs),
    )


ORDERED = matrix(
    ["a", "b", "c T=0", "c T=1", "d", "e"],
    ["2023", "2024-01", "2024-02", "", "2024-02", "2024-03-01"],
    [Pair(old="b", new="d", kind="version"), Pair(old="e", new="a", kind="prompt")],
)


@st.composite
def matrices(draw: st.DrawFn) -> OutcomeMatrix:
    count = draw(st.integers(2, 12))
    names = [f"{draw(st.sampled_from('abcdefgh'))} T={row}" for row in range(count)]
    named = st.sampled_from(names)
    pairs = st.builds(Pair, old=named, new=named, kind=st.sampled_from(KINDS))
    dates = [draw(st.sampled_from(DATES)) for _ in range(count)]
    return matrix(names, dates, draw(st.lists(pairs, max_size=6)))


@given(matrices(), st.sampled_from(SplitKind))
def test_no_family_stands_on_both_sides(content: OutcomeMatrix, kind: SplitKind) -> None:
    try:
        found = splits.split(content, kind, seed=1)
    except errors.UsageError:
        return
    for fold in found.folds:
        targets = {found.families[row] for row in fold.targets}
        assert targets.isdisjoint(found.families[row] for row in fold.history)
    targeted = [row for fold in found.folds for row in fold.targets]
    assert len(targeted) == len(set(targeted))


def test_the_newer_half_is_evaluated_by_the_older() -> None:
    (fold,) = splits.split(ORDERED, SplitKind.DATE, seed=0).folds
    # Rows 2 and 3 are one model, and so are 0 and 5.
    assert (fold.targets, fold.history) == ((3, 4, 5), (1,))


def test_undated_rows_are_dated_by_their_place_in_an_ordered_file() -> None:
    found = splits.split(matrix("abcd", ["2023", "", "2024-01", "2024-01"]), SplitKind.DATE, seed=0)
    assert (found.folds[0].history, found.folds[0].targets) == ((0, 1), (2, 3))
    assert found.remarks == ("1 undated rows are taken to be as old as the dated ones before them",)


def test_a_file_in_disorder_is_sorted_without_its_undated_rows() -> None:
    found = splits.split(matrix("abcd", ["2024-01", "", "2023", "2022-05"]), SplitKind.DATE, seed=0)
    assert (found.folds[0].history, found.folds[0].targets) == ((3,), (2, 0))
    assert "1 undated rows are left out" in found.remarks[0]


def test_a_month_may_stand_before_or_after_its_days() -> None:
    for dates in (["2024-02", "2024-02-11"], ["2024-02-11", "2024-02"]):
        found = splits.split(matrix("ab", dates), SplitKind.DATE, seed=0)
        assert found.folds[0].history == (0,)


def test_every_model_is_a_target_once() -> None:
    found = splits.split(ORDERED, SplitKind.MODEL, seed=3)
    assert sorted(row for fold in found.folds for row in fold.targets) == [0, 1, 2, 3, 4, 5]
    assert len(found.folds) == len(set(found.families)) == 4


def test_a_new_version_sees_what_is_not_newer() -> None:
    (fold,) = splits.split(ORDERED, SplitKind.PAIRS, seed=0).folds
    assert fold.targets == (4,)
    assert set(fold.history) == {0, 1, 2, 3}


@pytest.mark.parametrize(
    ("models", "kind", "message"),
    [
        ("a", SplitKind.DATE, "no target has a model of another family"),
        ("a", SplitKind.MODEL, "no target has a model of another family"),
        ("ab", SplitKind.PAIRS, "no target in the file; needed: another --split, or a file with"),
    ],
)
def test_what_cannot_be_divided_is_refused(models: str, kind: SplitKind, message: str) -> None:
    with pytest.raises(errors.UsageError, match=message):
        splits.split(matrix(models), kind, seed=0)


def test_every_row_is_a_target_of_a_model_fitted_elsewhere() -> None:
    (fold,) = splits.every_row(ORDERED).folds
    assert (fold.targets, fold.history) == ((0, 1, 2, 3, 4, 5), ())
