"""What FAQ believes about the factors of the models it evaluates, for many models at once."""

import torch
from torch import Tensor

from monitor.stats.factor_models import Factors


class Posterior:
    """N(u, S) of each of B models, in torch.

    u (B, k) and S (B, k, k) are float64: thousands of updates would wear float32 out. What is
    computed for every item is float32.
    """

    def __init__(self, factors: Factors, *, size: int, device: torch.device) -> None:
        mean, covariance = factors.prior
        self._items = torch.tensor(factors.items, device=device)
        self._columns = self._items.T.contiguous()
        self.mean = torch.tensor(mean, device=device).repeat(size, 1)
        self.covariance = torch.tensor(covariance, device=device).repeat(size, 1, 1)

    def predict(self, out: Tensor) -> Tensor:
        """Write p_j = sigmoid(u . v_j) into `out` (B, N) and return it."""
        return torch.mm(self.mean.float(), self._columns, out=out).sigmoid_()

    def gains(self, variances: Tensor) -> Tensor:
        """Return v_j' S g with g = (1/N) sum_j w_j v_j, shape (B, N), of w (B, N)."""
        pull = (variances @ self._items).double() / len(self._items)
        return self._project(_apply(self.covariance, pull))

    def spreads(self) -> Tensor:
        """Return v_j' S v_j, shape (B, N), while all S still are the prior's."""
        turned = self._items @ self.covariance[0].float()
        spreads: Tensor = torch.linalg.vecdot(turned, self._items)
        return spreads.repeat(len(self.covariance), 1)

    def update(
        self,
        items: Tensor,
        predictions: Tensor,
        errors: Tensor,
        *,
        learnt: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Learn one answer of each model by a Laplace step.

        S <- S - w S v v' S / (1 + w v' S v), then u <- u + S (z - p) v with the new S, which is
        (z - p) S v / (1 + w v' S v) with the old one.

        Args:
            items: (B,) positions.
            predictions: (B,) float64, p of these items.
            errors: (B,) float64, z - p.
            learnt: (B,) 1, or 0 for a model that has no answer; None where all have one.

        Returns:
            S v (B, k) with the old S and w / (1 + w v' S v) (B, 1): what `shrink` needs.
        """
        vectors = self._items[items].double()
        if learnt is not None:
            vectors *= learnt.unsqueeze(1)
        moves = _apply(self.covariance, vectors)
        variances = torch.addcmul(predictions, predictions, predictions, value=-1.0)
        scale = 1.0 + variances * torch.linalg.vecdot(vectors, moves)
        factors = (variances / scale).unsqueeze(1)
        self.mean.addcmul_(moves, (errors / scale).unsqueeze(1))
        self.covariance.baddbmm_(moves.unsqueeze(2), (factors * moves).unsqueeze(1), alpha=-1.0)
        return moves, factors

    def shrink(self, spreads: Tensor, moves: Tensor, factors: Tensor) -> None:
        """Bring `spreads` up to date after an update that returned `moves` and `factors`."""
        spreads -= factors.float() * self._project(moves) ** 2

    def _project(self, vectors: Tensor) -> Tensor:
        return vectors.float() @ self._columns


def _apply(matrices: Tensor, vectors: Tensor) -> Tensor:
    return torch.bmm(matrices, vectors.unsqueeze(2)).squeeze(2)
