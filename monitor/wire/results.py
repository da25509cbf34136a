"""Published results: what an evaluation found, what it cost and when it ran.

`statistics` is a function of the journal alone and is what a replay must reproduce to the byte;
`spend` and `times` stand beside it because they depend on latency, crashes and prices.
"""

import json
from collections.abc import Collection, Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    WrapSerializer,
    model_serializer,
)

from monitor.domain import plans, results
from monitor.domain.answers import CAME, UNREADABLE
from monitor.domain.errors import StateCorrupt, StateTooNew
from monitor.domain.identifiers import Digest, canonical_json, digest
from monitor.wire import envelopes, records

TYPE = "model.evaluation.completed.v1"
HEADERS = envelopes.HEADERS
WHAT = "evaluation result"
PLAIN_ESTIMATOR = "sample_mean"


class Statistics(records.Record):
    """The part of a result that its journal determines.

    plan: null where the evaluation ended before it had one. counts: answers by status.
    estimate: `value` is as estimated and may leave [0, 1] by chance; just a `reason` where there
    is none. estimate_clipped: the value cut to [0, 1], for showing.
    effective_sample_size: draws times ess_ratio, the plain random draws that these are worth.
    doubt: answers without a score from their grader; left out where no answer came.
    """

    subject: plans.Subject
    software: str
    plan: records.PlanRecord | None
    counts: Mapping[str, int]
    answered: int
    missing: int
    estimate: results.Estimate | results.NoEstimate
    estimate_clipped: float | None
    effective_sample_size: float | None
    difference: results.Difference | None
    verdict: results.Verdict
    doubt: results.Doubt | None = Field(default=None, exclude_if=records.is_unset)


class Times(records.Record):
    """When an evaluation ran, and for how many seconds by a clock that is never set."""

    started: records.Instant
    ended: records.Instant
    seconds: float


def _own_alone(spend: results.Spend, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
    """Without `others` where nothing else was bought, as results were before there were any."""
    document: dict[str, Any] = serialize(spend)
    if not spend.others:
        del document["others"]
    return document


class Completion(records.Record):
    """Data of the event; `statistics` is what a replay reproduces to the byte.

    judging: what each judge did, by its name; left out where the suite has no judges.
    """

    statistics: Statistics
    spend: Annotated[results.Spend, WrapSerializer(_own_alone)]
    times: Times
    judging: Mapping[str, results.JudgeFigures] = {}

    @model_serializer(mode="wrap")
    def _unjudged(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        document: dict[str, Any] = serialize(self)
        if not self.judging:
            del document["judging"]
        return document


class CompletedEvaluation(envelopes.Envelope):
    """An evaluation is over. id: of the evaluation; subject: VARIANT/SUITE; time: of its end."""

    type: Literal["model.evaluation.completed.v1"]
    subject: envelopes.Attribute
    time: records.Instant
    data: Completion

    def findings(self) -> results.Findings:
        """The statistical part in the domain's words."""
        found = self.data.statistics
        return results.Findings(
            counts=found.counts,
            answered=found.answered,
            missing=found.missing,
            estimate=found.estimate,
            difference=found.difference,
            verdict=found.verdict,
            doubt=found.doubt,
        )

    def baseline(self) -> results.Baseline | None:
        """What the next version is compared with; None where there is no estimate."""
        found = self.data.statistics
        if isinstance(found.estimate, results.NoEstimate):
            return None
        return results.Baseline.of(
            found.estimate,
            evaluation_id=found.subject.evaluation_id,
            version=found.subject.version,
            unreadable=_unreadable(found),
        )


def statistics_bytes(plan: plans.Plan, findings: results.Findings) -> bytes:
    """Canonical JSON of everything in a result that the journal determines."""
    record = records.from_plan(plan)
    return _statistics(plan.subject, plan.software, plan=record, findings=findings).to_bytes()


def unplanned_statistics_bytes(
    subject: plans.Subject, findings: results.Findings, *, software: str
) -> bytes:
    """The same for an evaluation that ended, CANCELLED or FAULTED, before it had a plan."""
    return _statistics(subject, software, plan=None, findings=findings).to_bytes()


def statistics_digest(statistics: bytes) -> Digest:
    """SHA-256 of the statistics, as the journal's last row holds it."""
    return digest(json.loads(statistics))


def encode(
    statistics: bytes,
    *,
    spend: results.Spend,
    times: Times,
    source: str,
    judging: Mapping[str, results.JudgeFigures] | None = None,
) -> bytes:
    """Write a result as a structured CloudEvent, to be published with HEADERS.

    Args:
        statistics: from `statistics_bytes` or `unplanned_statistics_bytes`.
        spend: what the evaluation cost.
        times: when it ran.
        source: CloudEvents `source`: a URI reference naming this installation.
        judging: what each judge did, by its name.
    """
    found = Statistics.model_validate_json(statistics, strict=True)
    envelope = envelopes.Envelope(
        specversion="1.0",
        id=found.subject.evaluation_id,
        source=source,
        type=TYPE,
        subject=f"{found.subject.variant}/{found.subject.suite}",
        time=times.ended,
        datacontenttype="application/json",
    )
    completion = Completion(statistics=found, spend=spend, times=times, judging=judging or {})
    return envelopes.write(envelope, completion.document())


def decode(value: bytes) -> CompletedEvaluation:
    """Read a published result.

    Raises:
        StateTooNew: a newer version of this program wrote it.
        StateCorrupt: it is no result.
    """
    try:
        found = envelopes.Envelope.model_validate_json(value, strict=True)
        if envelopes.is_newer(found.type, TYPE):
            raise StateTooNew(f"{WHAT} {found.id}: is a {found.type}, this program reads {TYPE}")
        return CompletedEvaluation.model_validate_json(value, strict=True)
    except ValidationError as error:
        raise StateCorrupt(f"{WHAT}: {records.describe(error)}") from None


def statistics_of(value: bytes) -> bytes:
    """The statistics of a published result, as `statistics_bytes` made them.

    Raises:
        StateCorrupt: it is no result.
    """
    try:
        return canonical_json(json.loads(value)["data"]["statistics"])
    except (ValueError, KeyError, TypeError) as error:
        raise StateCorrupt(f"{WHAT}: holds no statistics") from error


def _statistics(
    subject: plans.Subject,
    software: str,
    *,
    plan: records.PlanRecord | None,
    findings: results.Findings,
) -> Statistics:
    estimate = findings.estimate
    return Statistics(
        subject=subject,
        software=software,
        plan=plan,
        counts=findings.counts,
        answered=findings.answered,
        missing=findings.missing,
        estimate=estimate,
        estimate_clipped=_clip(estimate),
        effective_sample_size=_effective_sample_size(plan, estimate),
        difference=findings.difference,
        verdict=findings.verdict,
        doubt=findings.doubt,
    )


def _unreadable(found: Statistics) -> results.Unreadable | None:
    """Results from before `doubt` tell by their counts, where every draw weighs the same."""
    if found.doubt is not None:
        return found.doubt.unreadable
    answers = _count(found.counts, CAME)
    if not answers or found.plan is None or found.plan.inference.estimator != PLAIN_ESTIMATOR:
        return None
    return results.Unreadable(found=_count(found.counts, UNREADABLE), answers=answers)


def _count(counts: Mapping[str, int], wanted: Collection[str]) -> int:
    return sum(count for status, count in counts.items() if status in wanted)


def _clip(estimate: results.Estimate | results.NoEstimate) -> float | None:
    if isinstance(estimate, results.NoEstimate):
        return None
    return min(1.0, max(0.0, estimate.value))


def _effective_sample_size(
    plan: records.PlanRecord | None, estimate: results.Estimate | results.NoEstimate
) -> float | None:
    if plan is None or isinstance(estimate, results.NoEstimate) or estimate.ess_ratio is None:
        return None
    return plan.draws * estimate.ess_ratio
