import json
import traceback
from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from monitor.domain.errors import DeadLetterReason, InvalidEvent
from monitor.domain.events import (
    EvaluationWanted,
    Event,
    EventIdentity,
    InlineEndpoint,
    VersionWithdrawn,
)
from monitor.domain.identifiers import (
    CredentialName,
    EndpointName,
    SuiteName,
    VariantName,
    VersionName,
)
from monitor.domain.policies import AtLeast, Budget, EstimateOnly, Method, NotWorse
from monitor.wire import envelopes, events
from tests.unit.wire import examples

LIMIT = 100_000
IDENTITY = EventIdentity(source="/registry", id="42", time=examples.TIMES.started)
VARIANT = VariantName("support-chat")
VERSION = VersionName("2026-11-29.1")
WANTED = EvaluationWanted(
    identity=IDENTITY, variant=VARIANT, version=VERSION, endpoint=EndpointName("blue")
)
WITHDRAWAL = VersionWithdrawn(identity=IDENTITY, variant=VARIANT, version=VERSION)
INLINE = InlineEndpoint(
    base_url="https://models.example:8443/v1",
    model="meta-llama/Llama-3.1-8B-Instruct",
    credential=CredentialName("gateway"),
)
DATA = {"variant": "support-chat", "version": "1", "endpoint": "blue"}

names = st.from_regex(r"\A[A-Za-z0-9][A-Za-z0-9._-]{0,20}\Z")
wanted = st.builds(
    EvaluationWanted,
    identity=st.builds(
        EventIdentity,
        source=st.text(min_size=1, max_size=9),
        id=st.text(min_size=1, max_size=9),
        time=st.none() | examples.moments,
    ),
    variant=names.map(VariantName),
    version=names.map(VersionName),
    endpoint=names.map(EndpointName) | st.just(INLINE),
    previous_version=st.none() | names.map(VersionName),
    suites=st.lists(names.map(SuiteName), unique=True, max_size=3).map(tuple),
    method=st.none() | st.sampled_from(Method),
    budget=st.none()
    | st.builds(Budget, count=st.integers(1, 10**7))
    | st.builds(Budget, share=st.floats(1e-6, 1.0)),
    objective=st.none()
    | st.builds(NotWorse, tolerance=st.floats(0, 1, exclude_min=True, exclude_max=True))
    | st.builds(AtLeast, threshold=st.floats(0, 1))
    | st.just(EstimateOnly()),
    labels=st.dictionaries(st.just("team"), st.text(max_size=9)),
)


def structured(data: object, **attributes: object) -> bytes:
    envelope = {"specversion": "1.0", "id": "42", "source": "/registry", "type": events.DEPLOYED}
    return json.dumps({**envelope, "data": data, **attributes}).encode()


def refusal(value: bytes, reason: DeadLetterReason) -> str:
    with pytest.raises(InvalidEvent) as caught:
        events.decode(value, limit=LIMIT)
    assert caught.value.reason == reason
    return caught.value.detail


@given(wanted | st.just(WITHDRAWAL))
def test_every_event_comes_back(event: Event) -> None:
    value = events.encode(event)
    assert events.decode(value, events.HEADERS, limit=len(value)) == event


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        (WANTED, events.DEPLOYED),
        (replace(WANTED, is_deployment=False), events.REQUESTED),
        (WITHDRAWAL, events.WITHDRAWN),
    ],
)
def test_the_type_says_what_happened(event: Event, kind: str) -> None:
    assert json.loads(events.encode(event))["type"] == kind


def test_binary_mode_is_read() -> None:
    headers = [("ce_specversion", b"1.0"), ("ce_id", b"42"), ("ce_source", b"/registry")]
    headers += [("ce_type", events.WITHDRAWN.encode()), ("content-type", b"application/json")]
    value = json.dumps({"variant": VARIANT, "version": VERSION}).encode()
    untimed = replace(WITHDRAWAL, identity=replace(IDENTITY, time=None))
    assert events.decode(value, headers, limit=LIMIT) == untimed


def test_fields_that_are_not_known_are_ignored() -> None:
    plain, extended = structured(DATA), structured(DATA | {"region": "eu"}, traceparent="00-1")
    assert events.decode(extended, limit=LIMIT) == events.decode(plain, limit=LIMIT)


@pytest.mark.parametrize(
    ("written", "budget"),
    [(200, Budget(count=200)), ("10%", Budget(share=0.1)), ("2.5%", Budget(share=0.025))],
)
def test_a_budget_is_a_count_or_a_share(written: object, budget: Budget) -> None:
    event = events.decode(structured(DATA | {"budget": written}), limit=LIMIT)
    assert isinstance(event, EvaluationWanted)
    assert event.budget == budget


@pytest.mark.parametrize(
    ("changes", "detail"),
    [
        ({"variant": "../etc"}, "data: variant: String should match"),
        ({"variant": "x" * 101}, "data: variant: String should have at most 100"),
        ({"version": 7}, "data: version: Input should be a valid string"),
        ({"endpoint": None}, "data: endpoint: "),
        ({"endpoint": {"model": "m"}}, "data: endpoint.base_url: Field required"),
        ({"suites": "arithmetic"}, "data: suites: "),
        ({"suites": ["a", "a"]}, "data: suites: must not name a suite twice"),
        ({"suites": ["a", "b c"]}, "data: suites.1: String should match"),
        (
            {"method": "magic"},
            "data: method: Input should be 'auto', 'faq', 'faq_published', 'neyman' or 'simple'",
        ),
        ({"budget": 0}, "data: budget: Input should be greater than or equal to 1"),
        ({"budget": True}, "data: budget: Input should be a valid integer"),
        ({"budget": 0.1}, "data: budget: Input should be a valid integer"),
        ({"budget": "0%"}, "data: budget: must be above 0% and at most 100%"),
        ({"budget": "101%"}, "data: budget: must be above 0% and at most 100%"),
        ({"budget": "ten"}, "data: budget: String should match"),
        ({"objective": {"kind": "best"}}, "data: objective: "),
        ({"objective": {"kind": "not_worse"}}, "data: objective.tolerance: Field required"),
        ({"objective": {"kind": "not_worse", "tolerance": 0}}, "data: objective.tolerance: "),
        ({"objective": {"kind": "at_least", "threshold": 2}}, "data: objective.threshold: "),
        ({"labels": {"team": 1}}, "data: labels.team: Input should be a valid string"),
        ({"labels": {str(n): "" for n in range(33)}}, "data: labels"),
    ],
)
def test_invalid_data_is_refused_by_field(changes: dict[str, object], detail: str) -> None:
    assert refusal(structured(DATA | changes), DeadLetterReason.INVALID_DATA).startswith(detail)


@pytest.mark.parametrize("data", [None, [], "text", {}])
def test_data_must_be_an_object_with_its_fields(data: object) -> None:
    assert refusal(structured(data), DeadLetterReason.INVALID_DATA).startswith("data: ")


@pytest.mark.parametrize(
    "url",
    [
        "ftp://models.example/v1",
        "https:///v1",
        "models.example/v1",
        "https://models.example:99999/v1",
        "https://[::1/v1",
        "https://models.example/v 1",
        "https://user:hunter2@models.example/v1",
        "https://models.example/v1?key=hunter2",
    ],
)
def test_an_odd_url_is_refused_and_not_repeated(url: str) -> None:
    data = DATA | {"endpoint": {"base_url": url, "model": "m"}}
    detail = refusal(structured(data), DeadLetterReason.INVALID_DATA)
    assert detail.startswith("data: endpoint.base_url: must ")
    assert "hunter2" not in detail
    assert "models.example" not in detail


@pytest.mark.parametrize("time", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00"])
def test_a_time_at_the_edge_of_the_calendar_is_refused(time: str) -> None:
    detail = refusal(structured(DATA, time=time), DeadLetterReason.NOT_CLOUDEVENT)
    assert detail == "time: must lie in the years 1 to 9999 of UTC"


def test_a_defect_while_reading_is_the_event_s(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("hunter2")

    monkeypatch.setattr(envelopes, "read", fail)
    detail = refusal(structured(DATA), DeadLetterReason.INVALID_DATA)
    assert detail == "reading it fails on a defect: ZeroDivisionError"


def test_a_secret_in_the_place_of_a_credential_is_not_repeated() -> None:
    endpoint = {"base_url": "http://models.example", "model": "m", "credential": "Bearer hunter2"}
    with pytest.raises(InvalidEvent) as caught:
        events.decode(structured(DATA | {"endpoint": endpoint}), limit=LIMIT)
    assert "hunter2" not in "".join(traceback.format_exception(caught.value))
    assert caught.value.detail.startswith("data: endpoint.credential: ")


def test_a_newer_type_is_told_apart_from_an_unknown_one() -> None:
    newer = structured(DATA, type="model.version.deployed.v2")
    assert "run a newer one" in refusal(newer, DeadLetterReason.NEWER_SCHEMA)
    unknown = structured(DATA, type="model.version.renamed.v1")
    assert events.DEPLOYED in refusal(unknown, DeadLetterReason.UNKNOWN_TYPE)


def test_what_is_too_large_is_not_looked_at() -> None:
    with pytest.raises(InvalidEvent, match="7 bytes, at most 6 are read") as caught:
        events.decode(b"garbage", limit=6)
    assert caught.value.reason == DeadLetterReason.TOO_LARGE


def test_an_event_that_would_be_refused_is_not_written() -> None:
    with pytest.raises(InvalidEvent, match="variant: String should match"):
        events.encode(replace(WANTED, variant=VariantName("two words")))
