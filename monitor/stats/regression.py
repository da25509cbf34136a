"""What the guides with features have in common: Bayesian logistic regression, however fitted.

They differ in the features and in where the priors come from; once fitted, all are the same few
arrays.
"""

import dataclasses
from collections.abc import Mapping
from typing import Self

import numpy as np
from scipy import special

from monitor.stats import arrays, logistic, predictions
from monitor.stats.answers import Answers
from monitor.stats.arrays import FloatArray, IntArray
from monitor.stats.logistic import Coefficients, Posterior


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Regression:
    """A fitted guide; its kinds add a name and a fit.

    features: (N, d).
    priors: of the d coefficients; where there are several, equally likely before any answer, the
        predictions under each are averaged by how well it explains the answers.
    dispersion: see `Guide.dispersion`.
    """

    features: FloatArray
    priors: tuple[Coefficients, ...]
    dispersion: float

    def predict(self, answered: Answers) -> FloatArray:
        """See `Guide.predict`."""
        ordered = answered.in_canonical_order()
        fits = self._fits(self.features[ordered.items], ordered.scores)
        evidence = special.softmax([each.log_evidence for each in fits])
        predicted = [logistic.predict(self.features, each) for each in fits]
        return predictions.limited(evidence @ np.stack(predicted))

    def _fits(self, features: FloatArray, scores: FloatArray) -> list[Posterior]:
        """Return the posterior under each prior, the next found from the one before."""
        fits: list[Posterior] = []
        for prior in self.priors:
            start = fits[-1].mean if fits else None
            fits.append(
                logistic.posterior(
                    features, scores, prior=prior, start=start, dispersion=self.dispersion
                )
            )
        return fits

    def first_features(self, width: int) -> Self:
        """Return the guide that uses no more than the first `width` features."""
        return dataclasses.replace(
            self,
            features=np.ascontiguousarray(self.features[:, :width]),
            priors=tuple(
                Coefficients(mean=each.mean[:width], covariance=each.covariance[:width, :width])
                for each in self.priors
            ),
        )

    def of_items(self, items: IntArray) -> Self:
        """See `Guide.of_items`."""
        return dataclasses.replace(self, features=self.features[items])

    def columns(self) -> Mapping[str, FloatArray]:
        """See `Guide.columns`."""
        return {
            "features": self.features.ravel(),
            "prior_means": np.concatenate([each.mean for each in self.priors]),
            "prior_covariances": np.concatenate([each.covariance.ravel() for each in self.priors]),
            "dispersion": np.array([self.dispersion]),
        }

    @classmethod
    def from_columns(cls, columns: Mapping[str, FloatArray]) -> Self:
        """See `Guide.from_columns`."""
        features = arrays.column(columns, "features")
        means = arrays.column(columns, "prior_means")
        covariances = arrays.column(columns, "prior_covariances")
        width = len(covariances) // max(len(means), 1)
        if not width or len(means) % width or len(covariances) != len(means) * width:
            raise ValueError(f"prior_covariances: {len(covariances)} values for {len(means)} means")
        if not len(features) or len(features) % width:
            raise ValueError(f"features: {len(features)} values for {width} coefficients an item")
        return cls(
            features=features.reshape(-1, width),
            priors=tuple(
                Coefficients(mean=mean, covariance=covariance)
                for mean, covariance in zip(
                    means.reshape(-1, width), covariances.reshape(-1, width, width), strict=True
                )
            ),
            dispersion=float(arrays.column(columns, "dispersion", size=1)[0]),
        )
