"""What a daemon will make of an event, so that whoever submits one hears of mistakes at once."""

from collections.abc import Mapping
from dataclasses import dataclass

from monitor.app.catalog import endpoint_settings, load_suites, require_suite
from monitor.domain.events import EvaluationWanted, Event, VersionWithdrawn
from monitor.domain.identifiers import EvaluationId, SuiteName, evaluation_id
from monitor.domain.suites import Suite
from monitor.engine import planning
from monitor.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """An evaluation to come; draws: n that the policy and the event come to; population: N."""

    identity: EvaluationId
    draws: int
    population: int


def expected_evaluations(settings: Settings, event: Event) -> Mapping[SuiteName, Expected]:
    """Evaluations that a daemon with these settings makes of an event.

    Raises:
        InvalidEvent: it would put the event aside.
        SuiteError: a configured suite cannot be used.
    """
    if isinstance(event, VersionWithdrawn):
        return {}
    endpoint_settings(event.endpoint, settings)
    known = load_suites(settings)
    for name in event.suites:
        require_suite(name, known)
    return {name: _expected(settings, event, known[name].suite) for name in event.suites or known}


def _expected(settings: Settings, event: EvaluationWanted, suite: Suite) -> Expected:
    policy = planning.apply_wishes(settings.policy_for(event.variant, suite.name), event)
    source, event_id = event.identity.source, event.identity.id
    return Expected(
        identity=evaluation_id(source=source, event_id=event_id, suite=suite.name),
        draws=policy.budget.draws(len(suite.items)),
        population=len(suite.items),
    )
