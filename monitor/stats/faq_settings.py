"""What FAQ leaves open, by the names of its paper (Wu, Nair and Candes, arXiv 2601.20251)."""

import dataclasses
import enum
import math


class Variant(enum.StrEnum):
    """The method, and the two ablations of its paper.

    WITHOUT_REPLACEMENT: an item once drawn has probability 0, yet the estimator is still the one
        for draws with replacement. It is biased and covers too seldom: the published warning.
    SEQUENTIAL: one pass over the items in the order of the pool, each asked or not by a coin
        (Zrnic and Candes 2024, arXiv 2403.03208, algorithm 2).
    """

    PUBLISHED = "published"
    WITHOUT_REPLACEMENT = "without_replacement"
    SEQUENTIAL = "sequential"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How items are chosen. Of these the variant SEQUENTIAL uses tau only.

    beta0: exponent of the scores.
    rho: share of the draws over which the active score fades out; 0: never used.
    gamma: share of the draws over which the exponent grows to beta0; 0: beta0 from the start.
    tau: share of the probability that is spread evenly, in (0, 1]; 0 would leave 1/q unbounded.
    """

    beta0: float = 1.0
    rho: float = 0.0
    gamma: float = 0.0
    tau: float = 0.25
    variant: Variant = Variant.PUBLISHED

    def __post_init__(self) -> None:
        for name in ("beta0", "rho", "gamma"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0.0):
                raise ValueError(f"{name}: must be a finite number >= 0, not {value}")
        if not 0.0 < self.tau <= 1.0:
            raise ValueError(f"tau: must be in (0, 1], not {self.tau}")

    @property
    def depends_on_size(self) -> bool:
        """Whether the first draws are others where more are planned."""
        return self.rho > 0.0 or self.gamma > 0.0 or self.variant is Variant.SEQUENTIAL

    def alpha(self, t: int, n: int) -> float:
        """Return alpha_t, the share of the active score at draw t (from 1) of n."""
        return max(0.0, 1.0 - t / (self.rho * n)) if self.rho else 0.0

    def beta(self, t: int, n: int) -> float:
        """Return beta_t, the exponent of the scores at draw t (from 1) of n."""
        return self.beta0 * min(1.0, t / (self.gamma * n)) if self.gamma else self.beta0
