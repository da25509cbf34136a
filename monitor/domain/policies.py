"""What is wanted of an evaluation: its objective, level, method and budget."""

from dataclasses import dataclass
from enum import StrEnum
from math import ceil


class Method(StrEnum):
    """What a user asks for; the plan says which design came of it and why."""

    AUTO = "auto"
    FAQ = "faq"
    FAQ_PUBLISHED = "faq_published"
    NEYMAN = "neyman"
    SIMPLE = "simple"


class KeepAnswers(StrEnum):
    """Which texts of answers are kept for people to look at; doubtful: those without a score."""

    NONE = "none"
    DOUBTFUL = "doubtful"
    ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class NotWorse:
    """The new version may be at most `tolerance` below the version before."""

    tolerance: float = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class AtLeast:
    """The pool mean must reach `threshold`."""

    threshold: float


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateOnly:
    """No demand: an interval is all that is wanted."""


Objective = NotWorse | AtLeast | EstimateOnly


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How many items to draw: a count, or a share of the pool but at least `minimum`."""

    count: int | None = None
    share: float = 0.1
    minimum: int = 100

    def draws(self, population: int) -> int:
        """Number of draws on a pool of `population` items, never more than there are."""
        wanted = self.count if self.count is not None else ceil(self.share * population)
        floor = 0 if self.count is not None else self.minimum
        return min(population, max(wanted, floor))


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """One complete set of wishes.

    level: confidence level of the interval, in (0, 1).
    missing_limit: share of missing answers above which the verdict is at best INCONCLUSIVE.
    attempt_margin: attempts allowed beyond one a draw, as a share of the draws.
    """

    objective: Objective = NotWorse()
    level: float = 0.95
    method: Method = Method.AUTO
    budget: Budget = Budget()
    missing_limit: float = 0.05
    attempt_margin: float = 0.1
    keep_answers: KeepAnswers = KeepAnswers.DOUBTFUL
