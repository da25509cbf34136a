"""The AsyncAPI document names the topics there are, and the schemas that are stored."""

from collections.abc import Iterator

import yaml

from monitor.domain.errors import DeadLetterReason, InvalidEvent
from monitor.ports import Record
from monitor.service.publishing import put_aside
from monitor.settings import KafkaBus, TopicSettings
from monitor.wire import schemas
from tests.rules import repository

DOCUMENT = yaml.safe_load((repository.ROOT / "docs/asyncapi.yaml").read_text())


def references(node: object) -> Iterator[str]:
    """Every `$ref` of a document."""
    if isinstance(node, dict):
        for name, value in node.items():
            yield from [value] if name == "$ref" else references(value)


def test_every_topic_is_described() -> None:
    journal = KafkaBus.model_fields["journal"].default
    addresses = {channel["address"] for channel in DOCUMENT["channels"].values()}
    assert addresses == {*TopicSettings().model_dump().values(), journal}


def test_every_schema_is_used() -> None:
    files = {each.rpartition("/")[2] for each in references(DOCUMENT) if each.endswith(".json")}
    assert files == set(schemas.generate())


def test_references_lead_somewhere() -> None:
    for reference in references(DOCUMENT):
        if reference.startswith("#/"):
            found = DOCUMENT
            for step in reference.removeprefix("#/").split("/"):
                found = found[step]
        else:
            assert (repository.ROOT / "docs" / reference).is_file()


def test_headers_of_a_dead_letter_are_described() -> None:
    record = Record(topic="t", partition=0, offset=0, key=None, value=b"")
    error = InvalidEvent(DeadLetterReason.NOT_JSON, "not JSON")
    letter = put_aside(record, error, topic="d", software="0.1.0")
    described = DOCUMENT["components"]["messages"]["deadLetter"]["headers"]["properties"]
    assert set(dict(letter.headers)) == set(described)
