"""The guide for large histories: the factor model of FAQ, with all answers in its posterior.

The paper updates the new model's factors answer by answer; this finds their mode anew from all of
them, and predicts by the posterior mean. Fitting needs torch, predicting does not.
"""

import dataclasses
from typing import ClassVar, Final, Self

import numpy as np
from scipy import special

from monitor.stats import factor_models
from monitor.stats.answers import History
from monitor.stats.constant import Constant
from monitor.stats.factor_models import Factors
from monitor.stats.item_tally import ItemTally
from monitor.stats.logistic import Coefficients
from monitor.stats.regression import Regression

# Factors of fewer models than that are worse than none: on 99 models of 1,700 items draws by them
# were worth half of plain random ones.
FEWEST_FAMILIES: Final = 200
LEVEL_VARIANCE: Final = 1.5**2
SMALLEST_VARIANCE: Final = 1e-4


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FactorPosterior(Regression):
    """Features: the factors of the items; prior: how those of earlier models are spread."""

    name: ClassVar[str] = "factor_posterior"

    @classmethod
    def fit(cls, history: History) -> Self:
        """Fit by cross-validation; one constant factor where the history is too small.

        Raises:
            ModuleNotFoundError: the history is large enough and torch is not installed.
        """
        dispersion = Constant.fit(history).dispersion
        if len(np.unique(history.families)) >= FEWEST_FAMILIES:
            best, *_ = factor_models.cross_validate(history)
            return cls.of(factor_models.fit(history, best.settings), dispersion=dispersion)
        level = special.logit(ItemTally.of(history).smoothed_mean())
        prior = Coefficients(mean=np.array([level]), covariance=np.array([[LEVEL_VARIANCE]]))
        return cls(
            features=np.ones((history.population, 1)), priors=(prior,), dispersion=dispersion
        )

    @classmethod
    def of(cls, factors: Factors, *, dispersion: float = 1.0) -> Self:
        """Use factors that are fitted already."""
        mean, covariance = factors.prior
        # With no more models than factors their covariance has no inverse.
        covariance = covariance + SMALLEST_VARIANCE * np.eye(len(mean))
        return cls(
            features=factors.items.astype(np.float64),
            priors=(Coefficients(mean=mean, covariance=covariance),),
            dispersion=dispersion,
        )
