"""What a daemon will make of an event, so that whoever submits one hears of mistakes at once."""

from collections.abc import Mapping

from monitor.app.catalog import endpoint_settings, load_suites, require_suite
from monitor.domain.events import Event, VersionWithdrawn
from monitor.domain.identifiers import EvaluationId, SuiteName, evaluation_id
from monitor.settings import Settings


def expected_evaluations(settings: Settings, event: Event) -> Mapping[SuiteName, EvaluationId]:
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
    source, event_id = event.identity.source, event.identity.id
    return {
        suite: evaluation_id(source=source, event_id=event_id, suite=suite)
        for suite in event.suites or known
    }
