"""Histories with cells taken away, as sparse as those that users have.

The paper's settings (arXiv 2601.20251): some models in full and a share of the others' cells, or a
share of all cells.
"""

import re
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from monitor.domain import errors

WHOLE: Final = 100.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Mask:
    """What stays: so many rows in full, and a share of the other cells, in [0, 1]."""

    full_rows: int
    share: float


def parse_mask(written: str) -> Mask:
    """Read a share of all cells such as "0.1%", or full rows and a share such as "200:10%".

    Raises:
        UsageError: it is neither.
    """
    found = re.fullmatch(r"(?:(\d+):)?(\d+(?:\.\d+)?)%", written.strip(), re.ASCII)
    if found is None or float(found[2]) > WHOLE:
        raise errors.UsageError(
            f'--observed {written!r}: must be a share of all cells such as "0.1%", or full rows '
            'and a share of the other cells such as "200:10%"'
        )
    return Mask(full_rows=int(found[1] or 0), share=float(found[2]) / WHOLE)


def apply_mask(
    outcomes: npt.NDArray[np.float64], mask: Mask, *, seed: int
) -> npt.NDArray[np.float64]:
    """Return the outcomes (M, N) with NaN in what is not kept; rows and cells go at random."""
    generator = np.random.default_rng(seed)
    kept = generator.random(outcomes.shape) < mask.share
    kept[generator.permutation(len(outcomes))[: mask.full_rows]] = True
    return np.where(kept, outcomes, np.nan)
