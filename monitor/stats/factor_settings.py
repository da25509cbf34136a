"""How a factor model is fitted, and how well a way of fitting did: what all its parts speak of."""

import dataclasses

import numpy as np
import numpy.typing as npt

FactorArray = npt.NDArray[np.float32]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class FactorSettings:
    """How factors are fitted, as in the paper.

    k: number of factors.
    decay: weight decay of AdamW (decoupled, so it is the shrinkage per unit of learning rate).
    learning_rate, steps: of AdamW, on all observed cells at once.
    seed: of the N(0, 1) start.
    """

    k: int
    decay: float
    learning_rate: float = 1e-2
    steps: int = 2000
    seed: int = 0

    def __post_init__(self) -> None:
        for name, least in (("k", 1), ("decay", 0), ("learning_rate", 0), ("steps", 1)):
            value = getattr(self, name)
            if not (np.isfinite(value) and value >= least):
                raise ValueError(f"{name}: must be a finite number >= {least}, not {value}")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Validation:
    """A candidate, and its mean log-loss on cells that it was not fitted to, in nats."""

    settings: FactorSettings
    loss: float
