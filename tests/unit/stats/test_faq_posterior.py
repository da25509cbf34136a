import numpy as np
import torch

from monitor.stats.factor_models import Factors
from monitor.stats.faq_posterior import Posterior

RNG = np.random.default_rng(0)
FACTORS = Factors.from_arrays(RNG.normal(size=(20, 3)), RNG.normal(size=(5, 3)))
CPU = torch.device("cpu")


def learnt(items: list[int], scores: list[float]) -> Posterior:
    posterior = Posterior(FACTORS, size=1, device=CPU)
    for item, score in zip(items, scores, strict=True):
        p = posterior.predict(torch.empty(1, 5))[:, item].double()
        posterior.update(torch.tensor([item]), p, score - p)
    return posterior


def test_an_update_is_a_laplace_step() -> None:
    mean, covariance = FACTORS.prior
    for item, score in ((1, 1.0), (4, 0.0), (1, 0.25)):
        vector = FACTORS.items[item].astype(np.float64)
        p = 1.0 / (1.0 + np.exp(-vector @ mean))
        precision = np.linalg.inv(covariance) + p * (1.0 - p) * np.outer(vector, vector)
        covariance = np.linalg.inv(precision)
        mean = mean + covariance @ vector * (score - p)
    posterior = learnt([1, 4, 1], [1.0, 0.0, 0.25])
    assert np.allclose(posterior.mean[0], mean, atol=1e-6)
    assert np.allclose(posterior.covariance[0], covariance, atol=1e-6)


def test_spreads_are_kept_up_to_date() -> None:
    posterior = Posterior(FACTORS, size=1, device=CPU)
    spreads = posterior.spreads()
    p = posterior.predict(torch.empty(1, 5))[:, 2].double()
    posterior.shrink(spreads, *posterior.update(torch.tensor([2]), p, 1.0 - p))
    v, covariance = FACTORS.items, posterior.covariance[0].numpy()
    assert np.allclose(spreads[0], np.einsum("nk,kl,nl->n", v, covariance, v), atol=1e-5)


def test_gains_are_what_an_answer_says_about_the_mean() -> None:
    posterior = learnt([3], [1.0])
    variances = torch.tensor([[0.1, 0.2, 0.25, 0.05, 0.15]])
    v, covariance = FACTORS.items, posterior.covariance[0].numpy()
    expected = v @ covariance @ (variances[0].numpy() @ v / 5)
    assert np.allclose(posterior.gains(variances)[0], expected, atol=1e-6)


def test_a_model_without_an_answer_learns_nothing() -> None:
    posterior = Posterior(FACTORS, size=2, device=CPU)
    before = posterior.mean.clone()
    p = posterior.predict(torch.empty(2, 5))[:, 0].double()
    asked = torch.tensor([1.0, 0.0], dtype=torch.float64)
    posterior.update(torch.zeros(2, dtype=torch.int64), p, 1.0 - p, learnt=asked)
    assert (posterior.mean != before).any(dim=1).tolist() == [True, False]
    assert torch.equal(posterior.covariance[1], torch.tensor(FACTORS.prior[1]))
