"""Seam Guide: what predicts the score of every item from history and the answers so far.

Validity never rests on a guide: estimates stay unbiased and intervals keep their level whatever
it predicts. A good one makes them narrow. What a guide must keep is below and is checked on every
entry of `GUIDES` by one contract suite.
"""

import hashlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar, Final, Protocol, Self

from monitor.stats.answers import Answers, History
from monitor.stats.arrays import FloatArray, IntArray
from monitor.stats.constant import Constant
from monitor.stats.factor_posterior import FactorPosterior
from monitor.stats.feature_model import FeatureModel
from monitor.stats.item_groups import ItemGroups
from monitor.stats.item_mean import ItemMean


class Guide(Protocol):
    """A fitted guide: frozen, small, and a pure function of the answers.

    Contract:
        - `predict` returns N values within `predictions.LIMITS`, equal to the bit for the same
          answers in any order; it keeps no state and changes none.
        - any history fits, an empty one included.
        - `from_columns(columns())` predicts the same bits, so a stored guide is the guide.
        - `of_items(items)` predicts for a pool of those items what it predicts for them in the
          whole pool, up to rounding.
    """

    name: ClassVar[str]

    @property
    def dispersion(self) -> float:
        """Variance of a score over p (1 - p), in (0, 1]; exactly 1 for 0/1 scores."""
        ...

    @classmethod
    def fit(cls, history: History) -> Self:
        """Learn from the outcomes of other models."""
        ...

    def predict(self, answered: Answers) -> FloatArray:
        """Return the posterior mean score of every item, shape (N,)."""
        ...

    def of_items(self, items: IntArray) -> Self:
        """Return the guide of a pool that holds these items only, in this order.

        Args:
            items: distinct positions in the pool, at least one.
        """
        ...

    def columns(self) -> Mapping[str, FloatArray]:
        """Return all that the guide is made of, as one-dimensional float64 arrays by name."""
        ...

    @classmethod
    def from_columns(cls, columns: Mapping[str, FloatArray]) -> Self:
        """Rebuild a guide from its `columns`.

        Raises:
            ValueError: a column is missing or does not fit.
        """
        ...


GUIDES: Final[Mapping[str, type[Guide]]] = MappingProxyType(
    {
        "constant": Constant,
        "factor_posterior": FactorPosterior,
        "feature_model": FeatureModel,
        "item_groups": ItemGroups,
        "item_mean": ItemMean,
    }
)


def digest(guide: Guide) -> str:
    """Return the sha256 (hex) of the guide's name and columns in little-endian bytes.

    Equal digests mean equal predictions, so a result can name the guide it used.
    """
    content = hashlib.sha256(guide.name.encode())
    for name, column in sorted(guide.columns().items()):
        content.update(f"\0{name}\0{column.size}\0".encode())
        content.update(column.astype("<f8").tobytes())
    return content.hexdigest()
