from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from monitor.domain.errors import DeadLetterReason, InvalidEvent
from monitor.domain.events import EventIdentity, VersionWithdrawn
from monitor.domain.identifiers import EndpointName, VariantName, VersionName, evaluation_id
from monitor.ports import Record
from monitor.service import intake
from monitor.service.intake import Limits, Requests
from monitor.wire import events
from tests.unit.service.worlds import SOURCE, wanted, world

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
AGE = timedelta(hours=24)
RECORD = Record(
    topic="model-versions",
    partition=2,
    offset=41,
    key=b"chat",
    value=events.encode(wanted("1", "sums")),
    headers=events.HEADERS,
)


def read(record: Record = RECORD, *, event_bytes: int = 10_000) -> Requests | VersionWithdrawn:
    limits = Limits(event_bytes=event_bytes, event_age=AGE)
    return intake.read(record, catalog=world("sums", "texts").catalog, limits=limits, now=NOW)


def requests(version: str = "1", *suites: str, **more: object) -> Requests:
    found = read(replace(RECORD, value=events.encode(wanted(version, *suites, **more))))
    assert isinstance(found, Requests)
    return found


async def test_each_named_suite_is_one_evaluation() -> None:
    found = requests("1", "texts", "sums")
    assert [each.subject.suite for each in found.requests] == ["texts", "sums"]
    assert [each.suite.name for each in found.requests] == ["texts", "sums"]
    assert len({each.subject.evaluation_id for each in found.requests}) == 2


async def test_without_names_every_suite_of_the_variant_is_meant() -> None:
    assert [each.subject.suite for each in requests().requests] == ["sums", "texts"]


async def test_a_subject_says_who_what_and_where_from() -> None:
    (request,) = requests("1", "sums", labels={"team": "support"}).requests
    subject = request.subject
    assert subject.evaluation_id == evaluation_id(source=SOURCE, event_id="1", suite=subject.suite)
    assert (subject.variant, subject.version, subject.model) == ("chat", "1", "tiny")
    assert (subject.topic, subject.partition, subject.offset) == ("model-versions", 2, 41)
    assert (subject.event_source, subject.event_id) == (SOURCE, "1")
    assert (subject.suite_digest, subject.labels) == (request.suite.digest, {"team": "support"})


@pytest.mark.parametrize(
    ("time", "too_old"),
    [
        (None, False),
        (NOW - AGE, False),
        (NOW - AGE - timedelta(seconds=1), True),
        (NOW + timedelta(days=2), False),
    ],
)
async def test_the_age_of_an_event(time: datetime | None, too_old: bool) -> None:  # noqa: FBT001
    identity = EventIdentity(source=SOURCE, id="1", time=time)
    assert requests("1", "sums", identity=identity).too_old is too_old


async def test_a_withdrawal_is_passed_on() -> None:
    withdrawn = VersionWithdrawn(
        identity=EventIdentity(source=SOURCE, id="9"),
        variant=VariantName("chat"),
        version=VersionName("1"),
    )
    assert read(replace(RECORD, value=events.encode(withdrawn))) == withdrawn


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (b"\xff", DeadLetterReason.NOT_JSON),
        (b"{}", DeadLetterReason.NOT_CLOUDEVENT),
        (events.encode(wanted("1", "nothing")), DeadLetterReason.UNKNOWN_SUITE),
        (events.encode(wanted("1", "sums", "nothing")), DeadLetterReason.UNKNOWN_SUITE),
        (
            events.encode(wanted("1", endpoint=EndpointName("gone"))),
            DeadLetterReason.UNKNOWN_ENDPOINT,
        ),
    ],
)
async def test_what_can_never_be_done_is_refused(value: bytes, reason: DeadLetterReason) -> None:
    with pytest.raises(InvalidEvent) as refused:
        read(replace(RECORD, value=value))
    assert refused.value.reason is reason


async def test_a_record_over_the_limit_is_not_looked_at() -> None:
    with pytest.raises(InvalidEvent) as refused:
        read(event_bytes=len(RECORD.value) - 1)
    assert refused.value.reason is DeadLetterReason.TOO_LARGE
    read(event_bytes=len(RECORD.value))
