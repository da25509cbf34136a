"""Intervals of guided evaluations contain the truth as often as they say, with bad guides too.

The floors are what the rule was measured to keep on recorded pools; a cell fails where its hits
are less likely than 1 in 1,000 at the floor.
"""

import numpy as np
import pytest
from scipy import special, stats

from monitor.stats import estimators, intervals
from monitor.stats.arrays import BoolArray, FloatArray
from monitor.stats.intervals import Bounds
from tests.unit.stats import evaluations

POPULATION = 1000
RUNS = 300
SMALLEST_CHANCE = 1e-3
FLOORS = {
    "calibrated": 0.94,
    "constant": 0.935,
    "overconfident": 0.905,
    "anticorrelated": 0.925,
}


def pool(accuracy: float, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Logits (N,) and one realisation of them, on average about `accuracy` right."""
    logits = rng.normal(1.3 * special.logit(accuracy), 1.5, POPULATION)
    scores = rng.random(POPULATION) < special.expit(logits)
    return logits, scores.astype(np.float64)


def guess(kind: str, logits: FloatArray) -> FloatArray:
    centre = logits.mean()
    guesses: dict[str, FloatArray] = {
        "calibrated": special.expit(logits),
        "constant": np.full_like(logits, special.expit(logits).mean()),
        "overconfident": special.expit(centre + 3.0 * (logits - centre)),
        "anticorrelated": special.expit(2.0 * centre - logits),
    }
    return np.clip(guesses[kind], 0.005, 0.995)


def guided(
    scores: FloatArray,
    predictions: FloatArray,
    n: int,
    *,
    rng: np.random.Generator,
    missing: BoolArray | None = None,
) -> Bounds:
    setting = evaluations.Setting(
        scores=scores,
        predict=evaluations.fixed(predictions),
        sizes=evaluations.two_rounds(n),
        missing=missing,
    )
    sample = evaluations.run(setting, rng)
    estimate = estimators.active_mean(sample)
    assert isinstance(estimate, estimators.PointEstimate)
    bounds = intervals.mixed_t(sample, estimate, level=0.95)
    assert isinstance(bounds, Bounds)
    return bounds


def assert_covers(hits: int, runs: int, floor: float) -> None:
    assert stats.binom.cdf(hits, runs, floor) > SMALLEST_CHANCE, f"{hits} of {runs}"


@pytest.mark.parametrize("n", [30, 60, 170])
@pytest.mark.parametrize("accuracy", [0.5, 0.8, 0.9])
@pytest.mark.parametrize("kind", sorted(FLOORS))
def test_mixed_t_covers(kind: str, accuracy: float, n: int) -> None:
    rng = np.random.default_rng([n, round(100 * accuracy)])
    hits = 0
    for _ in range(RUNS):
        logits, scores = pool(accuracy, rng)
        bounds = guided(scores, guess(kind, logits), n, rng=rng)
        hits += bounds.lower <= scores.mean() <= bounds.upper
    assert_covers(hits, RUNS, FLOORS[kind])


def test_mixed_t_covers_where_the_draws_hold_few_failures() -> None:
    rng = np.random.default_rng(98)
    hits = 0
    for _ in range(2 * RUNS):
        logits, scores = pool(0.98, rng)
        bounds = guided(scores, guess("calibrated", logits), 300, rng=rng)
        hits += bounds.lower <= scores.mean() <= bounds.upper
    assert_covers(hits, 2 * RUNS, 0.95)


@pytest.mark.parametrize(("accuracy", "n"), [(0.5, 30), (0.5, 170), (0.8, 30)])
def test_a_guide_that_expects_only_successes_is_found_out(accuracy: float, n: int) -> None:
    rng = np.random.default_rng(n)
    right = round(accuracy * POPULATION)
    hits = 0
    for _ in range(2 * RUNS):
        scores = rng.permutation(np.repeat([0.0, 1.0], [POPULATION - right, right]))
        bounds = guided(scores, np.full(POPULATION, 0.99), n, rng=rng)
        hits += bounds.lower <= accuracy <= bounds.upper
    assert_covers(hits, 2 * RUNS, 0.935)


@pytest.mark.parametrize("accuracy", [0.0, 0.01, 0.99, 1.0])
def test_extreme_accuracies_are_covered_by_the_floor_bound(accuracy: float) -> None:
    rng = np.random.default_rng(5)
    rare = round(POPULATION * min(accuracy, 1 - accuracy))
    hits = 0
    for _ in range(RUNS):
        scores = np.full(POPULATION, round(accuracy), dtype=np.float64)
        odd = rng.choice(POPULATION, rare, replace=False)
        scores[odd] = 1.0 - scores[odd]
        # The guide is sure of the rare items, and wrong: only the floor finds them.
        predictions = np.where(scores == round(accuracy), 0.5, round(accuracy))
        bounds = guided(scores, np.clip(predictions, 0.005, 0.995), 30, rng=rng)
        hits += bounds.lower <= scores.mean() <= bounds.upper
    assert_covers(hits, RUNS, 0.95)


def test_the_worst_case_covers_answers_that_are_missing_because_they_are_wrong() -> None:
    rng = np.random.default_rng(8)
    plain = worst = 0
    for _ in range(RUNS):
        logits, scores = pool(0.8, rng)
        missing = (scores == 0.0) & (rng.random(POPULATION) < 0.4)
        bounds = guided(scores, guess("calibrated", logits), 170, rng=rng, missing=missing)
        plain += bounds.lower <= scores.mean() <= bounds.upper
        worst += bounds.worst_lower <= scores.mean() <= bounds.worst_upper
    assert_covers(worst, RUNS, 0.95)
    assert plain < 0.8 * RUNS
