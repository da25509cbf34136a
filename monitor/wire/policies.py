"""Objective and budget as people write them, in the configuration and on the command line."""

import re
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from monitor.domain.policies import AtLeast, Budget, EstimateOnly, NotWorse, Objective

WHOLE = 100


class _Objective(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, use_attribute_docstrings=True
    )


class NotWorseModel(_Objective):
    """Not worse than the version before."""

    kind: Literal["not_worse"] = "not_worse"
    tolerance: Annotated[float, Field(gt=0, lt=1)] = NotWorse().tolerance
    """A drop of at most this much, as a share of the items, is accepted."""

    def objective(self) -> Objective:
        return NotWorse(tolerance=self.tolerance)


class AtLeastModel(_Objective):
    """At least a given share of right answers."""

    kind: Literal["at_least"] = "at_least"
    threshold: Annotated[float, Field(gt=0, lt=1)]
    """The share that must be reached."""

    def objective(self) -> Objective:
        return AtLeast(threshold=self.threshold)


class EstimateModel(_Objective):
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
