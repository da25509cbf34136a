"""Strata bias nothing whatever the signal, are worth what is stated, and their intervals cover."""

import dataclasses
import functools
import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from scipy import special, stats

from monitor.history import recorded_signals
from monitor.stats import effective, estimators, intervals, quantiles, signals, stratification
from monitor.stats.arrays import BoolArray, FloatArray, IntArray
from monitor.stats.estimators import PointEstimate
from monitor.stats.intervals import Bounds
from monitor.stats.signals import Signal
from monitor.stats.stratification import Layout, Settings
from tests.unit.stats import evaluations

SMALLEST_CHANCE = 1e-3
LOWEST_COVERAGE = 0.94
ANSWERS = 10
PUBLISHED = Settings(refined=False)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pair:
    """A surrogate's signal of N items, and the scores of a target, (N,)."""

    signal: Signal
    scores: FloatArray

    def layout(self, n: int, settings: Settings | None = None) -> Layout:
        return stratification.lay_out(self.signal, n, settings)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evaluations:
    """What many evaluations found, columns of shape (runs,)."""

    values: FloatArray
    variances: FloatArray
    lower: FloatArray
    upper: FloatArray

    def covered(self, truth: float) -> int:
        return int(((self.lower <= truth) & (truth <= self.upper)).sum())


@functools.cache
def item_response(*, easiness: float, scores_of: int = 1, population: int = 1000) -> Pair:
    """Surrogate and target share half the variance of their difficulties.

    Args:
        easiness: of the items for the target, in logits.
        scores_of: a score is the mean of so many 0/1 ones.
        population: N.
    """
    rng = np.random.default_rng(7)
    shared, own = rng.normal(size=(2, population))
    right = rng.binomial(ANSWERS, special.expit(0.5 + 1.5 * shared))
    chances = special.expit(easiness + 1.7 * (0.7 * shared + 0.7 * own))
    return Pair(
        signal=recorded_signals.of_answers(right, np.full(population, ANSWERS), rng),
        scores=rng.binomial(scores_of, chances) / scores_of,
    )


USUAL, STRONG, FRACTIONAL = 0.8, 4.7, 1.5


def of_kind(easiness: float) -> Pair:
    return item_response(easiness=easiness, scores_of=5 if easiness == FRACTIONAL else 1)


def evaluate(
    pair: Pair,
    layout: Layout,
    *,
    runs: int,
    missing: float = 0.0,
    lost: Sequence[int] | IntArray = (),
    worst: bool = False,
) -> Evaluations:
    """Evaluate so often, each time without answers to `lost` and to a share of all items."""
    rng, rows = np.random.default_rng(3), []
    for _ in range(runs):
        silent = rng.random(len(pair.scores)) < missing
        silent[list(lost)] = True
        rows.append(evaluate_once(pair, layout, rng, silent=silent, worst=worst))
    values, variances, lower, upper = np.array(rows).T
    return Evaluations(values=values, variances=variances, lower=lower, upper=upper)


def evaluate_once(
    pair: Pair, layout: Layout, rng: np.random.Generator, *, silent: BoolArray, worst: bool
) -> tuple[float, float, float, float]:
    setting = evaluations.Setting(
        scores=pair.scores,
        predict=evaluations.blind(len(pair.scores)),
        sizes=(int(layout.draws.sum()),),
        design="stratified",
        layout=layout,
        missing=silent,
    )
    sample = evaluations.run(setting, rng)
    found = estimators.stratified_mean(sample)
    assert isinstance(found, PointEstimate)
    assert found.variance is not None
    bounds = intervals.stratified_wilson(sample, found, level=0.95)
    assert isinstance(bounds, Bounds)
    if worst:
        return found.value, found.variance, bounds.worst_lower, bounds.worst_upper
    return found.value, found.variance, bounds.lower, bounds.upper


def exact_variance(scores: FloatArray, layout: Layout) -> float:
    """Return sum W_h^2 (1 - n_h/N_h) S_h^2/n_h (Cochran 1977, theorem 5.3)."""
    inside = [scores[layout.labels == label] for label in range(len(layout.draws))]
    squares = np.array([each.var(ddof=1) for each in inside])
    sizes = layout.sizes / len(scores)
    return float((sizes**2 * squares * (1 / layout.draws - 1 / layout.sizes)).sum())


def ratio(pair: Pair, n: int, settings: Settings | None = None) -> float:
    """Return the variance from strata over that of plain random sampling."""
    plain = effective.srs_variance(pair.scores, n)
    return exact_variance(pair.scores, pair.layout(n, settings)) / plain


def shuffled(pair: Pair, seed: int = 0) -> Pair:
    order = np.random.default_rng(seed).permutation(len(pair.scores))
    return dataclasses.replace(pair, scores=pair.scores[order])


def upside_down(pair: Pair) -> Pair:
    assert pair.signal.pass_rate is not None
    wrong = dataclasses.replace(pair.signal, pass_rate=1.0 - pair.signal.pass_rate)
    return dataclasses.replace(pair, signal=wrong)


def assert_covers(found: int, runs: int) -> None:
    assert stats.binom.cdf(found, runs, LOWEST_COVERAGE) > SMALLEST_CHANCE, f"{found} of {runs}"


KINDS_AND_DRAWS = [(kind, n) for kind in (USUAL, STRONG, FRACTIONAL) for n in (60, 160, 400)]
# Few draws cost little time, and are where an interval fails first.
RUNS = {60: 1000, 160: 400, 400: 200}


@functools.cache
def repeated(kind: float, n: int) -> Evaluations:
    pair = of_kind(kind)
    return evaluate(pair, pair.layout(n), runs=RUNS[n])


@pytest.mark.parametrize("change", [upside_down, shuffled])
@pytest.mark.parametrize("settings", [Settings(smoothing=0.05), PUBLISHED])
def test_no_signal_biases_an_estimate(change: Callable[[Pair], Pair], settings: Settings) -> None:
    pair = change(of_kind(USUAL))
    found = evaluate(pair, pair.layout(60, settings), runs=300)
    assert stats.ttest_1samp(found.values, pair.scores.mean()).pvalue > SMALLEST_CHANCE


@pytest.mark.parametrize(("kind", "n"), KINDS_AND_DRAWS)
def test_squared_errors_are_the_exact_variance(kind: float, n: int) -> None:
    pair = of_kind(kind)
    errors = (repeated(kind, n).values - pair.scores.mean()) ** 2
    exact = exact_variance(pair.scores, pair.layout(n))
    assert stats.ttest_1samp(errors, exact).pvalue > SMALLEST_CHANCE


@pytest.mark.parametrize(("kind", "n"), KINDS_AND_DRAWS)
def test_stated_variances_are_near_the_exact_one(kind: float, n: int) -> None:
    pair = of_kind(kind)
    stated = repeated(kind, n).variances.mean() / exact_variance(pair.scores, pair.layout(n))
    assert 0.95 < stated < 1.2


@pytest.mark.parametrize(("kind", "n"), KINDS_AND_DRAWS)
def test_intervals_cover_the_truth(kind: float, n: int) -> None:
    assert_covers(repeated(kind, n).covered(of_kind(kind).scores.mean()), RUNS[n])


@pytest.mark.parametrize("n", [160, 400])
@pytest.mark.parametrize("kind", [USUAL, STRONG])
def test_intervals_are_hardly_wider_than_they_must_be(kind: float, n: int) -> None:
    pair, found = of_kind(kind), repeated(kind, n)
    deviation = math.sqrt(exact_variance(pair.scores, pair.layout(n)))
    width = float((found.upper - found.lower).mean())
    assert width < 1.1 * 2 * quantiles.normal_quantile(level=0.95) * deviation


def test_the_pool_of_a_strong_model_is_one() -> None:
    assert 0.95 < of_kind(STRONG).scores.mean() < 0.97


@pytest.mark.parametrize("kind", [USUAL, STRONG])
def test_intervals_cover_where_answers_are_missing_by_chance(kind: float) -> None:
    pair = of_kind(kind)
    found = evaluate(pair, pair.layout(80), runs=300, missing=0.1)
    assert_covers(found.covered(pair.scores.mean()), 300)


def test_the_worst_case_covers_where_only_failures_are_missing() -> None:
    pair = of_kind(USUAL)
    lost = np.flatnonzero(pair.scores == 0.0)[::3]
    found = evaluate(pair, pair.layout(160), runs=200, lost=lost)
    assert found.covered(pair.scores.mean()) < 0.6 * 200
    worst = evaluate(pair, pair.layout(160), runs=200, lost=lost, worst=True)
    assert_covers(worst.covered(pair.scores.mean()), 200)


@pytest.mark.parametrize("n", [80, 160, 400])
def test_a_signal_is_worth_more_in_cells_than_in_the_published_strata(n: int) -> None:
    pair = of_kind(USUAL)
    assert ratio(pair, n) < ratio(pair, n, PUBLISHED) - 0.015


@pytest.mark.parametrize("n", [80, 400])
def test_a_useless_signal_costs_little(n: int) -> None:
    ratios = [ratio(shuffled(of_kind(USUAL), seed), n) for seed in range(40)]
    assert np.mean(ratios) < 1.01
    assert max(ratios) < 1.03


def test_an_earlier_estimate_of_the_level_helps_a_strong_model() -> None:
    pair = of_kind(STRONG)
    informed = stratification.lay_out(pair.signal, 400, mean=0.96)
    assert exact_variance(pair.scores, informed) < exact_variance(pair.scores, pair.layout(400))


class Recorded:
    """Recorded models as surrogates of those of other makers; every third target."""

    def __init__(self, file: Path) -> None:
        found = np.load(file, allow_pickle=False)
        self._samples = found["samples"].astype(np.int64)
        self._makers = [str(name)[:8] for name in found["models"]]
        often = np.median(found["n_samples"], axis=1) == ANSWERS
        rng = np.random.default_rng(0)
        self._signals = {row: self._signal(row, rng) for row in np.flatnonzero(often)[::4].tolist()}

    def _signal(self, row: int, rng: np.random.Generator) -> Signal:
        answers = self._samples[row]
        return recorded_signals.of_answers((answers == 1).sum(1), (answers >= 0).sum(1), rng)

    def pairs(self, *, surrogates: int = 1) -> Iterator[Pair]:
        for target in range(0, len(self._samples), 3):
            scores = self._samples[target, :, 0].astype(np.float64)
            others = [row for row in self._signals if self._makers[row] != self._makers[target]]
            if scores.min() < 0.0:
                continue
            for first in range(0, len(others) - surrogates + 1, surrogates):
                rows = others[first : first + surrogates]
                signal = signals.average([self._signals[row] for row in rows])
                yield Pair(signal=signal, scores=scores)


@pytest.fixture(scope="module", name="models")
def _models(shared_data: Path) -> Recorded:
    return Recorded(shared_data / "outcomes" / "cruxeval_repeats.npz")


@pytest.mark.parametrize("n", [80, 160, 400])
def test_recorded_models_are_measured_better_than_the_paper_does(models: Recorded, n: int) -> None:
    """The best allocation to the paper's strata comes to .791."""
    pairs = list(models.pairs())
    assert np.mean([ratio(pair, n, PUBLISHED) for pair in pairs]) == pytest.approx(0.816, abs=0.02)
    assert np.mean([ratio(pair, n) for pair in pairs]) < 0.76
    assert np.mean([ratio(pair, n) for pair in models.pairs(surrogates=3)]) < 0.66


@pytest.mark.parametrize("n", [80, 400])
def test_a_shuffled_record_costs_little(models: Recorded, n: int) -> None:
    assert max(ratio(shuffled(pair), n) for pair in models.pairs()) < 1.03


@pytest.mark.parametrize("n", [60, 80, 160, 400])
def test_intervals_cover_recorded_models(models: Recorded, n: int) -> None:
    pairs = list(models.pairs())[::6]
    covered = sum(
        evaluate(pair, pair.layout(n), runs=20).covered(pair.scores.mean()) for pair in pairs
    )
    assert len(pairs) > 25
    assert_covers(covered, 20 * len(pairs))
