"""The sequential ablation of FAQ's paper, a block of evaluations side by side, in torch.

Zrnic and Candes 2024, arXiv 2403.03208, algorithm 2, on FAQ's own factors.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from monitor.stats.arrays import FloatArray
from monitor.stats.factor_models import Factors
from monitor.stats.faq_estimates import Pass
from monitor.stats.faq_posterior import Posterior
from monitor.stats.faq_settings import Settings


@torch.inference_mode()
def draw(
    factors: Factors,
    scores: FloatArray,
    *,
    settings: Settings,
    n: int,
    seeds: Sequence[int],
    device: torch.device,
) -> list[Pass]:
    """Run one block, each evaluation with random numbers of its own.

    Args:
        factors: of N items.
        scores: (B, N) known outcomes.
        settings: only tau is used.
        n: number of queries to aim at.
        seeds: (B,) of the random numbers.
        device: where to compute.
    """
    size, population = scores.shape
    known = torch.tensor(scores, dtype=torch.float64, device=device)
    posterior = Posterior(factors, size=size, device=device)
    coins = np.stack([np.random.default_rng(seed).random(population) for seed in seeds])
    uniforms = torch.tensor(coins, device=device)
    columns = torch.empty((3, population, size), dtype=torch.float64, device=device)
    work = torch.empty((size, population), device=device)
    spent = torch.zeros(size, dtype=torch.float64, device=device)
    for j in range(population):
        predictions = posterior.predict(work)
        left = n * (j + 1) / population - spent
        chance = _chance(predictions, j, n=n, left=left, tau=settings.tau)
        asked = (uniforms[:, j] < chance).double()
        spent += asked
        p = predictions[:, j].double()
        columns[:, j] = torch.stack((chance, p, asked))
        items = torch.full((size,), j, device=device)
        posterior.update(items, p, known[:, j] - p, learnt=asked)
    return [
        Pass(budget=n, probabilities=chance, predictions=p, scores=z, asked=asked > 0.0)
        for (chance, p, asked), z in zip(
            columns.permute(2, 0, 1).cpu().numpy(), known.cpu().numpy(), strict=True
        )
    ]


def _chance(predictions: Tensor, j: int, *, n: int, left: Tensor, tau: float) -> Tensor:
    """Return the probability (B,) of asking item j.

    (1 - tau) min(u_j n / sum u, what is left of the budget up to here) + tau n / N, with
    u = min(p, 1 - p).
    """
    unsure = torch.minimum(predictions, 1.0 - predictions)
    wanted = n * unsure[:, j].double() / unsure.sum(1).double()
    chance = torch.minimum(wanted, left).clamp_(0.0, 1.0)
    return (1.0 - tau) * chance + tau * n / predictions.shape[1]
