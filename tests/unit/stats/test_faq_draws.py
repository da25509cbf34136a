import numpy as np
import pytest
import torch
from scipy import special, stats

from monitor.stats import faq_draws, tensors
from monitor.stats.arrays import FloatArray
from monitor.stats.factor_models import Factors
from monitor.stats.faq_estimates import Run
from monitor.stats.faq_settings import Settings, Variant

N, DRAWS = 300, 40
RNG = np.random.default_rng(0)
FACTORS = Factors.from_arrays(RNG.normal(size=(50, 4)), RNG.normal(size=(N, 4)))
SCORES = np.round(RNG.random((3, N)), 1)
CPU = torch.device("cpu")
PUBLISHED = [
    Settings(),
    Settings(beta0=0.75, tau=0.05),
    Settings(rho=0.5, tau=0.1),
    Settings(beta0=0.5, rho=0.3, gamma=0.4),
    Settings(variant=Variant.WITHOUT_REPLACEMENT, tau=0.05),
    Settings(variant=Variant.WITHOUT_REPLACEMENT, rho=0.5, gamma=0.2),
]


class Reference:
    """One evaluation by the formulas of the paper, nothing saved, nothing fast."""

    def __init__(self, scores: FloatArray, settings: Settings, n: int) -> None:
        self.scores, self.settings, self.n = scores, settings, n
        self.items = FACTORS.items.astype(np.float64)
        self.mean, self.covariance = FACTORS.prior
        self.seen = np.zeros(N, dtype=np.bool_)

    def probabilities(self, t: int) -> tuple[FloatArray, FloatArray]:
        """Predictions p (N,) and probabilities q (N,) at draw t."""
        s, v, covariance = self.settings, self.items, self.covariance
        p = special.expit(v @ self.mean)
        w = p * (1.0 - p)
        pull = np.mean(w[:, None] * v, axis=0)
        spread = np.einsum("nk,kl,nl->n", v, covariance, v)
        active = w * (v @ covariance @ pull) ** 2 / (1.0 + w * spread)
        alpha = max(0.0, 1.0 - t / (s.rho * self.n)) if s.rho else 0.0
        beta = s.beta0 * min(1.0, t / (s.gamma * self.n)) if s.gamma else s.beta0
        oracle = np.sqrt(w)
        mixed = (1.0 - alpha) * oracle / oracle.sum() + alpha * active / active.sum()
        tempered = mixed**beta
        q = s.tau / N + (1.0 - s.tau) * tempered / tempered.sum()
        if s.variant is Variant.WITHOUT_REPLACEMENT:
            q[self.seen] = 0.0
        return p, q / q.sum()

    def learn(self, item: int, p: float) -> None:
        v, covariance, w = self.items[item], self.covariance, p * (1.0 - p)
        moved = covariance @ v
        self.covariance = covariance - w * np.outer(moved, moved) / (1.0 + w * v @ moved)
        self.mean = self.mean + self.covariance @ v * (self.scores[item] - p)
        self.seen[item] = True


def drawn(settings: Settings, *, n: int = DRAWS) -> list[Run]:
    with tensors.one_thread():
        return faq_draws.draw(FACTORS, SCORES, settings=settings, n=n, seeds=[7, 8, 9], device=CPU)


@pytest.mark.parametrize("settings", PUBLISHED)
def test_every_draw_is_the_published_one(settings: Settings) -> None:
    for run, scores in zip(drawn(settings), SCORES, strict=True):
        reference = Reference(scores, settings, DRAWS)
        for t, item in enumerate(run.items, start=1):
            p, q = reference.probabilities(t)
            errors = np.where(q > 0.0, scores - p, 0.0)
            ratios = np.divide(errors**2, q, out=np.zeros(N), where=q > 0.0)
            variance = (ratios.sum() - errors.sum() ** 2) / N**2
            assert run.scores[t - 1] == scores[item]
            assert run.predictions[t - 1] == pytest.approx(p[item], rel=1e-4)
            assert run.probabilities[t - 1] == pytest.approx(q[item], rel=1e-4)
            assert run.mean_predictions[t - 1] == pytest.approx(p.mean(), rel=1e-5)
            assert run.exact_variances[t - 1] == pytest.approx(variance, rel=1e-4)
            reference.learn(item, p[item])


def test_an_item_can_come_again() -> None:
    (run, *_) = drawn(Settings(), n=200)
    assert len(set(run.items.tolist())) < 200


def test_without_replacement_none_comes_again_up_to_the_last_one() -> None:
    for run in drawn(Settings(variant=Variant.WITHOUT_REPLACEMENT), n=N):
        assert sorted(run.items.tolist()) == list(range(N))


def test_fewer_draws_are_the_beginning_of_more() -> None:
    long, short = drawn(Settings(), n=40), drawn(Settings(), n=25)
    for more, fewer in zip(long, short, strict=True):
        assert np.array_equal(more.items[:25], fewer.items)
        assert np.array_equal(more.exact_variances[:25], fewer.exact_variances)


@pytest.mark.parametrize("size", [5, 127, 128, 129, 300])
def test_items_are_drawn_in_proportion_to_their_weights(size: int) -> None:
    rng = np.random.default_rng(size)
    weights = rng.random(size) * (rng.random(size) < 0.7)
    weights[size // 2] = 1.0
    runs = 20_000
    rows = torch.tensor(weights, dtype=torch.float32).repeat(runs, 1)
    uniforms = torch.tensor(1.0 - rng.random((runs, 1)))
    items = faq_draws.choose(rows, faq_draws.chunk_sums(rows), uniforms)
    counts = np.bincount(items[:, 0].numpy(), minlength=size)
    assert counts[weights == 0.0].sum() == 0
    expected = runs * weights[weights > 0.0] / weights.sum()
    assert stats.chisquare(counts[weights > 0.0], expected).pvalue > 1e-3


@pytest.mark.parametrize("uniform", [2.0**-53, 1.0])
def test_the_ends_of_the_range_hit_items_that_have_a_weight(uniform: float) -> None:
    weights = torch.zeros(1, 400)
    weights[0, 130:260] = 0.1
    (item,) = faq_draws.choose(
        weights, faq_draws.chunk_sums(weights), torch.tensor([[uniform]], dtype=torch.float64)
    )
    assert item.tolist() == [259 if uniform == 1.0 else 130]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_gpu_draws_the_same() -> None:
    there = faq_draws.draw(
        FACTORS, SCORES, settings=Settings(), n=5, seeds=[7, 8, 9], device=torch.device("cuda")
    )
    for run, other in zip(drawn(Settings(), n=5), there, strict=True):
        assert np.array_equal(run.items, other.items)
        assert np.allclose(run.exact_variances, other.exact_variances, rtol=1e-4)
