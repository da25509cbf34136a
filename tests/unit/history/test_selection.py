import hashlib
import struct
from collections.abc import Sequence
from datetime import date

import numpy as np
import numpy.typing as npt
import pytest

from monitor.history import selection
from monitor.history.outcomes import OutcomeMatrix, Pair

NAN = np.nan
FloatArray = npt.NDArray[np.float64]


def matrix(
    rows: Sequence[Sequence[float]] = ((1, 0, 1), (0, 0, 1), (1, 1, 0)),
    models: Sequence[str] = ("gpt-1", "gpt-2", "llama"),
    dates: Sequence[str] = ("2023-05-01", "2024-03", ""),
    pairs: Sequence[Pair] = (),
) -> OutcomeMatrix:
    return OutcomeMatrix(
        outcomes=np.array(rows, dtype=np.float64),
        models=tuple(models),
        items=("a", "b", "c"),
        dates=tuple(dates),
        groups=None,
        pairs=tuple(pairs),
    )


def test_columns_follow_the_suite() -> None:
    found = selection.select(matrix(), ["c", "unknown", "a"])
    np.testing.assert_array_equal(found.outcomes, [[1, NAN, 1], [1, NAN, 0], [0, NAN, 1]])
    assert found.models == ("gpt-1", "gpt-2", "llama")


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
    found = selection.select(matrix(), ["a", "b"], before=before)
    assert found.models == models
    assert found.outcomes.shape == (len(models), 2)


def test_patterns_and_names_leave_models_out() -> None:
    patterned = selection.select(matrix(), ["a"], exclude=["gpt-*"])
    named = selection.select(matrix(), ["a"], exclude_models=["gpt-2", "gpt-*"])
    other_case = selection.select(matrix(), ["a"], exclude=["GPT-*"])
    assert patterned.models == ("llama",)
    assert named.models == ("gpt-1", "llama")
    assert other_case.models == ("gpt-1", "gpt-2", "llama")


def test_a_model_that_is_left_out_takes_its_family_with_it() -> None:
    rows = matrix(models=["gpt-1", "gpt-1-high", "llama"])
    assert selection.select(rows, ["a"], exclude_models=["GPT-1"]).models == ("llama",)
    rows = matrix(pairs=[Pair(old="gpt-2", new="llama", kind="prompt")])
    assert selection.select(rows, ["a"], exclude_models=["llama"]).models == ("gpt-1",)


def test_rows_of_one_model_are_one_family() -> None:
    rows = matrix(pairs=[Pair(old="gpt-1", new="llama", kind="temperature")])
    first, second = selection.select(rows, ["a", "b"]), selection.select(rows, ["a", "b"])
    assert first.families == (0, 1, 0)
    assert selection.stack([first, second]).families == (0, 0, 2, 0, 2, 0)


def test_rows_that_say_nothing_are_left_out() -> None:
    found = selection.select(matrix([[NAN, 1, 1], [1, 1, 1], [NAN, NAN, NAN]]), ["a", "b"])
    assert found.models == ("gpt-1", "gpt-2")
    assert selection.select(matrix(), ["unknown"]).models == ()


def test_stacked_rows_are_in_the_order_of_their_dates() -> None:
    first = selection.select(matrix(dates=["2023-05-01", "", "2024-03"]), ["a", "b"])
    later = matrix(models=["x", "y", "z"], dates=["", "2024", "2023-04"])
    stacked = selection.stack([first, selection.select(later, ["a", "b"])])
    assert stacked.models == ("x", "z", "gpt-1", "gpt-2", "llama", "y")
    assert stacked.dates == ("", "2023-04", "2023-05-01", "", "2024-03", "2024")
    np.testing.assert_array_equal(stacked.outcomes[2:5], first.outcomes)


def digest(rows: Sequence[Sequence[float]], models: Sequence[str] = ("m", "n")) -> str:
    return chosen(np.array(rows), models).digest


def chosen(outcomes: FloatArray, models: Sequence[str] = ("m", "n")) -> selection.History:
    return selection.History(outcomes=outcomes, models=tuple(models), dates=("",) * len(models))


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
    assert chosen(rows).items_covered == 2
