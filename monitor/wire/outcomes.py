"""The outcomes record: everything that a published result was computed from.

It replays the result and is what later versions are compared with, item by item. A record is
split into numbered parts below the topic's message limit. Each part can be read by itself; all
carry the digest of the whole, so that a missing or foreign part is noticed.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import Field, TypeAdapter

from monitor.domain import plans
from monitor.domain.answers import Answer
from monitor.domain.errors import InvalidPlan, StateCorrupt
from monitor.domain.identifiers import Digest, digest
from monitor.domain.plans import Draw, Plan
from monitor.wire import columns, records, tables

WHAT = "outcomes record"
LONGEST_NUMBER = -2.2250738585072014e-308


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcomes:
    """What a result was computed from.

    draws: those made, by step from 0. answers: at most one a draw, by step.
    quantile: of the interval, as the estimate names it.
    """

    plan: Plan
    draws: tuple[Draw, ...]
    answers: tuple[Answer, ...]
    quantile: float | None


class OutcomesPart(records.Record):
    """Steps `first_step` onward of an evaluation.

    part: 1 to `parts`. record: SHA-256 over the whole record, unpacked.
    weights: float64, one for each step of the part, drawn or not.
    strata: of the whole plan, where its design has them.
    """

    kind: Literal["outcomes"]
    version: Literal[1]
    part: int
    parts: int
    record: Digest
    first_step: int
    subject: plans.Subject
    plan: records.PlanRecord
    quantile: float | None
    weights: columns.Column
    draws: tables.DrawTable
    answers: tables.AnswerTable
    strata: tables.StrataTable | None = Field(default=None, exclude_if=records.is_unset)


PART = TypeAdapter(OutcomesPart)


class _Whole(records.Record):
    """What the digest covers: of the answers, all that estimates are made of."""

    subject: plans.Subject
    plan: records.PlanRecord
    quantile: float | None
    weights: tuple[float, ...]
    draws: tuple[Draw, ...]
    answers: tuple[records.AnswerRecord, ...]
    strata: plans.Strata | None = Field(default=None, exclude_if=records.is_unset)


def largest_size(plan: Plan, *, steps: int | None = None) -> int:
    """Bytes that no part of this plan with so many steps exceeds, whatever will be answered.

    Args:
        plan: the plan of the evaluation.
        steps: draws in the part; None for all of the plan, the size of a record in one part.
    """
    return _frame_size(plan) + _largest_growth(plan.draws if steps is None else steps)


def _frame_size(plan: Plan) -> int:
    """Bytes of a part without a step."""
    frame = OutcomesPart(
        kind="outcomes",
        version=1,
        part=columns.LONGEST,
        parts=columns.LONGEST,
        record=digest(None),
        first_step=columns.LONGEST,
        subject=plan.subject,
        plan=records.from_plan(plan),
        quantile=LONGEST_NUMBER,
        weights=columns.pack_floats([]),
        draws=tables.from_draws([]),
        answers=tables.from_answers([]),
        strata=tables.from_strata(plan.strata),
    )
    return len(frame.to_bytes())


def _largest_growth(steps: int) -> int:
    return columns.largest_growth("float64", steps) + tables.largest_growth(steps)


def check_size(plan: Plan, *, limit: int) -> None:
    """Make sure, before the first query is paid, that the record can be published.

    Raises:
        InvalidPlan: not even one step fits beside the plan into a part of `limit` bytes.
    """
    _steps_per_part(plan, limit)


def encode(outcomes: Outcomes, *, limit: int) -> tuple[bytes, ...]:
    """Write a record as parts of at most `limit` bytes.

    Raises:
        InvalidPlan: as `check_size`, never after it has passed.
        ValueError: steps are out of order, or a number is not finite.
    """
    _check_steps(outcomes)
    steps = _steps_per_part(outcomes.plan, limit)
    starts = range(0, outcomes.plan.draws, steps)
    record = _digest(outcomes)
    return tuple(
        _part(outcomes, slice(start, start + steps), part=part, parts=len(starts), record=record)
        for part, start in enumerate(starts, start=1)
    )


def decode(parts: Sequence[bytes]) -> Outcomes:
    """Put the parts of one record together again, whatever their order.

    Raises:
        StateTooNew: a newer version of this program wrote them.
        StateCorrupt: a part is missing, there twice, damaged, or of another record.
    """
    read = sorted(
        (records.read(PART, part, what=WHAT) for part in parts), key=lambda part: part.part
    )
    if not read:
        raise StateCorrupt(f"{WHAT}: there is no part of it")
    try:
        _check_parts(read)
        outcomes = _join(read)
        _check_steps(outcomes)
        _check_digest(outcomes, read[0].record)
    except ValueError as error:
        raise StateCorrupt(
            f"{WHAT} of evaluation {read[0].subject.evaluation_id}: {error}"
        ) from error
    return outcomes


def _steps_per_part(plan: Plan, limit: int) -> int:
    frame = _frame_size(plan)
    possible = range(1, plan.draws + 1)
    steps = bisect_right(possible, limit - frame, key=_largest_growth)
    if not steps:
        raise InvalidPlan(
            f"the outcomes record of this plan needs messages of {frame + _largest_growth(1)}"
            f" bytes, the topic allows {limit}: raise its limit, or shorten the event's labels"
        )
    return steps


def _check_steps(outcomes: Outcomes) -> None:
    if len(outcomes.plan.weights) != outcomes.plan.draws:
        raise ValueError(
            f"{len(outcomes.plan.weights)} weights for {outcomes.plan.draws} planned draws"
        )
    drawn = [draw.step for draw in outcomes.draws]
    if drawn != list(range(len(drawn))) or len(drawn) > outcomes.plan.draws:
        raise ValueError("the draws are not the first steps of the plan, in order")
    answered = [answer.step for answer in outcomes.answers]
    if answered != sorted(set(answered) & set(drawn)):
        raise ValueError("the answers are not those of draws, one each, in order of their steps")


def _part(outcomes: Outcomes, steps: slice, *, part: int, parts: int, record: Digest) -> bytes:
    answers = [answer for answer in outcomes.answers if steps.start <= answer.step < steps.stop]
    return OutcomesPart(
        kind="outcomes",
        version=1,
        part=part,
        parts=parts,
        record=record,
        first_step=steps.start,
        subject=outcomes.plan.subject,
        plan=records.from_plan(outcomes.plan),
        quantile=outcomes.quantile,
        weights=columns.pack_floats(outcomes.plan.weights[steps]),
        draws=tables.from_draws(outcomes.draws[steps]),
        answers=tables.from_answers(answers),
        strata=tables.from_strata(outcomes.plan.strata),
    ).to_bytes()


def _check_parts(parts: Sequence[OutcomesPart]) -> None:
    first = parts[0]
    if any((part.record, part.parts) != (first.record, first.parts) for part in parts):
        raise ValueError("there are parts of another record among its parts")
    numbers = [part.part for part in parts]
    missing = set(range(1, first.parts + 1)) - set(numbers)
    if missing:
        raise ValueError(f"of {first.parts} parts, these are missing: {sorted(missing)}")
    if len(numbers) != first.parts:
        raise ValueError(f"there are {len(numbers)} parts where {first.parts} are announced")


def _join(parts: Sequence[OutcomesPart]) -> Outcomes:
    weights = tuple(weight for part in parts for weight in columns.unpack_floats(part.weights))
    first = parts[0]
    strata = tables.to_strata(first.strata)
    return Outcomes(
        plan=records.to_plan(first.plan, subject=first.subject, weights=weights, strata=strata),
        draws=tuple(draw for part in parts for draw in tables.to_draws(part.draws)),
        answers=tuple(answer for part in parts for answer in tables.to_answers(part.answers)),
        quantile=first.quantile,
    )


def _check_digest(outcomes: Outcomes, announced: Digest) -> None:
    if _digest(outcomes) != announced:
        raise ValueError("its contents do not have the digest that its parts name")


def _digest(outcomes: Outcomes) -> Digest:
    whole = _Whole(
        subject=outcomes.plan.subject,
        plan=records.from_plan(outcomes.plan),
        quantile=outcomes.quantile,
        weights=outcomes.plan.weights,
        draws=outcomes.draws,
        answers=tuple(replace(answer, judged=()) for answer in outcomes.answers),
        strata=outcomes.plan.strata,
    )
    return digest(whole.document())
