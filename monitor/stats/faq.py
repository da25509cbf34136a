"""FAQ exactly as published, draw by draw: the baseline of every comparison.

Wu, Nair and Candes, arXiv 2601.20251: an item is drawn with replacement, every draw updates the
posterior, a repeated item too, though it is not asked again. This is the front door; the service
draws in lagged rounds instead. Needs torch.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from monitor.stats import tensors
from monitor.stats.arrays import FloatArray, IntArray
from monitor.stats.factor_models import Factors
from monitor.stats.faq_estimates import Estimate, Evaluation, Pass, Run, uniform_variance
from monitor.stats.faq_settings import Settings, Variant

__all__ = [
    "Estimate",
    "Evaluation",
    "Pass",
    "Run",
    "Settings",
    "Variant",
    "estimate",
    "rehearse",
    "uniform_variance",
    "width",
]

MULTIPLE: Final = 8
"""A block has a multiple of so many rows: below that, a row's rounding depends on their number."""
LARGEST_BLOCK: Final = 128
CACHED: Final = 250_000
"""Numbers of work space that still fit a CPU's cache."""


def rehearse(
    factors: Factors,
    scores: FloatArray,
    *,
    settings: Settings,
    n: int,
    seeds: Sequence[int],
    device: str = "auto",
) -> Sequence[Evaluation]:
    """Run B evaluations on known outcomes.

    On a CPU all is computed on one core, and a result is a function of its row and its seed: what
    else is run beside it changes nothing. Where the settings do not depend on the size, the first
    draws are those of a smaller evaluation (see `Evaluation.estimate`).

    Args:
        factors: of the N items; where outcomes are missing, `of_items` of the ones that are not.
        scores: (B, N) in [0, 1].
        settings: of the sampler.
        n: number of draws; of the sequential variant the number of queries it aims at.
        seeds: (B,) of the random numbers.
        device: auto, cpu or cuda.

    Raises:
        ValueError: shapes that differ, a score outside [0, 1], or no draw.
        ModuleNotFoundError: torch is not installed.
    """
    _check(factors, scores, n=n, seeds=seeds)
    if settings.variant is not Variant.PUBLISHED and n > factors.population:
        raise ValueError(f"n: {n} draws without repeats from {factors.population} items")
    place = tensors.device(device)
    from monitor.stats import faq_draws, faq_sequential  # noqa: PLC0415 - torch is an extra

    sequential = settings.variant is Variant.SEQUENTIAL
    draw = faq_sequential.draw if sequential else faq_draws.draw
    found: list[Evaluation] = []
    side_by_side = width(factors.population, on_cpu=place.type == "cpu")
    with tensors.one_thread():
        for rows in _blocks(len(seeds), side_by_side):
            found += draw(
                factors,
                scores[rows],
                settings=settings,
                n=n,
                seeds=[seeds[row] for row in rows],
                device=place,
            )
    return found[: len(seeds)]


def estimate(evaluation: Evaluation, n: int, *, level: float) -> Estimate:
    """Conclude from the first n draws of an evaluation (see `Evaluation.estimate`)."""
    return evaluation.estimate(n, level=level)


def width(population: int, *, on_cpu: bool) -> int:
    """Return how many evaluations of a pool run side by side."""
    fitting = CACHED // population // MULTIPLE * MULTIPLE if on_cpu else LARGEST_BLOCK
    return min(max(fitting, MULTIPLE), LARGEST_BLOCK)


def _blocks(size: int, width: int) -> Iterator[IntArray]:
    """Yield the rows of each block; the last one is filled up with the last row."""
    filled = -(-size // MULTIPLE) * MULTIPLE
    for start in range(0, filled, width):
        yield np.minimum(np.arange(start, min(start + width, filled)), size - 1)


def _check(factors: Factors, scores: FloatArray, *, n: int, seeds: Sequence[int]) -> None:
    expected = (len(seeds), factors.population)
    if scores.shape != expected or not len(seeds):
        raise ValueError(f"scores: shape must be {expected} (seeds, items), not {scores.shape}")
    if not ((scores >= 0.0) & (scores <= 1.0)).all():
        raise ValueError("scores: every value must lie in [0, 1]; leave missing items out")
    if n < 1:
        raise ValueError(f"n: at least one draw is needed, not {n}")
