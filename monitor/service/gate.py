"""Before the first draw: is the endpoint up, and does it serve the model that is expected.

A deployment event often arrives before the deployment answers; waiting here costs nothing, while
asking would turn a rollout into failures.
"""

from monitor.domain.answers import Broken, Exchange, Fault, Refused
from monitor.domain.facts import EndpointAwaited
from monitor.domain.identifiers import EvaluationId
from monitor.engine.statuses import EndpointFault
from monitor.ports import Clock, Telemetry
from monitor.service.catalog import Target

FIRST_WAIT = 0.5
LONGEST_WAIT = 15.0
PROBE_SECONDS = 10.0
TEXT_SHOWN = 200  # characters of a name or message: an endpoint may say anything at any length
TURNED_AWAY = {401: Fault.UNAUTHORIZED, 403: Fault.FORBIDDEN}
# Servers without a list of models answer in one of these ways; the first question will tell.
NO_LIST = frozenset({400, 404, 405, 422, 501})


async def wait_for_endpoint(
    target: Target, *, evaluation_id: EvaluationId, clock: Clock, telemetry: Telemetry
) -> EndpointFault | None:
    """Wait until the endpoint answers and, where it says so, names the expected model.

    Returns:
        None when it does; the fault when its time ran out or it turns us away.
    """
    started = clock.monotonic()
    wait = FIRST_WAIT
    while True:
        found = obstacle(target.model, await target.endpoint.models(seconds=PROBE_SECONDS))
        waited = clock.monotonic() - started
        if found is None or found.fault in TURNED_AWAY.values():
            return found
        if waited + wait > target.gate_seconds:
            detail = f"{found.detail}, after waiting {target.gate_seconds:.0f} s"
            return EndpointFault(fault=found.fault, detail=detail)
        telemetry.record(
            EndpointAwaited(evaluation_id=evaluation_id, detail=found.detail, waited=waited)
        )
        await clock.sleep(wait)
        wait = min(2 * wait, LONGEST_WAIT)


def obstacle(model: str, reply: tuple[str, ...] | Exchange) -> EndpointFault | None:
    """What keeps an endpoint from being asked for a model, by its reply for its list of models."""
    match reply:
        case Refused(http_status=status) if status in NO_LIST:
            return None
        case Refused(http_status=status):
            fault = TURNED_AWAY.get(status, Fault.UNREACHABLE)
            return EndpointFault(fault=fault, detail=_http(reply))
        case Broken():
            detail = f"no answer ({reply.cause}): {reply.detail[:TEXT_SHOWN]}"
            return EndpointFault(fault=Fault.UNREACHABLE, detail=detail)
        case tuple() if reply and model not in reply:
            served = ", ".join(name[:TEXT_SHOWN] for name in reply[:5])
            detail = f"serves {served}, not {model[:TEXT_SHOWN]}"
            return EndpointFault(fault=Fault.UNKNOWN_MODEL, detail=detail)
        case _:
            return None


def _http(refused: Refused) -> str:
    message = refused.message[:TEXT_SHOWN]
    return f"HTTP {refused.http_status} for its list of models: {message}".rstrip(": ")
