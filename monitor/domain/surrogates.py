"""How a surrogate is asked, and what its answers say about the items of a suite.

A surrogate is a cheap model that answers every item several times. How its answers scatter says
which items are hard, without a right answer being known; so it pays where there is no history.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite

from monitor.domain.identifiers import Digest, SuiteName


class Clustering(StrEnum):
    """How it is decided that two answers mean the same.

    canonical: by the answer that the suite's own grader takes out of each, and its comparison.
    entailment: by a language inference model, if each answer entails the other.
    judge: by asking another endpoint.
    """

    CANONICAL = "canonical"
    ENTAILMENT = "entailment"
    JUDGE = "judge"


@dataclass(frozen=True, slots=True, kw_only=True)
class SurrogateSettings:
    """How a surrogate is asked, and its answers are compared.

    samples: answers an item, K. The cost is proportional to it. Semantic entropy takes 39
        different values at K = 10 and 7 at K = 5, which is too few to tell hard items apart.
    temperature: 1 draws from the model's own distribution; below it, answers agree on items that
        the model is unsure of, above it they differ on those that it is sure of.
    clustering: canonical needs nothing else and costs nothing, but a grader that finds answers.
    likelihood: weigh each answer by its length-normalised likelihood (Farquhar et al., Nature 630,
        2024), where the endpoint sends log-probabilities. Off, since most hosted ones do not.
    max_tokens: of an answer; None takes the suite's.
    retry_share: retries allowed in all, as a share of the answers that are still to be bought.
    same_fingerprint: stop where the server's fingerprint changes. False suits hosted models whose
        fingerprint differs from answer to answer; the model that they name must stay the same.
    revision: a word of the user's; with another one, every answer is bought anew.
    """

    samples: int = 10
    temperature: float = 1.0
    clustering: Clustering = Clustering.CANONICAL
    likelihood: bool = False
    max_tokens: int | None = None
    retry_share: float = 0.1
    same_fingerprint: bool = True
    revision: str = ""

    def __post_init__(self) -> None:
        """At least one sample, and numbers that an endpoint can be sent.

        Raises:
            ValueError: a setting is outside its range.
        """
        if self.samples < 1:
            raise ValueError(f"samples: at least 1, not {self.samples}")
        for name in ("temperature", "retry_share"):
            value = getattr(self, name)
            if not (isfinite(value) and value >= 0.0):
                raise ValueError(f"{name}: a number from 0 on, not {value}")
        if self.max_tokens is not None and self.max_tokens < 1:
            raise ValueError(f"max_tokens: at least 1, not {self.max_tokens}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """Where a surrogate was asked, and what the server said it runs; None where it did not say."""

    base_url: str
    model: str
    served_model: str | None = None
    fingerprint: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SurrogateSignal:
    """What one surrogate's answers say about the N items of a suite, in their order.

    surrogate: name of its endpoint.
    entropy: semantic entropy over the clusters, in nats. consistency: share of the answers that
        the largest cluster holds, in (0, 1]. single: there is one cluster.
    pass_rate: mean score of the answers; None where the suite's grader has to be paid.
    answered: how many of the samples were answers; an item with less than half of them counts as
        not answered: as uncertain as can be, with the mean pass rate of the others.
    counts: samples by status. prompt_tokens, completion_tokens: of all answers, whenever bought.
    """

    suite: SuiteName
    suite_digest: Digest
    surrogate: str
    served: Served
    settings: SurrogateSettings
    entropy: tuple[float, ...]
    consistency: tuple[float, ...]
    single: tuple[bool, ...]
    pass_rate: tuple[float, ...] | None
    answered: tuple[int, ...]
    counts: Mapping[str, int]
    prompt_tokens: int
    completion_tokens: int
    software: str
