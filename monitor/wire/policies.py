"""Objective, budget and policy as people write them, in files and on the command line."""

import fnmatch
import re
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from monitor.domain.identifiers import SuiteName, VariantName
from monitor.domain.policies import (
    AtLeast,
    Budget,
    EstimateOnly,
    KeepAnswers,
    Method,
    NotWorse,
    Objective,
    Policy,
)

WHOLE = 100
DEFAULT = Policy()

Share = Annotated[float, Field(ge=0, le=1)]


class _Written(BaseModel):
    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        hide_input_in_errors=True,
        use_attribute_docstrings=True,
        validate_default=True,
    )


class NotWorseModel(_Written):
    """Not worse than the version before."""

    kind: Literal["not_worse"] = "not_worse"
    tolerance: Annotated[float, Field(gt=0, lt=1)] = NotWorse().tolerance
    """A drop of at most this much, as a share of the items, is accepted."""

    def objective(self) -> Objective:
        return NotWorse(tolerance=self.tolerance)


class AtLeastModel(_Written):
    """At least a given share of right answers."""

    kind: Literal["at_least"] = "at_least"
    threshold: Annotated[float, Field(gt=0, lt=1)]
    """The share that must be reached."""

    def objective(self) -> Objective:
        return AtLeast(threshold=self.threshold)


class EstimateModel(_Written):
    """An interval, and no demand."""

    kind: Literal["estimate"] = "estimate"

    def objective(self) -> Objective:
        return EstimateOnly()


ObjectiveModel = Annotated[
    NotWorseModel | AtLeastModel | EstimateModel, Field(discriminator="kind")
]


def budget(written: object) -> Budget:
    """Read a count such as 200, or a share such as "10%".

    Raises:
        ValueError: it is neither.
    """
    if isinstance(written, Budget):
        return written
    if isinstance(written, int) and not isinstance(written, bool) and written > 0:
        return Budget(count=written)
    text = written.strip() if isinstance(written, str) else ""
    if re.fullmatch(r"0*[1-9][0-9]*", text):
        return Budget(count=int(text))
    share = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*%", text)
    if share and 0 < float(share[1]) <= WHOLE:
        return Budget(share=float(share[1]) / WHOLE)
    raise ValueError('must be a count such as 200 or a share such as "10%"')


WrittenBudget = Annotated[Budget, BeforeValidator(budget)]


class PolicySettings(_Written):
    """What is wanted of the evaluations that the two patterns match."""

    variants: str = "*"
    """Glob pattern of variant names."""
    suites: str = "*"
    """Glob pattern of suite names."""
    objective: ObjectiveModel = NotWorseModel()
    level: Annotated[float, Field(gt=0.5, lt=1)] = DEFAULT.level
    """Confidence level of the intervals."""
    method: Method = DEFAULT.method
    """auto chooses by what history or surrogates promise; faq_published is the paper's baseline."""
    budget: WrittenBudget = DEFAULT.budget
    """Items to draw: a count, or a share such as "10%"."""
    minimum: Annotated[int, Field(ge=1)] = DEFAULT.budget.minimum
    """Items to draw at least, where the budget is a share."""
    missing_limit: Share = DEFAULT.missing_limit
    """Above this share of missing answers no verdict is given."""
    attempt_margin: Share = DEFAULT.attempt_margin
    """Requests for retries, as a share of the budget."""
    keep_answers: KeepAnswers = DEFAULT.keep_answers
    """Texts of answers to keep in the state directory; doubtful: those that got no score."""

    def matches(self, variant: VariantName, suite: SuiteName) -> bool:
        return fnmatch.fnmatchcase(variant, self.variants) and fnmatch.fnmatchcase(
            suite, self.suites
        )

    def policy(self) -> Policy:
        return Policy(
            objective=self.objective.objective(),
            level=self.level,
            method=self.method,
            budget=replace(self.budget, minimum=self.minimum),
            missing_limit=self.missing_limit,
            attempt_margin=self.attempt_margin,
            keep_answers=self.keep_answers,
        )
