from dataclasses import replace
from datetime import UTC, datetime

import pytest

from monitor.cli.events import SOURCE, Wanted, event_from
from monitor.domain.errors import UsageError
from monitor.domain.events import EvaluationWanted, Event, InlineEndpoint, VersionWithdrawn
from monitor.domain.identifiers import CredentialName
from monitor.domain.policies import AtLeast, Budget, Method, NotWorse

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LEAST = Wanted(variant="chat", version="2", endpoint="prod")


def event(**options: object) -> Event:
    return event_from(replace(LEAST, **options), now=NOW)  # type: ignore[arg-type]


def test_the_least_that_must_be_said() -> None:
    made = event(event_id="one")
    assert isinstance(made, EvaluationWanted)
    assert (made.identity.source, made.identity.id, made.identity.time) == (SOURCE, "one", NOW)
    assert (made.endpoint, made.suites, made.previous_version) == ("prod", (), None)
    assert (made.method, made.budget, made.objective) == (None, None, None)


def test_every_event_has_an_id_of_its_own() -> None:
    assert event().identity.id != event().identity.id


def test_wishes_are_taken_over() -> None:
    made = event(budget="5%", method=Method.FAQ, at_least=0.9, suites=("a", "b"))
    assert isinstance(made, EvaluationWanted)
    assert made.budget == Budget(share=0.05)
    assert (made.method, made.objective, made.suites) == (
        Method.FAQ,
        AtLeast(threshold=0.9),
        ("a", "b"),
    )
    tolerated = event(tolerance=0.1, budget="30")
    assert isinstance(tolerated, EvaluationWanted)
    assert (tolerated.objective, tolerated.budget) == (NotWorse(tolerance=0.1), Budget(count=30))


def test_an_endpoint_can_be_written_out() -> None:
    made = event(endpoint="", base_url="http://vllm/v1", model="m", credential="key")
    key = CredentialName("key")
    assert isinstance(made, EvaluationWanted)
    assert made.endpoint == InlineEndpoint(base_url="http://vllm/v1", model="m", credential=key)


def test_a_version_can_be_withdrawn() -> None:
    assert isinstance(event(endpoint="", withdrawn=True), VersionWithdrawn)


CONTRADICTIONS: list[tuple[dict[str, object], str]] = [
    ({"variant": ""}, "--variant and --version are needed, or --file"),
    ({"version": ""}, "--variant and --version are needed, or --file"),
    ({"endpoint": ""}, "--endpoint is needed, or --base-url with --model"),
    ({"endpoint": "", "base_url": "http://vllm/v1"}, "--base-url with --model"),
    ({"base_url": "http://vllm/v1"}, "give either --endpoint, or --base-url"),
    ({"credential": "key"}, "give either --endpoint, or --base-url"),
    ({"tolerance": 0.1, "at_least": 0.5}, "give either --tolerance or --at-least"),
    ({"budget": "0"}, "--budget '0' must be a count such as 200 or a share such as \"10%\""),
    ({"budget": "120%"}, "--budget '120%' must be a count"),
    ({"withdrawn": True}, "--withdrawn goes with --variant, --version and --event-id alone"),
]


@pytest.mark.parametrize(("options", "message"), CONTRADICTIONS)
def test_contradictions_are_named(options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        event(**options)
    assert message in str(caught.value)
