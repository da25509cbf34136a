"""Rows of the journal as bytes: what is stored of an evaluation while it is open.

Every row names its kind and the version of its format. A row of a newer version is refused
and left alone; an older one is read by whatever still knows it.
"""

from typing import Annotated, Literal, assert_never

from pydantic import Field, TypeAdapter

from monitor.domain import plans
from monitor.domain.errors import StateCorrupt
from monitor.domain.identifiers import Digest
from monitor.domain.results import Outcome
from monitor.wire import columns, records, tables

WHAT = "journal row"


class PlannedRow(records.Record):
    """The plan; `weights` is a float64 column with one weight a draw.

    strata: where the design has them.
    """

    kind: Literal["planned"]
    version: Literal[1]
    at: records.Instant
    subject: plans.Subject
    plan: records.PlanRecord
    weights: columns.Column
    strata: tables.StrataTable | None = Field(default=None, exclude_if=records.is_unset)


class DrawnRow(records.Record):
    """A round of draws."""

    kind: Literal["drawn"]
    version: Literal[1]
    draws: tables.DrawTable


class AnsweredRow(records.Record):
    """Answers: mostly one or a few, so not in columns."""

    kind: Literal["answered"]
    version: Literal[1]
    answers: tuple[records.AnswerRecord, ...]


class ResumedRow(records.Record):
    """A change of owner."""

    kind: Literal["resumed"]
    version: Literal[1]
    pending: int


class EndedRow(records.Record):
    """The end; the digest is that of the published statistics."""

    kind: Literal["ended"]
    version: Literal[1]
    outcome: Outcome
    statistics_digest: Digest


JournalRow = Annotated[
    PlannedRow | DrawnRow | AnsweredRow | ResumedRow | EndedRow, Field(discriminator="kind")
]
ROW: TypeAdapter[PlannedRow | DrawnRow | AnsweredRow | ResumedRow | EndedRow] = TypeAdapter(
    JournalRow
)


def encode(row: plans.Row) -> bytes:
    """Canonical JSON of a row.

    Raises:
        ValueError: a number is not finite or does not fit its column.
    """
    return _from_row(row).to_bytes()


def decode(value: bytes) -> plans.Row:
    """Read a row back, equal to the one that was encoded, floats to the last bit.

    Raises:
        StateTooNew: a newer version of this program wrote it.
        StateCorrupt: it is no row of a journal.
    """
    record = records.read(ROW, value, what=WHAT)
    try:
        return _to_row(record)
    except ValueError as error:
        raise StateCorrupt(f"{WHAT} of kind {record.kind}: {error}") from error


def _from_row(row: plans.Row) -> records.Record:
    match row:
        case plans.Planned():
            return PlannedRow(
                kind="planned",
                version=1,
                at=row.at,
                subject=row.plan.subject,
                plan=records.from_plan(row.plan),
                weights=columns.pack_floats(row.plan.weights),
                strata=tables.from_strata(row.plan.strata),
            )
        case plans.Drawn():
            return DrawnRow(kind="drawn", version=1, draws=tables.from_draws(row.draws))
        case plans.Answered():
            return AnsweredRow(kind="answered", version=1, answers=row.answers)
        case plans.Resumed():
            return ResumedRow(kind="resumed", version=1, pending=row.pending)
        case plans.Ended():
            return EndedRow(
                kind="ended",
                version=1,
                outcome=row.outcome,
                statistics_digest=row.statistics_digest,
            )
        case _:
            assert_never(row)


def _to_row(record: PlannedRow | DrawnRow | AnsweredRow | ResumedRow | EndedRow) -> plans.Row:
    match record:
        case PlannedRow():
            plan = records.to_plan(
                record.plan,
                subject=record.subject,
                weights=columns.unpack_floats(record.weights),
                strata=tables.to_strata(record.strata),
            )
            return plans.Planned(plan=plan, at=record.at)
        case DrawnRow():
            return plans.Drawn(draws=tables.to_draws(record.draws))
        case AnsweredRow():
            return plans.Answered(answers=record.answers)
        case ResumedRow():
            return plans.Resumed(pending=record.pending)
        case EndedRow():
            return plans.Ended(outcome=record.outcome, statistics_digest=record.statistics_digest)
        case _:
            assert_never(record)
