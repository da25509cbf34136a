import numpy as np
import pytest
import torch
from scipy import special

from monitor.stats import faq_sequential
from monitor.stats.factor_models import Factors
from monitor.stats.faq_estimates import Pass
from monitor.stats.faq_settings import Settings, Variant

N, BUDGET = 60, 15
RNG = np.random.default_rng(0)
FACTORS = Factors.from_arrays(RNG.normal(size=(50, 3)), RNG.normal(size=(N, 3)))
SCORES = np.round(RNG.random((2, N)), 1)
SETTINGS = Settings(tau=0.25, variant=Variant.SEQUENTIAL)


def passed(seeds: list[int]) -> list[Pass]:
    return faq_sequential.draw(
        FACTORS,
        SCORES[: len(seeds)],
        settings=SETTINGS,
        n=BUDGET,
        seeds=seeds,
        device=torch.device("cpu"),
    )


def test_every_coin_is_the_published_one() -> None:
    (run, _) = passed([1, 2])
    items, (mean, covariance), spent = FACTORS.items.astype(np.float64), FACTORS.prior, 0
    for j, v in enumerate(items):
        p = special.expit(items @ mean)
        unsure = np.minimum(p, 1.0 - p)
        wanted = unsure[j] * BUDGET / (N * unsure.mean())
        chance = min(max(min(wanted, (j + 1) * BUDGET / N - spent), 0.0), 1.0)
        assert run.predictions[j] == pytest.approx(p[j], rel=1e-5)
        assert run.probabilities[j] == pytest.approx(0.75 * chance + 0.25 * BUDGET / N, rel=1e-5)
        if run.asked[j]:
            spent += 1
            precision = np.linalg.inv(covariance) + p[j] * (1.0 - p[j]) * np.outer(v, v)
            covariance = np.linalg.inv(precision)
            mean = mean + covariance @ v * (SCORES[0, j] - p[j])
    assert 5 < spent < 25


def test_coins_fall_as_often_as_they_should() -> None:
    seeds = list(range(400))
    runs = faq_sequential.draw(
        FACTORS,
        np.repeat(SCORES[:1], len(seeds), axis=0),
        settings=SETTINGS,
        n=BUDGET,
        seeds=seeds,
        device=torch.device("cpu"),
    )
    excess = sum(float((run.asked - run.probabilities).sum()) for run in runs)
    variance = sum(float((run.probabilities * (1 - run.probabilities)).sum()) for run in runs)
    assert abs(excess) < 3.3 * variance**0.5


def test_what_is_known_are_the_scores() -> None:
    assert [run.scores.tolist() for run in passed([1, 2])] == SCORES.tolist()
