import zipfile
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from monitor.domain import errors
from monitor.history import outcomes

Arrays = dict[str, npt.NDArray[Any]]


def arrays() -> Arrays:
    return {
        "outcomes": np.array([[1, 0, -1], [0, 1, 1]], dtype=np.int8),
        "models": np.array(["old", "new"]),
        "items": np.array(["a", "b", "c"]),
        "dates": np.array(["2024-03", ""]),
        "groups": np.array(["x", "x", "y"]),
    }


@pytest.fixture
def written(tmp_path: Path) -> Callable[[Arrays], Path]:
    def write(content: Arrays) -> Path:
        path = tmp_path / "outcomes.npz"
        np.savez_compressed(path, allow_pickle=True, **content)
        return path

    return write


def test_integers_are_read_with_gaps(written: Callable[[Arrays], Path]) -> None:
    matrix = outcomes.read_outcomes(written(arrays()))
    np.testing.assert_array_equal(matrix.outcomes, [[1.0, 0.0, np.nan], [0.0, 1.0, 1.0]])
    assert (matrix.models, matrix.items) == (("old", "new"), ("a", "b", "c"))
    assert (matrix.dates, matrix.groups) == (("2024-03", ""), ("x", "x", "y"))


def test_fractions_are_kept(written: Callable[[Arrays], Path]) -> None:
    fractions = np.array([[0.25, np.nan, 1.0], [0.0, 0.5, 0.75]], dtype=np.float16)
    matrix = outcomes.read_outcomes(written(arrays() | {"outcomes": fractions}))
    np.testing.assert_array_equal(matrix.outcomes, fractions)


def test_dates_and_groups_may_be_absent(written: Callable[[Arrays], Path]) -> None:
    content = arrays()
    del content["dates"], content["groups"]
    matrix = outcomes.read_outcomes(written(content))
    assert (matrix.dates, matrix.groups) == (("", ""), None)


def pairs(old: Any, new: Any, kind: Any) -> Arrays:  # noqa: ANN401 - whatever NumPy takes
    return {"pair_old": np.array(old), "pair_new": np.array(new), "pair_kind": np.array(kind)}


@pytest.mark.parametrize(
    "named",
    [
        pairs(["old"], ["new"], ["version"]),
        pairs([0], [1], ["version"]),
        pairs(["old", "gone"], ["new", "new"], ["version", "prompt"]),
        pairs([0, 7], [1, 1], ["version", "prompt"]),
    ],
    ids=["by name", "by row", "a name of no row", "a number of no row"],
)
def test_pairs_of_rows_that_are_there_are_read(
    written: Callable[[Arrays], Path], named: Arrays
) -> None:
    matrix = outcomes.read_outcomes(written(arrays() | named))
    assert matrix.pairs == (outcomes.Pair(old="old", new="new", kind="version"),)


def test_no_pairs_are_none(written: Callable[[Arrays], Path]) -> None:
    assert outcomes.read_outcomes(written(arrays() | pairs([], [], []))).pairs == ()


def test_rows_and_columns_may_lack_names(written: Callable[[Arrays], Path]) -> None:
    path = written({"outcomes": arrays()["outcomes"]})
    matrix = outcomes.read_outcomes(path, needs_names=False)
    assert (matrix.models, matrix.items[-1]) == (("row 0", "row 1"), "column 2")


@pytest.mark.parametrize("groups", [None, ("x", "y")])
def test_what_is_written_is_read_back(tmp_path: Path, groups: tuple[str, ...] | None) -> None:
    written = outcomes.OutcomeMatrix(
        outcomes=np.array([[0.1, np.nan]]),
        models=("m",),
        items=("a", "b"),
        dates=("2024",),
        groups=groups,
        pairs=(outcomes.Pair(old="m", new="m", kind="temperature"),),
    )
    outcomes.write_outcomes(tmp_path / "any.name", written)
    again = outcomes.read_outcomes(tmp_path / "any.name")
    np.testing.assert_array_equal(again.outcomes, written.outcomes)
    assert (again.models, again.items) == (written.models, written.items)
    assert (again.dates, again.groups) == (written.dates, written.groups)
    assert again.pairs == written.pairs


def test_outcomes_cannot_be_changed(written: Callable[[Arrays], Path]) -> None:
    matrix = outcomes.read_outcomes(written(arrays()))
    with pytest.raises(ValueError, match="read-only"):
        matrix.outcomes[0, 0] = 0.0


UNFIT: dict[str, tuple[Arrays, str]] = {
    "score above 1": (
        {"outcomes": np.array([[1, 0, 1], [0, 2, 3]])},
        r"array outcomes, row 1 \(model 'new'\), column 1 \(item 'b'\): 2 is not .*, and 1 more",
    ),
    "infinite score": ({"outcomes": np.array([[1, np.inf, 1], [0, 1, 1]])}, "row 0 .*inf is not"),
    "minus one among fractions": (
        {"outcomes": np.array([[1, -1.0, 1], [0, 1, 1]])},
        "-1 is not a score .*NaN in any other",
    ),
    "text as scores": ({"outcomes": np.array([["1"] * 3] * 2)}, "array outcomes: .*not numbers"),
    "one dimension": ({"outcomes": np.array([1, 0, 1])}, r"outcomes: has shape \(3,\)"),
    "no rows": ({"outcomes": np.zeros((0, 3))}, r"has shape \(0, 3\)"),
    "too few models": ({"models": np.array(["old"])}, r"models: has shape \(1,\).* each row"),
    "too many items": ({"items": np.array(list("abcd"))}, r"items: has shape \(4,\).* each col"),
    "too few dates": ({"dates": np.array(["2024"])}, r"dates: has shape \(1,\)"),
    "too few groups": ({"groups": np.array(["x"])}, r"groups: has shape \(1,\)"),
    "numbers as models": ({"models": np.array([1, 2])}, "models: holds int64, not text"),
    "an item twice": (
        {"items": np.array(["a", "b", "a"])},
        "array items, column 2: 'a' already stands at column 0",
    ),
    "a model twice": ({"models": np.array(["old", "old"])}, "models, row 1: 'old' already"),
    "no such day": ({"dates": np.array(["2024-02-30", ""])}, "dates, row 0: '2024-02-30' is not"),
    "half a character": ({"items": np.array(["a", "b", "\ud800"])}, "items, column 2: holds what"),
    "no kinds of pairs": ({"pair_old": np.array(["old"])}, "array pair_kind: is missing"),
    "fractions as pairs": (pairs([0.5], [1.5], ["x"]), "pair_old: holds float64, not names or row"),
    "too few kinds": (pairs([0, 1], [1, 0], ["x"]), r"have shapes \(2,\), \(2,\), \(1,\)"),
    "pickled": ({"models": np.array(["old", None], dtype=object)}, "models: cannot be read"),
}


@pytest.mark.parametrize(("changed", "message"), UNFIT.values(), ids=UNFIT)
def test_what_does_not_fit_is_named(
    written: Callable[[Arrays], Path], changed: Arrays, message: str
) -> None:
    path = written(arrays() | changed)
    with pytest.raises(errors.HistoryError, match=message) as caught:
        outcomes.read_outcomes(path)
    assert all(p.where.startswith(str(path)) and p.todo for p in caught.value.problems)


def test_all_missing_arrays_are_named(written: Callable[[Arrays], Path]) -> None:
    path = written({"models": np.array(["old"])})
    with pytest.raises(errors.HistoryError) as caught:
        outcomes.read_outcomes(path)
    assert [p.where for p in caught.value.problems] == [
        f"{path}, array outcomes",
        f"{path}, array items",
    ]


@pytest.mark.parametrize("content", [b"", b"model,item\n", b"\x93NUMPY\x01\x00", b"PK\x03\x04rest"])
def test_what_is_no_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "outcomes.npz"
    path.write_bytes(content)
    with pytest.raises(errors.HistoryError, match=r"outcomes\.npz: cannot be read"):
        outcomes.read_outcomes(path)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(errors.HistoryError, match="there is no such file"):
        outcomes.read_outcomes(tmp_path / "absent.npz")
    with pytest.raises(errors.HistoryError, match="cannot be read"):
        outcomes.read_outcomes(tmp_path)


def test_a_member_that_is_no_array_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "outcomes.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("outcomes.npy", "not an array")
    with pytest.raises(errors.HistoryError, match="array outcomes: cannot be read"):
        outcomes.read_outcomes(path)


def test_damage_never_raises_anything_else(written: Callable[[Arrays], Path]) -> None:
    path, generator = written(arrays()), np.random.default_rng(5)
    whole = np.frombuffer(path.read_bytes(), dtype=np.uint8)
    refused = 0
    for _ in range(300):
        damaged = whole.copy()
        damaged[generator.integers(0, len(whole), 3)] = generator.integers(0, 256, 3)
        path.write_bytes(damaged[: generator.integers(1, 2 * len(whole))].tobytes())
        try:
            outcomes.read_outcomes(path)
        except errors.HistoryError:
            refused += 1
    assert refused > 200


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("", None),
        ("2024", date(2024, 12, 31)),
        ("2024-02", date(2024, 2, 29)),
        ("2023-12", date(2023, 12, 31)),
        ("2024-02-03", date(2024, 2, 3)),
    ],
)
def test_last_day(text: str, day: date | None) -> None:
    assert outcomes.last_day(text) == day


@pytest.mark.parametrize("text", ["24", "2024-13", "2024-2", "2024-02-30", "2024-02-03T00", "٢٠٢٤"])
def test_other_spellings_of_a_date_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        outcomes.last_day(text)


@pytest.mark.parametrize(
    ("name", "shape", "observed"),
    [
        ("bfcl_v1", (77, 1700), 1.0),
        ("zeroeval", (55, 2840), 0.82),
        ("math500_aime_amc", (130, 600), 1.0),
        ("cruxeval_repeats", (68, 1600), 0.99),
        ("mmlu_pro_cot", (32, 12032), 1.0),
    ],
)
def test_recorded_files(
    shared_data: Path, name: str, shape: tuple[int, int], observed: float
) -> None:
    matrix = outcomes.read_outcomes(shared_data / "outcomes" / f"{name}.npz")
    assert matrix.outcomes.shape == shape
    assert np.mean(~np.isnan(matrix.outcomes)) == pytest.approx(observed, abs=0.01)
