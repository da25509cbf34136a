"""From a record to what is to be done about it."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from monitor.domain.events import EvaluationWanted, VersionWithdrawn
from monitor.domain.identifiers import evaluation_id
from monitor.domain.plans import Subject
from monitor.domain.suites import Suite
from monitor.ports import Record
from monitor.service.catalog import Catalog, Target
from monitor.wire import events


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What an event may be: bytes of its value, and age when it is first read."""

    event_bytes: int
    event_age: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One evaluation that an event asks for."""

    subject: Subject
    suite: Suite


@dataclass(frozen=True, slots=True, kw_only=True)
class Requests:
    """Everything an event asks for; `too_old` when it came too late to be bought."""

    event: EvaluationWanted
    target: Target
    requests: tuple[Request, ...]
    too_old: bool


def read(
    record: Record, *, catalog: Catalog, limits: Limits, now: datetime
) -> Requests | VersionWithdrawn:
    """Decode a record and look up everything that it names.

    Raises:
        InvalidEvent: no retry can make it valid.
    """
    event = events.decode(record.value, record.headers, limit=limits.event_bytes)
    if isinstance(event, VersionWithdrawn):
        return event
    target = catalog.target(event.endpoint)
    names = event.suites or catalog.suites_for(event.variant)
    suites = [catalog.suite(name) for name in names]
    requests = tuple(_request(record, event, suite=each, model=target.model) for each in suites)
    time = event.identity.time
    too_old = time is not None and now - time > limits.event_age
    return Requests(event=event, target=target, requests=requests, too_old=too_old)


def _request(record: Record, event: EvaluationWanted, *, suite: Suite, model: str) -> Request:
    identity = event.identity
    subject = Subject(
        evaluation_id=evaluation_id(source=identity.source, event_id=identity.id, suite=suite.name),
        variant=event.variant,
        version=event.version,
        suite=suite.name,
        suite_digest=suite.digest,
        model=model,
        event_source=identity.source,
        event_id=identity.id,
        topic=record.topic,
        partition=record.partition,
        offset=record.offset,
        labels=event.labels,
    )
    return Request(subject=subject, suite=suite)
