from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from monitor.domain.errors import HistoryError, UsageError
from monitor.history import surrogates
from monitor.history.surrogates import EveryRow, Recorded, Rows, StoredSignal, Surrogate, Wish
from tests.unit.history import recorded

RECORDED = Recorded(matrix=recorded.matrix(), samples=recorded.samples(), seed=1)
FAMILIES = tuple(range(recorded.MODELS))


@pytest.mark.parametrize(
    ("written", "wish"),
    [
        ("auto", EveryRow()),
        ("auto:3", EveryRow(together=3)),
        ("row:a b", Rows(names=("a b",))),
        ("row:a, b,row:c", Rows(names=("a, b", "c"))),
        ("some/signal.npz", StoredSignal(path=Path("some/signal.npz"))),
    ],
)
def test_the_forms_of_a_wish(written: str, wish: Wish) -> None:
    assert surrogates.parse_wish(written) == wish


@pytest.mark.parametrize("written", ["model-1", "auto:0", "auto:x", "file.npy", "shuffled"])
def test_other_forms_are_refused(written: str) -> None:
    with pytest.raises(UsageError, match=f"--surrogate '{written}': must be row:MODEL"):
        surrogates.parse_wish(written)


def test_a_row_tells_what_its_answers_were() -> None:
    (found,) = surrogates.find(RECORDED, Rows(names=("model-2",)))
    assert (found.name, found.rows) == ("model-2", (2,))
    assert found.signal.pass_rate is not None
    np.testing.assert_allclose(found.signal.pass_rate, recorded.samples()[2].mean(axis=1))


def test_rows_are_averaged() -> None:
    first, second, both = (
        surrogates.find(RECORDED, Rows(names=names))[0].signal
        for names in (("model-2",), ("model-5",), ("model-2", "model-5"))
    )
    np.testing.assert_allclose(both.entropy, (first.entropy + second.entropy) / 2)


def test_every_row_is_a_surrogate_in_turn() -> None:
    found = surrogates.find(RECORDED, EveryRow())
    assert [each.rows for each in found] == [(row,) for row in range(recorded.MODELS)]
    assert [each.number for each in found] == list(range(recorded.MODELS))


def test_rows_asked_less_often_are_none() -> None:
    samples = recorded.samples()
    samples[4, :, 3:] = -1
    found = surrogates.find(replace(RECORDED, samples=samples), EveryRow())
    assert (4,) not in [each.rows for each in found]
    assert len(found) == recorded.MODELS - 1


def test_rows_are_dealt_round_so_that_neighbours_are_apart() -> None:
    found = surrogates.find(RECORDED, EveryRow(together=3))
    assert [each.rows for each in found][:2] == [(0, 5, 10, 15), (1, 6, 11)]
    assert sorted(row for each in found for row in each.rows) == list(range(recorded.MODELS))


def test_without_single_answers_a_row_is_its_pass_rate() -> None:
    (found,) = surrogates.find(replace(RECORDED, samples=None), Rows(names=("model-2",)))
    np.testing.assert_array_equal(found.signal.pass_rate, recorded.scores()[2])
    assert found.signal.single.all()


def test_a_row_that_is_not_there_is_named() -> None:
    with pytest.raises(UsageError, match="--surrogate row:gpt: the outcomes have no model"):
        surrogates.find(RECORDED, Rows(names=("gpt",)))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(HistoryError, match=r"no\.npz: there is no such file"):
        surrogates.find(RECORDED, StoredSignal(path=tmp_path / "no.npz"))


def rows_for(target: int, *, families: tuple[int, ...] = FAMILIES, prefix: int = 0) -> list[int]:
    """Rows of the surrogates of a target."""
    every = [recorded_surrogate(row) for row in range(recorded.MODELS)]
    models = recorded.matrix().models
    found = surrogates.unrelated(
        every, target, families=families, models=models, same_prefix=prefix
    )
    return [each.rows[0] for each in found]


def recorded_surrogate(row: int) -> Surrogate:
    signal = recorded.surrogate().signal
    return Surrogate(name=str(row), number=row, rows=(row,), signal=signal)


def test_no_row_is_a_surrogate_of_itself_or_its_family() -> None:
    assert rows_for(3) == [row for row in range(16) if row != 3]
    assert rows_for(3, families=(0, 0, 0, 0, *range(4, 16))) == list(range(4, 16))


def test_names_that_begin_alike_may_count_as_kin() -> None:
    assert rows_for(3, prefix=6) == []
    assert rows_for(12, prefix=7) == [0, *range(2, 10)]


def test_a_shuffled_signal_tells_nothing_of_its_own_items() -> None:
    told = recorded.surrogate()
    found = surrogates.shuffle(told, seed=1)
    np.testing.assert_array_equal(np.sort(found.signal.entropy), np.sort(told.signal.entropy))
    assert abs(np.corrcoef(found.signal.entropy, told.signal.entropy)[0, 1]) < 0.2
