from dataclasses import replace
from pathlib import Path

import pytest

from monitor.app.submissions import Expected, expected_evaluations
from monitor.domain.errors import DeadLetterReason, InvalidEvent
from monitor.domain.events import EvaluationWanted, VersionWithdrawn
from monitor.domain.identifiers import EndpointName, SuiteName, evaluation_id
from monitor.domain.policies import Budget
from monitor.settings import Settings
from tests.unit.app import installations
from tests.unit.app.installations import event


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return installations.configured(installations.write_pool(tmp_path))


def test_an_event_without_suites_is_for_every_one(settings: Settings) -> None:
    suite = SuiteName("arithmetic")
    identity = evaluation_id(source="/test", event_id="one", suite=suite)
    expected = Expected(identity=identity, draws=60, population=60)
    assert expected_evaluations(settings, event("good", "one")) == {suite: expected}
    everything = replace(event("good", "one"), suites=())
    assert expected_evaluations(settings, everything) == {suite: expected}


@pytest.mark.parametrize(
    ("budget", "draws"),
    [(Budget(count=7), 7), (Budget(share=0.1), 20), (Budget(share=0.5), 30), (None, 20)],
)
def test_the_number_of_items_is_that_of_the_plan(
    budget: Budget | None, draws: int, tmp_path: Path
) -> None:
    settings = installations.configured(
        installations.write_pool(tmp_path), policies=[{"minimum": 20}]
    )
    wanted = replace(event("good"), budget=budget)
    (expected,) = expected_evaluations(settings, wanted).values()
    assert (expected.draws, expected.population) == (draws, 60)


def test_a_withdrawal_is_evaluated_nowhere(settings: Settings) -> None:
    wanted = event("good")
    gone = VersionWithdrawn(
        identity=wanted.identity, variant=wanted.variant, version=wanted.version
    )
    assert expected_evaluations(settings, gone) == {}


REFUSED = [
    (replace(event("good"), suites=(SuiteName("x"),)), DeadLetterReason.UNKNOWN_SUITE),
    (replace(event("good"), endpoint=EndpointName("x")), DeadLetterReason.UNKNOWN_ENDPOINT),
]


@pytest.mark.parametrize(("wanted", "reason"), REFUSED)
def test_what_the_daemon_would_put_aside_is_refused(
    wanted: EvaluationWanted, reason: DeadLetterReason, settings: Settings
) -> None:
    with pytest.raises(InvalidEvent) as caught:
        expected_evaluations(settings, wanted)
    assert caught.value.reason is reason
