"""Published bytes, as files: what is written today must be what was written then, and readable.

Run this file to write them anew, which is right only where a format was meant to change.
"""

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from monitor.domain.events import (
    EvaluationWanted,
    Event,
    EventIdentity,
    InlineEndpoint,
    VersionWithdrawn,
)
from monitor.domain.identifiers import CredentialName, EndpointName, SuiteName
from monitor.domain.plans import Answered, Drawn, Ended, Planned, Resumed, Row
from monitor.domain.policies import AtLeast, Budget, Method
from monitor.wire import columns, events, journal, outcomes, results, schemas
from tests.unit.wire import examples

HERE = Path(__file__).parent

IDENTITY = EventIdentity(source="/registry", id="42", time=examples.TIMES.started)
DEPLOYED = EvaluationWanted(
    identity=IDENTITY,
    variant=examples.SUBJECT.variant,
    version=examples.SUBJECT.version,
    endpoint=EndpointName("blue"),
)
REQUESTED = replace(
    DEPLOYED,
    is_deployment=False,
    endpoint=InlineEndpoint(
        base_url="https://models.example:8443/v1",
        model="meta-llama/Llama-3.1-8B-Instruct",
        credential=CredentialName("gateway"),
    ),
    previous_version=examples.BASELINE.version,
    suites=(SuiteName("arithmetic"),),
    method=Method.FAQ,
    budget=Budget(share=0.1),
    objective=AtLeast(threshold=0.8),
    labels={"team": "support"},
)
WITHDRAWN = VersionWithdrawn(identity=IDENTITY, variant=DEPLOYED.variant, version=DEPLOYED.version)
EVENTS: dict[str, Event] = {
    "events/deployed.json": DEPLOYED,
    "events/requested.json": REQUESTED,
    "events/withdrawn.json": WITHDRAWN,
}
STATISTICS = results.statistics_bytes(examples.PLAN, examples.FINDINGS)
ROWS: dict[str, Row] = {
    "journal/planned.json": Planned(plan=examples.PLAN, at=examples.TIMES.started),
    "journal/planned-stratified.json": Planned(
        plan=examples.STRATIFIED_PLAN, at=examples.TIMES.started
    ),
    "journal/drawn.json": Drawn(draws=examples.DRAWS[:4]),
    "journal/answered.json": Answered(answers=examples.ANSWERS[1:3]),
    "journal/resumed.json": Resumed(pending=2),
    "journal/ended.json": Ended(
        outcome=examples.FINDINGS.verdict.outcome,
        statistics_digest=results.statistics_digest(STATISTICS),
    ),
}
STRATIFIED_RECORD = replace(examples.OUTCOMES, plan=examples.STRATIFIED_PLAN)
PART_LIMIT = outcomes.largest_size(examples.PLAN, steps=4)


def publish(statistics: bytes) -> bytes:
    return results.encode(
        statistics, spend=examples.SPEND, times=examples.TIMES, source="/variant-monitor"
    )


def written() -> dict[str, bytes]:
    """Every golden file's content, as the code writes it today."""
    cancelled = results.unplanned_statistics_bytes(
        examples.SUBJECT, examples.CANCELLED, software="0.1.0"
    )
    parts = outcomes.encode(examples.OUTCOMES, limit=PART_LIMIT)
    return {
        **{name: events.encode(event) for name, event in EVENTS.items()},
        "results/completed.json": publish(STATISTICS),
        "results/cancelled.json": publish(cancelled),
        "results/doubted.json": publish(
            results.statistics_bytes(examples.DOUBTED_PLAN, examples.DOUBTED)
        ),
        **{name: journal.encode(row) for name, row in ROWS.items()},
        **{f"outcomes/part-{number}.json": part for number, part in enumerate(parts, start=1)},
        "outcomes/stratified.json": outcomes.encode(STRATIFIED_RECORD, limit=10**6)[0],
    }


def stored() -> dict[str, bytes]:
    return {
        path.relative_to(HERE).as_posix(): path.read_bytes().removesuffix(b"\n")
        for path in HERE.glob("*/*.json")
        if path.parent.name != "released"
    }


def unpacked(document: object) -> object:
    """Columns as lists: how they are compressed differs between builds of zlib."""
    if not isinstance(document, dict):
        return document
    if document.keys() != columns.Column.model_fields.keys():
        return {name: unpacked(value) for name, value in document.items()}
    column = columns.Column.model_validate(document)
    if column.kind == "float64":
        return columns.unpack_optional_floats(column)
    return columns.unpack_integers(column)


WRITTEN, STORED = written(), stored()
SCHEMAS = {
    "events": "version-event.v1.json",
    "results": "evaluation-completed.v1.json",
    "journal": "journal-row.v1.json",
    "outcomes": "outcomes.v1.json",
}


def validator(name: str) -> jsonschema.Draft202012Validator:
    schema = json.loads(schemas.generate()[SCHEMAS[name.partition("/")[0]]])
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_every_file_is_written_by_something() -> None:
    assert set(STORED) == set(WRITTEN)


@pytest.mark.parametrize("name", [name for name in WRITTEN if b'"float64"' not in WRITTEN[name]])
def test_bytes_are_the_stored_ones(name: str) -> None:
    assert WRITTEN[name] == STORED[name]


@pytest.mark.parametrize("name", WRITTEN)
def test_contents_are_the_stored_ones(name: str) -> None:
    assert unpacked(json.loads(WRITTEN[name])) == unpacked(json.loads(STORED[name]))


@pytest.mark.parametrize("name", STORED)
def test_stored_bytes_are_valid_under_the_schema(name: str) -> None:
    validator(name).validate(json.loads(STORED[name]))


@pytest.mark.parametrize("name", STORED)
def test_the_schema_misses_a_field_that_is_gone(name: str) -> None:
    document = json.loads(STORED[name])
    del document["type" if "type" in document else "version"]
    assert not validator(name).is_valid(document)


@pytest.mark.parametrize(("name", "event"), EVENTS.items(), ids=EVENTS)
def test_stored_events_are_read(name: str, event: Event) -> None:
    assert events.decode(STORED[name], events.HEADERS, limit=10_000) == event


@pytest.mark.parametrize(("name", "row"), ROWS.items(), ids=ROWS)
def test_stored_rows_are_read(name: str, row: Row) -> None:
    assert journal.decode(STORED[name]) == row


def test_stored_outcomes_are_read() -> None:
    parts = [STORED[name] for name in STORED if name.startswith("outcomes/part-")]
    assert outcomes.decode(parts) == examples.OUTCOMES
    assert outcomes.decode([STORED["outcomes/stratified.json"]]) == STRATIFIED_RECORD


def test_a_stored_result_is_read() -> None:
    completed = results.decode(STORED["results/completed.json"])
    assert completed.findings() == examples.FINDINGS
    assert results.decode(STORED["results/cancelled.json"]).findings() == examples.CANCELLED
    assert results.decode(STORED["results/doubted.json"]).findings() == examples.DOUBTED


def test_the_digest_of_the_statistics_is_the_stored_one() -> None:
    ended = json.loads(STORED["journal/ended.json"])
    statistics = results.statistics_of(STORED["results/completed.json"])
    assert results.statistics_digest(statistics) == ended["statistics_digest"]


if __name__ == "__main__":
    for file_name, content in WRITTEN.items():
        (HERE / file_name).write_bytes(content + b"\n")
