"""How the variance of a term falls as the guide learns: what the weights of a plan rest on.

It is measured on replays of left-out historical models, never on the evaluation it weighs, so
weights stay fixed in the plan and the estimate unbiased.
"""

import dataclasses
from collections.abc import Mapping
from typing import Final, Self

import numpy as np
from scipy import optimize

from monitor.stats import arrays
from monitor.stats.arrays import FloatArray

SMALLEST_LEVEL: Final = 1e-3


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Profile:
    """Variance of the t-th term over the share of the pool that is left, squared; in steps.

    starts: (r,) draw number t, from 0, at which each step begins; rising, the first is 0.
    levels: (r,) positive and never rising; only their ratios matter.
    """

    starts: FloatArray
    levels: FloatArray

    @classmethod
    def smoothed(cls, *, starts: FloatArray, levels: FloatArray, sizes: FloatArray) -> Self:
        """Return the closest profile that never rises: answers do not make a guide worse.

        Args:
            starts: (r,) as above.
            levels: (r,) measured, not negative.
            sizes: (r,) number of draws behind each level.
        """
        falling = optimize.isotonic_regression(levels, weights=sizes, increasing=False).x
        # An outcome foreseen to the last item would make every weight before it vanish.
        return cls(starts=starts, levels=np.maximum(falling, falling[0] * SMALLEST_LEVEL))

    def at(self, draws: int) -> FloatArray:
        """Return the level of draws 0 to `draws` - 1; beyond what was replayed, the last one."""
        steps = np.searchsorted(self.starts, np.arange(draws), side="right") - 1
        return self.levels[steps]

    def columns(self) -> Mapping[str, FloatArray]:
        """Return the two columns by name."""
        return {"starts": self.starts, "levels": self.levels}

    @classmethod
    def from_columns(cls, columns: Mapping[str, FloatArray]) -> Self:
        """Check and copy.

        Raises:
            ValueError: a column is missing, or they are no profile.
        """
        starts = arrays.column(columns, "starts")
        levels = arrays.column(columns, "levels", size=len(starts))
        if not len(starts) or starts[0] != 0.0 or (np.diff(starts) <= 0.0).any():
            raise ValueError("starts: must begin with 0 and rise")
        if (levels <= 0.0).any() or (np.diff(levels) > 0.0).any():
            raise ValueError("levels: must be positive and never rise")
        return cls(starts=starts, levels=levels)
