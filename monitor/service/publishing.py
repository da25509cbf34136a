"""The end of an evaluation as one commit: result, outcomes record, terminal row, tombstones."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from monitor.domain.answers import Usage
from monitor.domain.errors import InvalidEvent
from monitor.domain.plans import Ended, Subject
from monitor.domain.results import (
    Estimate,
    Findings,
    JudgeFigures,
    Money,
    Price,
    Purpose,
    Spend,
    SpendLine,
)
from monitor.ports import Commit, Entry, Message, Record
from monitor.service.catalog import Judge
from monitor.service.journals import Journal, is_complete
from monitor.settings import TopicSettings
from monitor.wire import journal, outcomes, results


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """Everything there is to say about an evaluation that has ended.

    journal: its rows; without a plan where it ended before it had one.
    judging: what each judge did, by its name.
    """

    subject: Subject
    journal: Journal
    findings: Findings
    spend: Spend
    times: results.Times
    software: str
    judging: Mapping[str, JudgeFigures] = field(default_factory=dict)


def spend_of(
    journal: Journal,
    price: Price | None,
    judges: Sequence[Judge] = (),
    surrogates: SpendLine | None = None,
) -> Spend:
    """What an evaluation is known to have cost.

    Args:
        journal: what was asked of the version.
        price: of the version's tokens.
        judges: who was asked besides.
        surrogates: what their answers cost, where they were bought for this evaluation.
    """
    usage = journal.usage
    others = {Purpose.JUDGE: _judging_spend(journal, judges)} if judges else {}
    if surrogates is not None:
        others[Purpose.SURROGATE] = surrogates
    return Spend(
        attempts=usage.attempts,
        maybe_repeated=journal.maybe_repeated,
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        cost=_cost(usage, price),
        others=others,
    )


def spend_line(usage: Usage, price: Price | None) -> SpendLine:
    """What was bought for one purpose at one price."""
    return SpendLine(
        attempts=usage.attempts,
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        cost=_cost(usage, price),
    )


def total(lines: Sequence[SpendLine]) -> SpendLine:
    """Several lines in one; its cost is unknown where one's is, or not in one currency."""
    known = [line.cost for line in lines if line.cost is not None]
    cost = None
    if len(known) == len(lines) and len({each.currency for each in known}) == 1:
        cost = Money(amount=sum(each.amount for each in known), currency=known[0].currency)
    return SpendLine(
        attempts=sum(line.attempts for line in lines),
        prompt_tokens=sum(line.prompt_tokens for line in lines),
        completion_tokens=sum(line.completion_tokens for line in lines),
        cost=cost,
    )


def _judging_spend(journal: Journal, judges: Sequence[Judge]) -> SpendLine:
    """What all judges cost."""
    return total(
        [spend_line(journal.judge_usage(judge.name), judge.target.price) for judge in judges]
    )


def _cost(usage: Usage, price: Price | None) -> Money | None:
    if price is None:
        return None
    return price.cost(prompt_tokens=usage.prompt_tokens, completion_tokens=usage.completion_tokens)


def times_of(started: datetime, ended: datetime) -> results.Times:
    """When it ran, from the making of its plan to its end, restarts included."""
    seconds = max(0.0, (ended - started).total_seconds())
    return results.Times(started=started, ended=ended, seconds=seconds)


def publish(
    publication: Publication, *, topics: TopicSettings, source: str, record_limit: int
) -> Commit:
    """What becomes visible when the evaluation ends; the caller adds the settled offset.

    Args:
        publication: the evaluation.
        topics: where to.
        source: CloudEvents source of the result.
        record_limit: largest message in bytes.
    """
    subject = publication.subject
    statistics = _statistics(publication)
    result = Message(
        topic=topics.evaluations,
        key=f"{subject.variant}/{subject.suite}".encode(),
        value=results.encode(
            statistics,
            spend=publication.spend,
            times=publication.times,
            source=source,
            judging=publication.judging,
        ),
        headers=_headers(subject),
    )
    ended = Ended(
        outcome=publication.findings.verdict.outcome,
        statistics_digest=results.statistics_digest(statistics),
    )
    return Commit(
        partition=subject.partition,
        messages=(result, *_outcomes(publication, topics.outcomes, record_limit)),
        entries=_closing_entries(publication, ended),
    )


def put_aside(record: Record, error: InvalidEvent, *, topic: str, software: str) -> Message:
    """A dead letter: the value verbatim; why and where from, in its headers."""
    facts = {
        "reason": error.reason,
        "detail": error.detail,
        "topic": record.topic,
        "partition": str(record.partition),
        "offset": str(record.offset),
        "software": software,
    }
    added = tuple((f"dead-letter-{name}", text.encode()) for name, text in facts.items())
    return Message(topic=topic, key=record.key, value=record.value, headers=record.headers + added)


def _statistics(publication: Publication) -> bytes:
    planned = publication.journal.plan
    if planned is not None:
        return results.statistics_bytes(planned.plan, publication.findings)
    return results.unplanned_statistics_bytes(
        publication.subject, publication.findings, software=publication.software
    )


def _outcomes(publication: Publication, topic: str, limit: int) -> tuple[Message, ...]:
    kept, estimate = publication.journal, publication.findings.estimate
    if kept.plan is None or not is_complete(kept.plan.plan, kept.answers):
        return ()
    record = outcomes.Outcomes(
        plan=kept.plan.plan,
        draws=kept.draws,
        answers=kept.answers,
        quantile=estimate.quantile if isinstance(estimate, Estimate) else None,
    )
    subject = publication.subject
    return tuple(
        Message(
            topic=topic,
            key=subject.evaluation_id.encode(),
            value=part,
            headers=(*_headers(subject), ("part", str(number).encode())),
        )
        for number, part in enumerate(outcomes.encode(record, limit=limit), start=1)
    )


def _closing_entries(publication: Publication, ended: Ended) -> tuple[Entry, ...]:
    identity, rows = publication.subject.evaluation_id, len(publication.journal.rows)
    gone = tuple(
        Entry(evaluation_id=identity, sequence=sequence, value=None) for sequence in range(rows)
    )
    last = Entry(evaluation_id=identity, sequence=rows, value=journal.encode(ended))
    return (*gone, last)


def _headers(subject: Subject) -> tuple[tuple[str, bytes], ...]:
    return (
        *results.HEADERS,
        ("evaluation_id", subject.evaluation_id.encode()),
        ("variant", subject.variant.encode()),
        ("suite", subject.suite.encode()),
        ("version", subject.version.encode()),
    )
