"""What one replayed evaluation came to, beside what is known because all outcomes are known.

symbol   name
N        items of the target with a recorded outcome
S^2      variance of their scores with divisor N - 1
"""

import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One evaluation of one target.

    target: row of the file of outcomes.
    design, budget: as asked for; n: what the budget comes to on this target.
    drawn_by: the design that the planner took for it, "census" where all items are asked.
    guide: name of what predicted the scores.
    seed: of the clocks; with target and surrogate it settles them, whatever the design.
    estimate, lower, upper, variance: None where there is no estimate; `reason` says why.
    truth: mean of the N scores.
    exact_variance: of the estimate, from the known outcomes; 0 for a census.
    srs_variance: of n plain random draws without replacement, S^2 (N - n) / (N n).
    uniform_variance: of the paper's yardstick, n independent draws expected and
        Horvitz-Thompson's estimate: mean of z^2, times (1 - n/N) / n (arXiv 2601.20251).
    queries: distinct items, which is what is paid for.
    surrogate: whose answers the strata were made from; None for designs without.
    explained: share of the scores' variance between the paper's strata of that surrogate.
    """

    target: int
    design: str
    budget: str
    n: int
    population: int
    drawn_by: str
    guide: str
    seed: int
    estimate: float | None
    lower: float | None
    upper: float | None
    reason: str | None
    truth: float
    variance: float | None
    exact_variance: float
    srs_variance: float
    uniform_variance: float
    queries: int
    surrogate: str | None = None
    explained: float | None = None

    @property
    def covers(self) -> bool:
        """Whether there is an interval and it contains the truth."""
        if self.lower is None or self.upper is None:
            return False
        return self.lower <= self.truth <= self.upper

    @property
    def srs_variance_of_queries(self) -> float:
        """Variance of plain draws without replacement of as many items as were paid for."""
        left = _unasked(self.n, self)
        return self.srs_variance * _unasked(self.queries, self) / left if left else 0.0


def encode(record: Record) -> str:
    """Return the record as one line of JSON; numbers read back to the same bits."""
    return json.dumps(asdict(record), ensure_ascii=False, allow_nan=False) + "\n"


def _unasked(draws: int, record: Record) -> float:
    return 1.0 / draws - 1.0 / record.population
