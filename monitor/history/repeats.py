"""Single answers behind recorded pass rates: the array `samples` of a file of outcomes."""

from pathlib import Path

import numpy as np
import numpy.typing as npt

from monitor.domain import errors
from monitor.history import outcomes
from monitor.history.outcomes import OutcomeMatrix

SAMPLES = "samples"
NONE = -1
RIGHT = 1

Samples = npt.NDArray[np.int64]


def read_samples(path: Path, matrix: OutcomeMatrix) -> Samples | None:
    """Read which of the K answers of each model to each item were right.

    Args:
        path: the file of outcomes.
        matrix: what was read from it.

    Returns:
        (M, N, K): 1 right, 0 wrong, -1 no answer; None where the file has only pass rates.

    Raises:
        HistoryError: the file cannot be read, or the array does not fit.
    """
    arrays = outcomes.read_arrays(path, (SAMPLES,))
    if SAMPLES not in arrays:
        return None
    found, shape = arrays[SAMPLES], matrix.outcomes.shape
    if found.ndim != len(("models", "items", "answers")) or found.shape[:2] != shape:
        what = f"has shape {found.shape}, but outcomes has shape {shape}"
        raise _unfit(path, what, todo="models x items x answers, as many of each as in outcomes")
    if found.dtype.kind not in "iu" or not np.isin(found, (NONE, 0, RIGHT)).all():
        what = "holds other than the whole numbers 0, 1 and -1"
        raise _unfit(path, what, todo="1 for a right answer, 0 for a wrong one, -1 for none")
    return found.astype(np.int64)


def first_answers(samples: Samples) -> npt.NDArray[np.float64]:
    """Return the score of each first answer, (M, N): what asking once would have brought."""
    first = samples[:, :, 0]
    scores = np.where(first == NONE, np.nan, first.astype(np.float64))
    scores.setflags(write=False)
    return scores


def _unfit(path: Path, what: str, *, todo: str) -> errors.HistoryError:
    where = f"{path}, array {SAMPLES}"
    return errors.HistoryError([errors.Problem(where=where, what=what, todo=todo)])
