"""Intervals contain the truth as often as they say: small and large samples, good and bad guides.

The floors are what the method promises; a cell fails where its hits are less likely than 1 in
1,000 at the floor. One evaluation serves all smaller sizes, being the beginning of larger ones.
"""

import functools
import itertools
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from scipy import special, stats

from monitor.stats import estimators, intervals, sampling, weights
from monitor.stats.arrays import BoolArray, FloatArray
from monitor.stats.designs import WithoutReplacement
from monitor.stats.draws import ItemView
from monitor.stats.intervals import Bounds, Refusal, RefusalReason
from monitor.stats.samples import Sample

RUNS = 200
SMALLEST_CHANCE = 1e-3
LEVEL = 0.95
RIGHT, WRONG = 0.94, 0.90
GOOD = ("calibrated", "constant")
# What a guide says of an item: its logit times a slope about the centre, plus a shift.
SLOPES = {
    "calibrated": (1.0, 0.0),
    "constant": (0.0, 0.0),
    "too steep": (3.0, 0.0),
    "too steep, far too low": (3.0, -2.0),
    "far too high": (1.0, 2.0),
    "upside down": (-1.0, 0.0),
    "steeply upside down": (-3.0, 0.0),
}
OTHERS = ("too steep about one half", "always .99")


def pool(accuracy: float, population: int, rng: np.random.Generator) -> tuple[FloatArray, ...]:
    """Logits (N,) and one realisation of them, on average about `accuracy` right."""
    logits = rng.normal(1.3 * special.logit(accuracy), 1.5, population)
    scores = rng.random(population) < special.expit(logits)
    return logits, scores.astype(np.float64)


def guess(kind: str, logits: FloatArray) -> FloatArray:
    centre = logits.mean()
    if kind == "always .99":
        guesses = np.full_like(logits, 0.99)
    elif kind == "too steep about one half":
        guesses = special.expit(3.0 * logits)
    else:
        slope, shift = SLOPES[kind]
        guesses = special.expit(centre + slope * (logits - centre) + shift)
    return np.clip(guesses, 0.005, 0.995)


def samples(
    scores: FloatArray,
    predictions: FloatArray,
    sizes: Sequence[int],
    *,
    rng: np.random.Generator,
    missing: BoolArray | None = None,
    dispersion: float = 1.0,
) -> Iterator[Sample]:
    """Evaluations by a guide that learns nothing, one of each size, rounds ending at each."""
    population = len(scores)
    groups = np.zeros(population, dtype=np.int64)
    view = ItemView.from_columns(predictions, groups, dispersion=dispersion)
    state = sampling.open_pool(rng.integers(0, 2**53, population))
    rounds = []
    for drawn, size in itertools.pairwise((0, *sizes)):
        columns, state = WithoutReplacement().draw(state, view, size=size - drawn)
        rounds.append(columns)
        items = np.concatenate([each.item for each in rounds])
        answered = np.ones(size, dtype=np.bool_) if missing is None else ~missing[items]
        yield Sample(
            population=population,
            dispersion=dispersion,
            items=items,
            probabilities=np.concatenate([each.probability for each in rounds]),
            predictions=predictions[items],
            rest_prediction_sums=np.concatenate([each.rest_prediction_sum for each in rounds]),
            model_variances=np.concatenate([each.model_variance for each in rounds]),
            scores=np.where(answered, scores[items], 0.0),
            answered=answered,
            weights=shared_weights(size, population),
        )


@functools.cache
def shared_weights(size: int, population: int) -> FloatArray:
    return np.array(weights.term_weights(size, population))


def bounded(sample: Sample) -> Bounds | Refusal:
    estimate = estimators.active_mean(sample)
    assert isinstance(estimate, estimators.PointEstimate)
    return intervals.mixed_t(sample, estimate, level=LEVEL)


def assert_covers(hits: int, runs: int, floor: float, cell: object = "") -> None:
    assert stats.binom.cdf(hits, runs, floor) > SMALLEST_CHANCE, f"{cell}: {hits} of {runs}"


def hits_by_size(
    kind: str, accuracy: float, sizes: Sequence[int], *, population: int, runs: int
) -> Counter[int]:
    rng = np.random.default_rng([population, round(1000 * accuracy), *kind.encode()])
    hits: Counter[int] = Counter()
    for _ in range(runs):
        logits, scores = pool(accuracy, population, rng)
        truth = scores.mean()
        for sample in samples(scores, guess(kind, logits), sizes, rng=rng):
            found = bounded(sample)
            assert isinstance(found, Bounds)
            hits[sample.size] += found.lower <= truth <= found.upper
    return hits


@pytest.mark.parametrize("accuracy", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("kind", [*SLOPES, *OTHERS])
def test_guided_intervals_cover_from_five_draws_up(kind: str, accuracy: float) -> None:
    sizes = (5, 30, 170)
    hits = hits_by_size(kind, accuracy, sizes, population=1000, runs=RUNS)
    for size in sizes:
        assert_covers(hits[size], RUNS, RIGHT if kind in GOOD else WRONG, size)


@pytest.mark.parametrize("accuracy", [0.8, 0.95])
@pytest.mark.parametrize("kind", ["calibrated", "too steep about one half", "upside down"])
def test_guided_intervals_cover_until_few_items_are_left(kind: str, accuracy: float) -> None:
    sizes = (100, 190, 199)
    hits = hits_by_size(kind, accuracy, sizes, population=200, runs=RUNS)
    for size in sizes:
        assert_covers(hits[size], RUNS, RIGHT if kind in GOOD else WRONG, size)


@pytest.mark.parametrize(
    ("kind", "accuracy", "size", "population", "floor"),
    [
        # Sure of items that fail now and then: where none of them was drawn, all looks fine.
        ("too steep about one half", 0.8, 30, 1000, WRONG),
        ("too steep about one half", 0.9, 30, 1000, WRONG),
        # Ten right answers where it expects few: nothing but the guide speaks for a failure.
        ("too steep, far too low", 0.95, 10, 1000, RIGHT),
        # The items left to the end are those it is wrong about.
        ("upside down", 0.95, 190, 200, 0.92),
    ],
)
def test_the_guides_that_are_hardest_to_cover(
    kind: str, accuracy: float, size: int, population: int, floor: float
) -> None:
    runs = 5 * RUNS
    hits = hits_by_size(kind, accuracy, (size,), population=population, runs=runs)
    assert_covers(hits[size], runs, floor)


def test_few_failures_are_worth_few_degrees_of_freedom() -> None:
    runs = 3 * RUNS
    hits = hits_by_size("calibrated", 0.98, (300,), population=1000, runs=runs)
    assert_covers(hits[300], runs, 0.95)


@pytest.mark.parametrize("accuracy", [0.0, 0.01, 0.2, 0.8, 0.99, 1.0])
@pytest.mark.parametrize("size", [5, 10, 30])
def test_extreme_accuracies_are_covered_by_the_floor_bound(accuracy: float, size: int) -> None:
    rng = np.random.default_rng(5)
    rare = round(1000 * min(accuracy, 1 - accuracy))
    hits = 0
    for _ in range(RUNS):
        scores = np.full(1000, round(accuracy), dtype=np.float64)
        odd = rng.choice(1000, rare, replace=False)
        scores[odd] = 1.0 - scores[odd]
        # The guide is sure of the rare items, and wrong: only the floor finds them.
        likely = 0.9 if accuracy > 0.5 else 0.1
        predictions = np.where(scores == round(accuracy), likely, round(accuracy))
        (sample,) = samples(scores, np.clip(predictions, 0.005, 0.995), (size,), rng=rng)
        found = bounded(sample)
        assert isinstance(found, Bounds)
        hits += found.lower <= scores.mean() <= found.upper
    assert_covers(hits, RUNS, 0.95)


def fractional(kind: str, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Expected scores (N,) and scores around them."""
    expected = special.expit(rng.normal({"near 1": 3.0, "near 0": -3.0}.get(kind, 0.8), 1.0, 1000))
    if kind == "ordinal":
        return expected, rng.binomial(4, expected) / 4
    return expected, rng.beta(6 * expected, 6 * (1 - expected))


@pytest.mark.parametrize("kind", ["beta", "ordinal", "near 1", "near 0"])
def test_fractional_scores_are_covered_or_refused(kind: str) -> None:
    rng = np.random.default_rng(len(kind))
    hits: Counter[int] = Counter()
    known: Counter[int] = Counter()
    for _ in range(RUNS):
        expected, scores = fractional(kind, rng)
        predictions = np.clip(expected, 0.005, 0.995)
        for sample in samples(scores, predictions, (5, 30, 170), rng=rng, dispersion=0.25):
            found = bounded(sample)
            if isinstance(found, Refusal):
                few = {RefusalReason.TOO_FEW_FAILURES, RefusalReason.TOO_FEW_SUCCESSES}
                assert found.reason in few
                continue
            known[sample.size] += 1
            hits[sample.size] += found.lower <= scores.mean() <= found.upper
    # Sums of a few hundredths add up to no failure: without them nothing may be said.
    assert (known[30] == RUNS) is (kind not in {"near 1", "near 0"})
    for size in (30, 170):
        assert_covers(hits[size], known[size], RIGHT, size)


def test_the_worst_case_covers_answers_that_are_missing_because_they_are_wrong() -> None:
    rng = np.random.default_rng(8)
    plain: Counter[int] = Counter()
    worst: Counter[int] = Counter()
    for _ in range(RUNS):
        logits, scores = pool(0.8, 1000, rng)
        lost = (scores == 0.0) & (rng.random(1000) < 0.4)
        predictions = guess("calibrated", logits)
        for sample in samples(scores, predictions, (10, 170), rng=rng, missing=lost):
            found = bounded(sample)
            assert isinstance(found, Bounds)
            plain[sample.size] += found.lower <= scores.mean() <= found.upper
            worst[sample.size] += found.worst_lower <= scores.mean() <= found.worst_upper
    assert_covers(worst[10], RUNS, 0.95)
    assert_covers(worst[170], RUNS, 0.95)
    assert plain[170] < 0.8 * RUNS


def test_right_guides_pay_nothing_for_the_guard_against_wrong_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(9)
    made = []
    for _ in range(RUNS):
        logits, scores = pool(0.8, 1000, rng)
        made += list(samples(scores, guess("calibrated", logits), (30, 60), rng=rng))
    guarded = widths(made)
    monkeypatch.setattr("monitor.stats.variances.GATE_DEVIATIONS", np.inf)
    monkeypatch.setattr("monitor.stats.variances.HARD_GATE_DEVIATIONS", np.inf)
    assert guarded < 1.02 * widths(made)


def widths(made: Sequence[Sample]) -> float:
    found = [bounded(sample) for sample in made]
    return sum(each.upper - each.lower for each in found if isinstance(each, Bounds))
