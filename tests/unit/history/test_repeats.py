from pathlib import Path

import numpy as np
import pytest

from monitor.domain.errors import HistoryError
from monitor.history import repeats
from tests.unit.history import recorded

SHAPE = (recorded.MODELS, recorded.ITEMS, 2)


def written(folder: Path, **arrays: np.ndarray) -> Path:
    np.savez(folder / "outcomes.npz", **arrays)  # type: ignore[arg-type]  # numpy's own keywords
    return folder / "outcomes.npz"


def test_samples_are_read_as_they_stand(tmp_path: Path) -> None:
    file = written(tmp_path, samples=recorded.samples().astype(np.int8))
    found = repeats.read_samples(file, recorded.matrix())
    np.testing.assert_array_equal(found, recorded.samples())


def test_a_file_may_have_none(tmp_path: Path) -> None:
    file = written(tmp_path, outcomes=recorded.scores())
    assert repeats.read_samples(file, recorded.matrix()) is None


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        (np.zeros(SHAPE[:2], dtype=int), r"has shape \(16, 400\), but outcomes has shape"),
        (np.zeros((16, 399, 2), dtype=int), r"has shape \(16, 399, 2\), but outcomes has shape"),
        (np.full(SHAPE, 2), "holds other than the whole numbers 0, 1 and -1"),
        (np.full(SHAPE, 0.5), "holds other than the whole numbers 0, 1 and -1"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: Path, samples: np.ndarray, message: str) -> None:
    with pytest.raises(HistoryError, match=rf"outcomes\.npz, array samples: {message}"):
        repeats.read_samples(written(tmp_path, samples=samples), recorded.matrix())


def test_no_first_answer_is_no_score() -> None:
    found = repeats.first_answers(np.array([[[1, 0], [0, 1], [-1, 1]]]))
    np.testing.assert_array_equal(found, [[1.0, 0.0, np.nan]])
