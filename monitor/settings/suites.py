"""What is configured of a suite: where it is, what its evaluations learn from, who helps."""

from datetime import date
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from monitor.domain.surrogates import Clustering, SurrogateSettings
from monitor.settings.groups import Amount, ConfigPath, Count, Group
from monitor.wire.texts import Name

USUAL = SurrogateSettings()


class HistoryFile(Group):
    file: ConfigPath
    """Outcomes of earlier models."""
    before: date | None = None
    """Only models dated before this day; null takes all."""
    exclude: tuple[str, ...] = ()
    """Glob patterns of model names to leave out, such as the lineage that is watched."""


class SuiteSurrogateSettings(Group):
    """Cheap models whose answers tell which items are hard; asked by `surrogate ask` alone."""

    endpoints: Annotated[tuple[Name, ...], Field(min_length=1)]
    """Names under `endpoints` of the surrogates; what several say is averaged."""
    samples: Count = USUAL.samples
    """Answers an item; the cost is proportional to it."""
    temperature: Amount = USUAL.temperature
    """Of these answers; 1 draws from the model's own distribution."""
    clustering: Clustering = USUAL.clustering
    """How two answers are compared: canonical, entailment or judge."""
    likelihood: bool = USUAL.likelihood
    """Weigh answers by their log-probabilities, where the endpoint sends them."""
    max_tokens: Count | None = USUAL.max_tokens
    """Of an answer; null takes the suite's."""
    judge: Name | None = None
    """Name under `endpoints` of the model that compares answers; for clustering judge."""
    entailment_model: Annotated[str, Field(min_length=1)] | None = None
    """Name or folder of a language inference model; for clustering entailment."""
    same_fingerprint: bool = USUAL.same_fingerprint
    """Stop where the server's fingerprint changes, not only where its model does."""
    revision: Annotated[str, Field(max_length=100)] = USUAL.revision
    """Any word; with another one all answers are bought anew."""
    strata: Count = 5
    """Strata of items, at least; fewer where the budget is too small for them."""
    smoothing: Amount = 0.75
    """How evenly draws are allocated to strata: how little the signal is believed."""
    allocation: Literal["neyman", "proportional", "equal"] = "neyman"
    """Draws by size and spread of a stratum, by its size, or the same for each."""
    refined: bool = True
    """Strata of a few draws each; false makes those of the paper."""

    @model_validator(mode="after")
    def _who_compares(self) -> Self:
        for name, clustering in (
            ("judge", Clustering.JUDGE),
            ("entailment_model", Clustering.ENTAILMENT),
        ):
            if (getattr(self, name) is None) == (self.clustering is clustering):
                raise ValueError(f"needs {name} with clustering {clustering}, and with no other")
        return self

    def asking(self) -> SurrogateSettings:
        """How each of the surrogates is asked."""
        shared = set(SurrogateSettings.__dataclass_fields__) & set(type(self).model_fields)
        return SurrogateSettings(**self.model_dump(include=shared))


class SuiteSettings(Group):
    path: ConfigPath
    """Folder of the suite, or its suite.yaml."""
    judges: tuple[Name, ...] = ()
    """Names under `endpoints` of the models that judge its answers; for graders of kind judge."""
    history: tuple[HistoryFile, ...] = ()
    """Files to learn from; without any every evaluation is a plain random sample."""
    guide: ConfigPath | None = None
    """What `history fit` learnt from such files before, instead of them."""
    surrogate: SuiteSurrogateSettings | None = None

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if self.history and self.guide:
            raise ValueError("has both history and guide; name one of them")
        return self


class SurrogatesSettings(Group):
    directory: ConfigPath | None = None
    """Folder of surrogates' answers, and of what they tell of the suites; null takes `surrogates`
    in the state directory. A prepared one need not be writable."""
