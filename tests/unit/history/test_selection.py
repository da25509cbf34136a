import hashlib
import struct
from collections.abc import Sequence
from datetime import date

import numpy as np
import pytest

from monitor.history import selection
from monitor.history.outcomes import OutcomeMatrix

NAN = np.nan


def matrix(
    rows: Sequence[Sequence[float]] = ((1, 0, 1), (0, 0, 1), (1, 1, 0)),
    models: Sequence[str] = ("gpt-1", "gpt-2", "llama"),
    dates: Sequence[str] = ("2023-05-01", "2024-03", ""),
) -> OutcomeMatrix:
    return OutcomeMatrix(
        outcomes=np.array(rows, dtype=np.float64),
        models=tuple(models),
        items=("a", "b", "c"),
        dates=tuple(dates),
        groups=None,
    )


def test_columns_follow_the_suite() -> None:
    chosen = selection.select(matrix(), ["c", "unknown", "a"])
    np.testing.assert_array_equal(chosen.outcomes, [[1, NAN, 1], [1, NAN, 0], [0, NAN, 1]])
    assert chosen.models == ("gpt-1", "gpt-2", "llama")


@pytest.mark.parametrize(
    ("before", "models"),
    [
        (None, ("gpt-1", "gpt-2", "llama")),
        (date(2024, 4, 1), ("gpt-1", "gpt-2")),
        (date(2024, 3, 31), ("gpt-1",)),
        (date(2023, 5, 2), ("gpt-1",)),
        (date(2023, 5, 1), ()),
    ],
)
def test_only_what_is_certainly_older_is_kept(before: date | None, models: tuple[str, ...]) -> None:
    chosen = selection.select(matrix(), ["a", "b"], before=before)
    assert chosen.models == models
    assert chosen.outcomes.shape == (len(models), 2)


def test_patterns_and_names_leave_models_out() -> None:
    patterned = selection.select(matrix(), ["a"], exclude=["gpt-*"])
    named = selection.select(matrix(), ["a"], exclude_models=["gpt-2", "gpt-*"])
    other_case = selection.select(matrix(), ["a"], exclude=["GPT-*"])
    assert patterned.models == ("llama",)
    assert named.models == ("gpt-1", "llama")
    assert other_case.models == ("gpt-1", "gpt-2", "llama")


def test_rows_that_say_nothing_are_left_out() -> None:
    chosen = selection.select(matrix([[NAN, 1, 1], [1, 1, 1], [NAN, NAN, NAN]]), ["a", "b"])
    assert chosen.models == ("gpt-1", "gpt-2")
    assert selection.select(matrix(), ["unknown"]).models == ()


def test_stacked_rows_keep_their_order() -> None:
    first = selection.select(matrix(), ["a", "b"])
    second = selection.select(matrix(models=["x", "y", "z"]), ["a", "b"], exclude=["y"])
    stacked = selection.stack([first, second])
    assert stacked.models == ("gpt-1", "gpt-2", "llama", "x", "z")
    assert stacked.outcomes.shape == (5, 2)


def digest(rows: Sequence[Sequence[float]], models: Sequence[str] = ("m", "n")) -> str:
    return selection.History(outcomes=np.array(rows), models=tuple(models)).digest


def test_digest_is_that_of_the_values() -> None:
    other_nan = -np.array([NAN])[0]
    assert digest([[1.0, NAN], [0.0, 0.5]]) == digest([[1.0, other_nan], [-0.0, 0.5]])
    expected = b'[["m","n"],[2,2]]' + struct.pack("<4d", 1.0, NAN, 0.0, 0.5)
    assert digest([[1.0, NAN], [0.0, 0.5]]) == hashlib.sha256(expected).hexdigest()


@pytest.mark.parametrize(
    ("rows", "models"),
    [
        ([[1.0, 1.0], [0.0, 0.5]], ("m", "n")),
        ([[1.0, NAN], [0.0, 0.5]], ("m", "o")),
        ([[1.0, NAN], [0.0, 0.5]], ("n", "m")),
        ([[1.0, NAN, 0.0, 0.5]], ("m", "n")),
    ],
)
def test_digest_sees_every_difference(rows: list[list[float]], models: tuple[str, ...]) -> None:
    assert digest(rows, models) != digest([[1.0, NAN], [0.0, 0.5]])


def test_an_item_is_covered_by_one_outcome() -> None:
    rows = np.array([[1.0, NAN, NAN], [0.0, NAN, 0.5]])
    assert selection.History(outcomes=rows, models=("m", "n")).items_covered == 2
