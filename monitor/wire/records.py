"""Domain values that several published formats hold, as validated records.

Leaves are the domain's own dataclasses, validated on the way in and out; what JSON needs in
addition, the tag of a union, stands here. Renaming a domain field thus changes a published
format: the stored schemas and the golden files fail when that happens.
"""

from collections.abc import Container
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, TypeVar, assert_never

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    TypeAdapter,
    ValidationError,
    WrapSerializer,
)
from pydantic_core import PydanticCustomError

from monitor.domain import plans, policies, results
from monitor.domain.answers import Answer
from monitor.domain.errors import StateCorrupt, StateTooNew
from monitor.domain.identifiers import Digest, canonical_json

T = TypeVar("T")

PROBLEMS_SHOWN = 5
TEXT_SHOWN = 200  # characters; paths and tags come from whoever wrote the document


class Record(BaseModel):
    """Base of everything that is read from or written to a topic.

    Unknown fields are ignored, so that an older reader understands a newer writer. Errors do
    not show what they were given: it may be a secret.
    """

    model_config = ConfigDict(
        frozen=True,
        allow_inf_nan=False,
        revalidate_instances="always",
        hide_input_in_errors=True,
    )

    def document(self) -> dict[str, Any]:
        """The record as the JSON document that is published."""
        return self.model_dump(mode="json")

    def to_bytes(self) -> bytes:
        """The one byte string of this record."""
        return canonical_json(self.document())


class Versioned(Record):
    """What a stored document says before anything else is believed of it."""

    version: int


def read(adapter: TypeAdapter[T], value: bytes, *, what: str, version: int = 1) -> T:
    """Validate a stored document; `what` begins the text of an error.

    Raises:
        StateTooNew: the document's version is above `version`.
        StateCorrupt: it is no such document.
    """
    try:
        found = Versioned.model_validate_json(value).version
        if found > version:
            raise StateTooNew(
                f"{what}: written in format {found}, this program reads up to {version};"
                " run the newer program, nothing was changed"
            )
        return adapter.validate_json(value, strict=True)
    except ValidationError as error:
        raise StateCorrupt(f"{what}: {describe(error)}") from None


def describe(error: ValidationError, *, omit: Container[object] = ()) -> str:
    """Field and expectation of each problem, never the value that was found.

    Args:
        error: what validation raised.
        omit: steps of a path that name a member of a union, not a field.
    """
    found = error.errors(include_url=False, include_context=False, include_input=False)
    lines = []
    for problem in found[:PROBLEMS_SHOWN]:
        path = ".".join(str(step) for step in problem["loc"] if step not in omit)
        text = problem["msg"][:TEXT_SHOWN]
        lines.append(f"{path[:TEXT_SHOWN]}: {text}" if path else text)
    if len(found) > PROBLEMS_SHOWN:
        lines.append(f"and {len(found) - PROBLEMS_SHOWN} more")
    return "; ".join(lines)


def _in_utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise PydanticCustomError("instant", "must lie in the years 1 to 9999 of UTC") from None


Instant = Annotated[AwareDatetime, AfterValidator(_in_utc)]


class NotWorse(Record):
    kind: Literal["not_worse"]
    tolerance: float


class AtLeast(Record):
    kind: Literal["at_least"]
    threshold: float


class EstimateOnly(Record):
    kind: Literal["estimate"]


Objective = Annotated[NotWorse | AtLeast | EstimateOnly, Field(discriminator="kind")]


def from_objective(objective: policies.Objective) -> NotWorse | AtLeast | EstimateOnly:
    match objective:
        case policies.NotWorse():
            return NotWorse(kind="not_worse", tolerance=objective.tolerance)
        case policies.AtLeast():
            return AtLeast(kind="at_least", threshold=objective.threshold)
        case policies.EstimateOnly():
            return EstimateOnly(kind="estimate")
        case _:
            assert_never(objective)


def to_objective(record: NotWorse | AtLeast | EstimateOnly) -> policies.Objective:
    match record:
        case NotWorse():
            return policies.NotWorse(tolerance=record.tolerance)
        case AtLeast():
            return policies.AtLeast(threshold=record.threshold)
        case EstimateOnly():
            return policies.EstimateOnly()
        case _:
            assert_never(record)


def _unjudged(answer: Answer, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
    """Without `judged` where nobody was asked, as answers were before there were judges."""
    document: dict[str, Any] = serialize(answer)
    if not answer.judged:
        del document["judged"]
    return document


AnswerRecord = Annotated[Answer, WrapSerializer(_unjudged)]


def _briefly(
    inference: plans.Inference, serialize: SerializerFunctionWrapHandler
) -> dict[str, Any]:
    """Without the usual floor, so that results from before there were others replay to the byte."""
    document: dict[str, Any] = serialize(inference)
    if inference.floor == plans.USUAL_FLOOR:
        del document["floor"]
    return document


def _readable(
    baseline: results.Baseline, serialize: SerializerFunctionWrapHandler
) -> dict[str, Any]:
    """Without `unreadable` where it is not known, as baselines were before it was looked for."""
    document: dict[str, Any] = serialize(baseline)
    if baseline.unreadable is None:
        del document["unreadable"]
    return document


def is_unset(value: object) -> bool:
    """For fields that came later: documents from before do without, and replay to the byte."""
    return value is None or value == ()


class PlanRecord(Record):
    """A plan without its subject, its weights and its strata, which stand beside it.

    baseline: just a `reason` where there is nothing to take a difference to.
    """

    method: policies.Method
    objective: Objective
    inference: Annotated[plans.Inference, WrapSerializer(_briefly)]
    population: int
    draws: int
    round_sizes: tuple[int, ...]
    clock_seed: Digest
    attempts_allowed: int
    missing_limit: float
    baseline: Annotated[results.Baseline, WrapSerializer(_readable)] | results.NoBaseline
    reason: str
    history_digest: Digest | None
    software: str
    signal_digest: Digest | None = Field(default=None, exclude_if=is_unset)
    format_level: float | None = Field(default=None, exclude_if=is_unset)
    judges: tuple[str, ...] = Field(default=(), exclude_if=is_unset)


def from_plan(plan: plans.Plan) -> PlanRecord:
    return PlanRecord(
        method=plan.method,
        objective=from_objective(plan.objective),
        inference=plan.inference,
        population=plan.population,
        draws=plan.draws,
        round_sizes=plan.round_sizes,
        clock_seed=plan.clock_seed,
        attempts_allowed=plan.attempts_allowed,
        missing_limit=plan.missing_limit,
        baseline=plan.baseline,
        reason=plan.reason,
        history_digest=plan.history_digest,
        software=plan.software,
        signal_digest=plan.signal_digest,
        format_level=plan.format_level,
        judges=plan.judges,
    )


def to_plan(
    record: PlanRecord,
    *,
    subject: plans.Subject,
    weights: tuple[float, ...],
    strata: plans.Strata | None,
) -> plans.Plan:
    return plans.Plan(
        subject=subject,
        method=record.method,
        objective=to_objective(record.objective),
        inference=record.inference,
        population=record.population,
        draws=record.draws,
        round_sizes=record.round_sizes,
        weights=weights,
        clock_seed=record.clock_seed,
        attempts_allowed=record.attempts_allowed,
        missing_limit=record.missing_limit,
        baseline=record.baseline,
        reason=record.reason,
        history_digest=record.history_digest,
        software=record.software,
        strata=strata,
        signal_digest=record.signal_digest,
        format_level=record.format_level,
        judges=record.judges,
    )
