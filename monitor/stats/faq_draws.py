"""The draws of FAQ, a block of evaluations side by side, in torch."""

import dataclasses
from collections.abc import Sequence
from typing import Final

import numpy as np
import torch
from torch import Tensor

from monitor.stats.arrays import FloatArray
from monitor.stats.factor_models import Factors
from monitor.stats.faq_estimates import Run
from monitor.stats.faq_posterior import Posterior
from monitor.stats.faq_settings import Settings, Variant

CHUNK: Final = 128
"""Items are searched in two steps, so that no float32 sum runs over the whole pool."""


class Block:
    """B evaluations of n draws each.

    Nothing kept grows with N times n: only columns (B, n), and as work space some (B, N).
    """

    def __init__(
        self,
        factors: Factors,
        scores: FloatArray,
        *,
        settings: Settings,
        n: int,
        uniforms: FloatArray,
        device: torch.device,
    ) -> None:
        self._settings, self._n = settings, n
        self._posterior = Posterior(factors, size=len(scores), device=device)
        self._uniforms = torch.tensor(uniforms, device=device)
        self._truth = torch.tensor(scores.mean(axis=1, keepdims=True), device=device)
        self._work = torch.empty((5, *scores.shape), device=device)
        self._predictions, self._scratch, self._probabilities, self._ratios = self._work[:4]
        self._scores = self._work[4].copy_(torch.tensor(scores))
        self._unseen = torch.ones_like(self._scores)
        self._spreads = self._posterior.spreads() if settings.rho else None
        self._columns = torch.empty((6, n, len(scores)), dtype=torch.float64, device=device)

    def draw(self, t: int) -> None:
        """Make draw t (from 1) of every evaluation, and learn its answer."""
        self._posterior.predict(self._predictions)
        self._set_probabilities(t)
        chunks = chunk_sums(self._probabilities)
        items = choose(self._probabilities, chunks, self._uniforms[:, t - 1 : t])
        picked = self._work.gather(2, items.expand(len(self._work), -1, -1)).double()
        p, q, z = picked[0], picked[2] / chunks[:, -1:], picked[4]
        mean = self._predictions.mean(1, keepdim=True).double()
        variance = self._exact_variance(chunks[:, -1:], mean)
        self._columns[:, t - 1] = torch.cat((items.double(), q, p, z, mean, variance), 1).T
        self._learn(items, p, z - p)

    def runs(self) -> list[Run]:
        """Return what was drawn."""
        return [
            Run(
                settings=self._settings,
                population=self._scores.shape[1],
                items=items.astype(np.int64),
                probabilities=q,
                predictions=p,
                scores=z,
                mean_predictions=mean,
                exact_variances=variance,
            )
            for items, q, p, z, mean, variance in self._columns.permute(2, 0, 1).cpu().numpy()
        ]

    def _set_probabilities(self, t: int) -> None:
        """Write q (B, N), up to a factor where seen items are left out."""
        tau, population = self._settings.tau, self._scores.shape[1]
        scores = self._sampling_scores(t)
        share = (1.0 - tau) / scores.sum(1, keepdim=True)
        torch.mul(scores, share, out=self._probabilities).add_(tau / population)
        if self._settings.variant is Variant.WITHOUT_REPLACEMENT:
            self._probabilities *= self._unseen

    def _sampling_scores(self, t: int) -> Tensor:
        """Return ((1 - alpha) h_o + alpha h_a)^beta (B, N), up to a factor."""
        alpha, beta = self._settings.alpha(t, self._n), self._settings.beta(t, self._n)
        p = self._predictions
        scores = variances = torch.addcmul(p, p, p, value=-1.0, out=self._scratch)
        if alpha and self._spreads is not None:
            active = variances * self._posterior.gains(variances) ** 2
            active /= 1.0 + variances * self._spreads
            scores = (1.0 - alpha) * _shares(variances.sqrt_()) + alpha * _shares(active)
        else:
            self._spreads = None  # alpha only falls
            scores = variances.sqrt_()
        return scores if beta == 1.0 else scores.pow_(beta)

    def _exact_variance(self, mass: Tensor, mean: Tensor) -> Tensor:
        """Return (1/N^2) [ sum e^2/q - (sum e)^2 ] (B, 1) over what can be drawn, e = z - p."""
        population = self._scores.shape[1]
        errors = torch.sub(self._scores, self._predictions, out=self._scratch)
        total = self._truth - mean
        if self._settings.variant is Variant.WITHOUT_REPLACEMENT:
            errors *= self._unseen
            total = errors.sum(1, keepdim=True).double() / population
            self._probabilities += 1.0 - self._unseen
        ratios = torch.div(errors, self._probabilities, out=self._ratios)
        squares = torch.linalg.vecdot(errors, ratios).unsqueeze(1).double() * mass
        variance: Tensor = squares / population**2 - total * total
        return variance

    def _learn(self, items: Tensor, predictions: Tensor, errors: Tensor) -> None:
        moves, factors = self._posterior.update(items[:, 0], predictions[:, 0], errors[:, 0])
        if self._spreads is not None:
            self._posterior.shrink(self._spreads, moves, factors)
        if self._settings.variant is Variant.WITHOUT_REPLACEMENT:
            self._unseen.scatter_(1, items, 0.0)


def chunk_sums(weights: Tensor) -> Tensor:
    """Return 0 and the running sums over chunks of `CHUNK` items, (B, chunks + 1) float64."""
    full = weights.shape[1] // CHUNK
    whole = weights[:, : full * CHUNK].reshape(len(weights), full, CHUNK).sum(2)
    rest = weights[:, full * CHUNK :].sum(1, keepdim=True)
    return torch.cat((torch.zeros_like(rest), whole, rest), 1).double().cumsum(1)


def choose(weights: Tensor, chunks: Tensor, uniforms: Tensor) -> Tensor:
    """Return one item a row (B, 1), each with probability proportional to its weight.

    Args:
        weights: (B, N), not negative.
        chunks: `chunk_sums` of them.
        uniforms: (B, 1) in (0, 1], float64.
    """
    last = weights.shape[1] - 1
    # Above 0, so that an item without weight is never the first one to reach it.
    target = uniforms * chunks[:, -1:]
    chunk = torch.searchsorted(chunks, target) - 1
    start = chunk * CHUNK
    places = (start + torch.arange(CHUNK, device=weights.device)).clamp_(max=last)
    sums = weights.gather(1, places).double().cumsum(1)
    # The sums of the chunk may end a hair below what is left, as they were rounded otherwise.
    rest = torch.minimum(target - chunks.gather(1, chunk), sums[:, -1:])
    return (start + torch.searchsorted(sums, rest)).clamp_(max=last)


@torch.inference_mode()
def draw(
    factors: Factors,
    scores: FloatArray,
    *,
    settings: Settings,
    n: int,
    seeds: Sequence[int],
    device: torch.device,
) -> list[Run]:
    """Run one block, each evaluation with random numbers of its own.

    Args:
        factors: of N items.
        scores: (B, N) known outcomes.
        settings: any variant but the sequential one.
        n: number of draws.
        seeds: (B,) of the random numbers.
        device: where to compute.
    """
    # In (0, 1], see `choose`.
    uniforms = np.stack([1.0 - np.random.default_rng(seed).random(n) for seed in seeds])
    block = Block(factors, scores, settings=settings, n=n, uniforms=uniforms, device=device)
    for t in range(1, n + 1):
        block.draw(t)
    runs = zip(block.runs(), scores, strict=True)
    return [dataclasses.replace(run, scores=known[run.items]) for run, known in runs]


def _shares(values: Tensor) -> Tensor:
    return values / values.sum(1, keepdim=True)
