"""What strata are forecast to be worth, held against what they are worth on recorded models."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from monitor.history import families, outcomes, repeats, surrogates
from monitor.history.surrogates import Surrogate
from monitor.stats import effective, forecasts, stratification
from monitor.stats.arrays import FloatArray
from monitor.stats.signals import Signal
from monitor.stats.stratification import Layout

Pairs = list[tuple[Signal, list[FloatArray]]]


@pytest.fixture(scope="module")
def pairs(shared_data: Path) -> Pairs:
    """Every model of ten answers an item, with the first answers of all that are no kin of it."""
    path = shared_data / "outcomes" / "cruxeval_repeats.npz"
    matrix = outcomes.read_outcomes(path)
    samples = repeats.read_samples(path, matrix)
    assert samples is not None
    labels, scores = families.label_families(matrix.models), repeats.first_answers(samples)

    def is_unrelated(surrogate: Surrogate, target: int) -> bool:
        return bool(
            surrogates.unrelated(
                [surrogate], target, families=labels, models=matrix.models, same_prefix=8
            )
        )

    recorded = surrogates.Recorded(matrix=matrix, samples=samples, seed=0)
    asked = [row for row in range(len(scores)) if not np.isnan(scores[row]).any()]
    return [
        (each.signal, [scores[row] for row in asked if is_unrelated(each, row)])
        for each in surrogates.find(recorded, surrogates.EveryRow())
    ]


def shares(pairs: Pairs, n: int, *, graded: bool) -> Iterator[tuple[float, float]]:
    """Of the variance of plain sampling: what the forecast counts on to go, and what does."""
    for signal, targets in pairs:
        known = signal if graded else replace(signal, pass_rate=None)
        layout = stratification.lay_out(known, n)
        promised = 1.0 - 1.0 / forecasts.expected_gain(known, layout)
        for scores in targets:
            yield promised, 1.0 - variance(scores, layout) / effective.srs_variance(scores, n)


def variance(scores: FloatArray, layout: Layout) -> float:
    """Of the stratified mean, on known scores (Cochran 1977, theorem 5.3)."""
    sizes = layout.sizes
    means = np.bincount(layout.labels, scores) / sizes
    squares = np.bincount(layout.labels, (scores - means[layout.labels]) ** 2) / (sizes - 1)
    return float((sizes / len(scores)) ** 2 * (1.0 / layout.draws - 1.0 / sizes) @ squares)


@pytest.mark.shared
@pytest.mark.parametrize("n", [80, 160, 400])
@pytest.mark.parametrize(
    ("counted_on", "expected"),
    [(forecasts.TRANSFER_OF_SCORES, 0.32), (forecasts.TRANSFER_OF_AGREEMENT, 0.68)],
    ids=["graded", "agreement"],
)
def test_forecasts_count_on_less_than_other_models_keep(
    pairs: Pairs, n: int, counted_on: float, expected: float
) -> None:
    graded = counted_on == forecasts.TRANSFER_OF_SCORES
    promised, taken = np.array(list(shares(pairs, n, graded=graded))).T
    kept = counted_on * (promised @ taken) / (promised @ promised)
    assert len(promised) == 3472
    assert counted_on < kept == pytest.approx(expected, rel=0.06)
    assert promised.mean() < taken.mean()
