"""CloudEvents 1.0 on Kafka, read in structured and binary mode and written in structured mode.

The `cloudevents` SDK is not used for reading: it gives an event without an id a random one and
one without a time the present, so every delivery of it would be an evaluation of its own, and
it takes data that is not JSON for a text. The tests hold both directions against the SDK.
"""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Base64Bytes, Field, ValidationError
from pydantic_core import from_json, to_json

from monitor.domain.errors import DeadLetterReason, InvalidEvent
from monitor.domain.identifiers import canonical_json
from monitor.wire.records import Instant, Record, describe

MEDIA_TYPE = "application/cloudevents+json"
HEADERS = (("content-type", f"{MEDIA_TYPE}; charset=UTF-8".encode()),)
PREFIX = "ce_"

Attribute = Annotated[str, Field(min_length=1, max_length=1024)]


class Envelope(Record):
    """Attributes of CloudEvents 1.0; extension attributes are ignored."""

    specversion: Literal["1.0"]
    id: Attribute
    source: Attribute
    type: Attribute
    subject: Attribute | None = None
    time: Instant | None = None
    datacontenttype: Attribute | None = None
    dataschema: Attribute | None = None


class Received(Envelope):
    """An envelope around data that is not looked at yet."""

    data: Any = None
    data_base64: Base64Bytes | None = None


Checked = TypeVar("Checked", bound=Envelope)


def write(envelope: Envelope, data: object) -> bytes:
    """A structured CloudEvent around a JSON document, as canonical JSON."""
    return canonical_json({**envelope.model_dump(mode="json", exclude_none=True), "data": data})


def is_newer(found: str, known: str) -> bool:
    """Whether an event type `found` is a later version of the type `known` (`NAME.vN`)."""
    name, _, version = found.rpartition(".v")
    known_name, _, known_version = known.rpartition(".v")
    return name == known_name and version.isdecimal() and int(version) > int(known_version)


def read(value: bytes, headers: Sequence[tuple[str, bytes]]) -> tuple[Envelope, bytes]:
    """Attributes of an event, and its data as JSON text.

    A record that has no headers is taken as structured: plain tools send it that way.

    Raises:
        InvalidEvent: NOT_JSON or NOT_CLOUDEVENT, or INVALID_DATA where the data has a media
            type other than JSON.
    """
    texts = _texts(headers)
    media = _media_type(texts.get("content-type"))
    if media.startswith("application/cloudevents"):
        if media != MEDIA_TYPE:
            raise InvalidEvent(
                DeadLetterReason.NOT_CLOUDEVENT, f"content-type must be {MEDIA_TYPE}, not {media}"
            )
        envelope, data = _structured(value)
    elif any(name.startswith(PREFIX) for name in texts):
        envelope, data = _binary(value, texts)
    else:
        envelope, data = _structured(value)
    _check_data(data, envelope.datacontenttype)
    return envelope, data


def _texts(headers: Sequence[tuple[str, bytes]]) -> dict[str, str]:
    names = [(name.lower(), text) for name, text in headers]
    try:
        return {
            name: text.decode()
            for name, text in names
            if name == "content-type" or name.startswith(PREFIX)
        }
    except UnicodeDecodeError:
        raise InvalidEvent(
            DeadLetterReason.NOT_CLOUDEVENT, "a CloudEvents header is not UTF-8 text"
        ) from None


def _structured(value: bytes) -> tuple[Envelope, bytes]:
    received = _validate(Received, value)
    if received.data_base64 is not None:
        return received, received.data_base64
    return received, to_json(received.data)


def _binary(value: bytes, texts: dict[str, str]) -> tuple[Envelope, bytes]:
    attributes = {
        name.removeprefix(PREFIX): text for name, text in texts.items() if name.startswith(PREFIX)
    }
    if "content-type" in texts:
        attributes["datacontenttype"] = texts["content-type"]
    return _validate(Envelope, to_json(attributes)), value


def _validate(model: type[Checked], value: bytes) -> Checked:
    try:
        return model.model_validate_json(value, strict=True)
    except ValidationError as error:
        not_json = error.errors()[0]["type"] == "json_invalid"
        reason = DeadLetterReason.NOT_JSON if not_json else DeadLetterReason.NOT_CLOUDEVENT
        raise InvalidEvent(reason, describe(error)) from None


def _check_data(data: bytes, media_type: str | None) -> None:
    media = _media_type(media_type)
    if media and not media.endswith(("/json", "+json")):
        raise InvalidEvent(
            DeadLetterReason.INVALID_DATA, f"data must be JSON, datacontenttype says {media}"
        )
    try:
        from_json(data, allow_inf_nan=False)
    except ValueError as error:
        raise InvalidEvent(DeadLetterReason.NOT_JSON, f"data: {error}") from None


def _media_type(text: str | None) -> str:
    return (text or "").partition(";")[0].strip().lower()
