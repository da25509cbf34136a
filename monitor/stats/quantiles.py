"""The distribution functions that intervals need, in one place so that scipy stays in one place."""

import math
from typing import Final

from scipy import special

GRID: Final = 1_000_000


def student_quantile(degrees: float, *, level: float) -> float:
    """Return the two-sided quantile of Student's t: its absolute value stays below at `level`."""
    return float(special.stdtrit(degrees, 0.5 + level / 2.0))


def normal_quantile(*, level: float) -> float:
    """Return the two-sided quantile of the normal distribution."""
    return float(special.ndtri(0.5 + level / 2.0))


def binomial_upper_bound(successes: int, trials: int, *, tail: float) -> float:
    """Return the largest success probability not ruled out (Clopper and Pearson 1934).

    Rounded up to 1 / `GRID`, since the last bits of the beta quantile differ between machines.

    Args:
        successes: seen among `trials`.
        trials: at least 1.
        tail: probability of the one-sided error.
    """
    if successes >= trials:
        return 1.0
    exact = float(special.betaincinv(successes + 1, trials - successes, 1.0 - tail))
    return min(1.0, math.ceil(exact * GRID) / GRID)
