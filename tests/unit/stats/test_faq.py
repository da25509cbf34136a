from collections.abc import Sequence

import numpy as np
import pytest

from monitor.stats import faq
from monitor.stats.arrays import FloatArray
from monitor.stats.factor_models import Factors
from monitor.stats.faq import Estimate, Settings, Variant

RNG = np.random.default_rng(0)
FACTORS = Factors.from_arrays(RNG.normal(size=(50, 4)), RNG.normal(size=(200, 4)))
SCORES = (RNG.random((20, 200)) < 0.6).astype(np.float64)
VARIANTS = [
    Settings(tau=0.05),
    Settings(rho=0.5, gamma=0.5, beta0=0.75),
    *(Settings(variant=variant) for variant in Variant),
]


def estimates(
    settings: Settings, *, scores: FloatArray = SCORES, n: int = 50, first: int = 0
) -> Sequence[Estimate]:
    seeds = range(first, first + len(scores))
    found = faq.rehearse(FACTORS, scores, settings=settings, n=n, seeds=seeds, device="cpu")
    return [faq.estimate(each, n, level=0.95) for each in found]


@pytest.mark.parametrize("settings", VARIANTS)
def test_an_evaluation_does_not_depend_on_what_runs_beside_it(settings: Settings) -> None:
    together = estimates(settings)
    for rows in (slice(0, 1), slice(3, 7), slice(5, 16)):
        assert estimates(settings, scores=SCORES[rows], first=rows.start) == together[rows]


@pytest.mark.parametrize("cached", [200 * 8, 200 * 16])
def test_nor_on_the_size_of_blocks(cached: int, monkeypatch: pytest.MonkeyPatch) -> None:
    together = estimates(Settings())
    monkeypatch.setattr(faq, "CACHED", cached)
    assert estimates(Settings()) == together


@pytest.mark.parametrize("settings", [Settings(), Settings(variant=Variant.SEQUENTIAL)])
def test_the_estimate_is_unbiased_and_its_variance_exact(settings: Settings) -> None:
    runs, truth = 800, SCORES[0].mean()
    found = estimates(settings, scores=np.repeat(SCORES[:1], runs, axis=0), n=30)
    exact = float(np.mean([each.exact_variance for each in found]))
    errors = np.array([each.value - truth for each in found])
    assert abs(errors.mean()) < 3.3 * (exact / runs) ** 0.5
    assert np.mean(errors**2) == pytest.approx(exact, rel=3.3 * (2 / runs) ** 0.5 * 1.5)


def test_without_replacement_the_published_estimator_is_biased() -> None:
    settings, truth = Settings(variant=Variant.WITHOUT_REPLACEMENT), SCORES[0].mean()
    found = estimates(settings, scores=np.repeat(SCORES[:1], 400, axis=0), n=150)
    covered = np.mean([each.lower <= truth <= each.upper for each in found])
    assert covered < 0.9


@pytest.mark.parametrize(
    ("scores", "n", "message"),
    [
        (SCORES[:, :-1], 5, r"scores: shape must be \(20, 200\) \(seeds, items\)"),
        (np.where(SCORES > 0, np.nan, 0.0), 5, "leave missing items out"),
        (SCORES + 0.5, 5, r"must lie in \[0, 1\]"),
        (SCORES, 0, "at least one draw is needed, not 0"),
    ],
)
def test_input_must_make_sense(scores: FloatArray, n: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        faq.rehearse(FACTORS, scores, settings=Settings(), n=n, seeds=range(20))


@pytest.mark.parametrize("variant", [Variant.SEQUENTIAL, Variant.WITHOUT_REPLACEMENT])
def test_only_with_replacement_there_are_more_draws_than_items(variant: Variant) -> None:
    assert len(estimates(Settings(), n=201)) == 20
    with pytest.raises(ValueError, match="201 draws without repeats from 200 items"):
        estimates(Settings(variant=variant), n=201)


def test_it_needs_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(ModuleNotFoundError):
        estimates(Settings())
