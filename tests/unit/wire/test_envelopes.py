import json

import pytest
from cloudevents.core.bindings import kafka
from cloudevents.core.formats.json import JSONFormat
from cloudevents.core.v1.event import CloudEvent

from monitor.domain.errors import DeadLetterReason, InvalidEvent
from monitor.wire import envelopes
from monitor.wire.envelopes import Envelope
from tests.unit.wire import examples

ENVELOPE = Envelope(
    specversion="1.0",
    id="42",
    source="/registry",
    type="test.v1",
    subject="älter",
    time=examples.TIMES.ended,
    datacontenttype="application/json",
)
DATA = {"share": 0.1, "name": "größer"}
ATTRIBUTES = {"specversion": "1.0", "id": "42", "source": "/registry", "type": "test.v1"}
BINARY = tuple((f"ce_{name}", text.encode()) for name, text in ATTRIBUTES.items())


def sdk_event() -> CloudEvent:
    named = {"subject": "älter", "datacontenttype": "application/json", "team": "support"}
    return CloudEvent({**ATTRIBUTES, **named, "time": examples.TIMES.ended}, DATA)


def test_the_sdk_reads_what_is_written() -> None:
    value = envelopes.write(ENVELOPE, DATA)
    event = kafka.from_structured_event(
        kafka.KafkaMessage(headers=dict(envelopes.HEADERS), key=None, value=value)
    )
    assert Envelope.model_validate(event.get_attributes()) == ENVELOPE
    assert event.get_data() == DATA


@pytest.mark.parametrize("write", [kafka.to_structured, kafka.to_binary])
def test_what_the_sdk_writes_is_read(write: object) -> None:
    assert callable(write)
    message = write(sdk_event(), JSONFormat())
    envelope, data = envelopes.read(message.value, tuple(message.headers.items()))
    assert Envelope.model_validate(envelope.model_dump()) == ENVELOPE
    assert json.loads(data) == DATA


def test_a_record_without_headers_is_taken_as_structured() -> None:
    envelope, data = envelopes.read(json.dumps(ATTRIBUTES | {"data": 1}).encode(), ())
    assert (envelope.id, envelope.time, data) == ("42", None, b"1")


def test_data_in_base64_is_read() -> None:
    structured = json.dumps(ATTRIBUTES | {"data_base64": "eyJhIjoxfQ=="}).encode()
    assert envelopes.read(structured, ())[1] == b'{"a":1}'


def test_headers_that_are_not_ours_may_hold_any_bytes() -> None:
    headers = (*BINARY, ("traceparent", b"\xff"), ("Content-Type", b"application/json"))
    assert envelopes.read(b"{}", headers)[0].id == "42"


@pytest.mark.parametrize(
    ("value", "headers", "reason", "detail"),
    [
        (b"", (), "not_json", "Invalid JSON"),
        (b"\xff", (), "not_json", "Invalid JSON"),
        (b"[" * 5000, (), "not_json", "Invalid JSON"),
        (b'"text"', (), "not_cloudevent", "object"),
        (b"{}", (), "not_cloudevent", "specversion: Field required; id: Field required"),
        (json.dumps(ATTRIBUTES | {"specversion": "0.3"}), (), "not_cloudevent", "specversion"),
        (json.dumps(ATTRIBUTES | {"id": ""}), (), "not_cloudevent", "id: "),
        (json.dumps(ATTRIBUTES | {"time": 12}), (), "not_cloudevent", "time: "),
        (json.dumps(ATTRIBUTES | {"time": "2026-11-29T12:00:00"}), (), "not_cloudevent", "time: "),
        (b"{}", BINARY[:3], "not_cloudevent", "type: Field required"),
        (b"{}", (("ce_id", b"\xff"),), "not_cloudevent", "not UTF-8"),
        (b"{", BINARY, "not_json", "data: "),
        (b"", BINARY, "not_json", "data: "),
        (b"{}", (*BINARY, ("content-type", b"text/plain")), "invalid_data", "text/plain"),
        (b"", (("content-type", b"application/cloudevents+avro"),), "not_cloudevent", "avro"),
        (
            b"[]",
            (("content-type", b"application/cloudevents-batch+json"),),
            "not_cloudevent",
            "batch",
        ),
    ],
)
def test_what_is_no_event_is_refused_with_the_reason(
    value: bytes | str, headers: tuple[tuple[str, bytes], ...], reason: str, detail: str
) -> None:
    raw = value.encode() if isinstance(value, str) else value
    with pytest.raises(InvalidEvent, match=detail) as caught:
        envelopes.read(raw, headers)
    assert caught.value.reason == DeadLetterReason(reason)


@pytest.mark.parametrize(
    ("found", "newer"),
    [("a.v2", True), ("a.v10", True), ("a.v1", False), ("b.v2", False), ("a.vx", False)],
)
def test_a_newer_type_has_the_same_name_and_a_higher_version(found: str, *, newer: bool) -> None:
    assert envelopes.is_newer(found, "a.v1") is newer
