"""What every interval keeps, on samples that it is made for."""

import dataclasses
import itertools

import numpy as np
import pytest

from monitor.stats import estimators
from monitor.stats.estimators import PointEstimate
from monitor.stats.intervals import INTERVALS, Bounds
from monitor.stats.samples import Sample
from tests.unit.stats import evaluations

POPULATION = 80


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """The samples an interval is made for; predictions differ by item, so that terms do."""

    design: str = "simple"
    estimator: str = "sample_mean"
    n: int = 30
    binary: bool = True
    accuracies: tuple[float, ...] = (0.0, 0.03, 0.5, 0.97, 1.0)


USES = {
    "hypergeometric": Use(),
    "betting": Use(binary=False),
    "mixed_t": Use(design="without_replacement", estimator="active_mean"),
    "wald": Use(design="with_replacement", estimator="proactive_mean", accuracies=(0.2, 0.5, 0.8)),
    "stratified_wilson": Use(design="stratified", estimator="stratified_mean"),
    "census": Use(n=POPULATION),
}


@pytest.fixture(name="name", params=sorted(INTERVALS))
def _name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def drawn(name: str, *, accuracy: float = 0.6, missing: float = 0.0, seed: int = 0) -> Sample:
    use = USES[name]
    rng = np.random.default_rng(seed)
    scores = rng.binomial(1, accuracy, POPULATION) if use.binary else rng.random(POPULATION)
    setting = evaluations.Setting(
        scores=scores.astype(np.float64),
        predict=evaluations.fixed(
            np.clip(accuracy + np.linspace(-0.1, 0.1, POPULATION), 0.005, 0.995)
        ),
        sizes=evaluations.planned(use.n),
        design=use.design,
        missing=rng.random(POPULATION) < missing,
    )
    return evaluations.run(setting, rng)


def bounded(
    name: str, sample: Sample, *, level: float = 0.95, quantile: float | None = None
) -> Bounds:
    estimate = estimators.ESTIMATORS[USES[name].estimator](sample)
    assert isinstance(estimate, PointEstimate)
    found = INTERVALS[name](sample, estimate, level=level, quantile=quantile)
    assert isinstance(found, Bounds)
    return found


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_bounds_are_nested_inside_the_range(name: str, missing: float) -> None:
    for accuracy, seed in itertools.product(USES[name].accuracies, range(5)):
        found = bounded(name, drawn(name, accuracy=accuracy, missing=missing, seed=seed))
        assert 0.0 <= found.worst_lower <= found.lower
        assert found.lower <= found.upper
        assert found.upper <= found.worst_upper <= 1.0


def test_nothing_missing_leaves_no_worst_case(name: str) -> None:
    found = bounded(name, drawn(name))
    assert (found.worst_lower, found.worst_upper) == (found.lower, found.upper)


def test_missing_answers_cost_width(name: str) -> None:
    found = bounded(name, drawn(name, missing=0.3))
    nothing_missing = bounded(name, drawn(name))
    worst = found.worst_upper - found.worst_lower
    assert worst > nothing_missing.worst_upper - nothing_missing.worst_lower + 0.1


def test_only_a_census_has_no_width(name: str) -> None:
    for accuracy in USES[name].accuracies:
        found = bounded(name, drawn(name, accuracy=accuracy))
        assert (found.lower == found.upper) is (name == "census")


def test_a_higher_level_is_not_narrower(name: str) -> None:
    sample = drawn(name)
    low, high = bounded(name, sample, level=0.8), bounded(name, sample, level=0.99)
    assert high.lower <= low.lower
    assert low.upper <= high.upper


def test_what_was_stored_gives_the_same_bits(name: str) -> None:
    first = bounded(name, drawn(name, missing=0.1))
    assert bounded(name, drawn(name, missing=0.1), quantile=first.quantile) == first


def test_degrees_come_with_their_quantile(name: str) -> None:
    """Without them it is the normal one."""
    found = bounded(name, drawn(name))
    assert found.degrees is None or found.quantile is not None


def test_every_interval_is_tried() -> None:
    assert set(USES) == set(INTERVALS)
