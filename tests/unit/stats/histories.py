"""Histories from item-response models, for tests of guides."""

import numpy as np
from scipy import special

from monitor.stats.answers import History
from monitor.stats.arrays import FloatArray

Chances = FloatArray


def chances(models: int, items: int, *, seed: int = 0, spread: float = 0.7) -> Chances:
    """Probability of a right answer, (models, items): abilities and easiness of some spread."""
    rng = np.random.default_rng(seed)
    return np.asarray(
        special.expit(rng.normal(0.0, spread, (models, 1)) + rng.normal(0.5, 1.5, items))
    )


def answered(likely: Chances, *, seed: int = 1) -> FloatArray:
    """0/1 outcomes with these probabilities."""
    rng = np.random.default_rng(seed)
    return (rng.random(likely.shape) < likely).astype(np.float64)


def informative(models: int = 12, items: int = 200, *, seed: int = 0) -> History:
    """Models that find the same items hard."""
    return History.from_matrix(answered(chances(models, items, seed=seed)))


def noise(models: int = 12, items: int = 200) -> History:
    """Models whose answers have nothing in common."""
    return History.from_matrix(answered(np.full((models, items), 0.5)))


def noise_in_pairs(families: int = 10, items: int = 300) -> History:
    """The same, but each model stands there twice: its second row gives the first away."""
    rows = answered(np.full((families, items), 0.5))
    return History.from_matrix(
        np.repeat(rows, 2, axis=0), families=np.repeat(np.arange(families), 2)
    )
