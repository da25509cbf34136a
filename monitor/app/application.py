"""The daemon with all its parts: opened, run until told to stop, closed in reverse order."""

import itertools
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from importlib.metadata import version
from secrets import SystemRandom

from monitor.adapters import status_server
from monitor.adapters.compute_thread import ComputeThread
from monitor.adapters.prometheus_metrics import LastResult, MetricsTelemetry
from monitor.adapters.structured_logs import LogTelemetry
from monitor.adapters.system_clock import SystemClock
from monitor.adapters.telemetries import Telemetries
from monitor.app.buses import OpenBus, open_archive, open_bus
from monitor.app.catalog import ConfiguredCatalog, load_suites
from monitor.app.grading import open_graders, open_paid_answers
from monitor.app.histories import Histories
from monitor.app.keeping import open_keeper
from monitor.domain.facts import ServiceStarted
from monitor.domain.identifiers import EvaluationId
from monitor.domain.results import Outcome, SpendLine
from monitor.ports import Archive, Clock, Telemetry
from monitor.service.daemon import Conduct, Daemon
from monitor.service.intake import Limits
from monitor.service.jobs import Surroundings
from monitor.service.tools import Tools
from monitor.settings import HttpSettings, LimitSettings, Settings, resolve_credentials
from monitor.wire import records, results

SOFTWARE = f"model-variant-monitor/{version('model-variant-monitor')}"
SOURCE = "/model-variant-monitor"
RECORD_LIMIT = 900_000
LOOK_BACK = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Application:
    """A daemon that is ready to run, and how to look at it."""

    daemon: Daemon
    archive: Archive
    metrics_port: int | None


@asynccontextmanager
async def open_application(
    settings: Settings,
    *listeners: Telemetry,
    bought: Mapping[EvaluationId, SpendLine] | None = None,
) -> AsyncIterator[Application]:
    """Put the daemon together and take it apart again.

    Args:
        settings: the whole configuration.
        listeners: further takers of facts, such as a progress bar.
        bought: what was paid for surrogates' answers beforehand, by the evaluation it was for.

    Raises:
        ProblemsFound: configuration, suites or history cannot be used.
        StateError: the state directory cannot be used.
    """
    async with AsyncExitStack() as stack:
        clock, compute = SystemClock(), ComputeThread()
        stack.callback(compute.close)
        catalog = await _open_catalog(stack, settings, clock=clock)
        metrics = MetricsTelemetry(settings.metrics, clock=clock)
        telemetry = Telemetries(LogTelemetry(), metrics, *listeners)
        opened = await stack.enter_async_context(open_bus(settings, telemetry))
        archive = await stack.enter_async_context(open_archive(settings, patience=None))
        keeping = open_keeper(settings, clock=clock, telemetry=telemetry)
        tools = Tools(
            bus=opened.bus,
            clock=clock,
            compute=compute,
            graders=await stack.enter_async_context(open_graders(settings)),
            paid_answers=await stack.enter_async_context(open_paid_answers(settings)),
            keeper=await stack.enter_async_context(keeping),
            telemetry=telemetry,
            jitter=SystemRandom().random,
        )
        surroundings = Surroundings(
            tools=tools,
            catalog=catalog,
            archive=archive,
            topics=settings.bus.topics,
            source=SOURCE,
            software=SOFTWARE,
            record_limit=RECORD_LIMIT,
            bought=bought or {},
        )
        daemon = Daemon(surroundings, _conduct(settings.limits))
        page = _Page(metrics=metrics, daemon=daemon, opened=opened)
        port = page.serve(stack, settings.http)
        telemetry.record(ServiceStarted(software=SOFTWARE, suites=len(settings.suites), port=port))
        page.restore(await last_results(archive))
        yield Application(daemon=daemon, archive=archive, metrics_port=port)


class _Page:
    """The status pages: up from the start, ready once the last results are on them."""

    def __init__(self, *, metrics: MetricsTelemetry, daemon: Daemon, opened: OpenBus) -> None:
        self._metrics = metrics
        self._daemon = daemon
        self._opened = opened
        self._restored = False

    def restore(self, results: Sequence[LastResult]) -> None:
        """Show what was published before this process began."""
        self._metrics.restore(results)
        self._restored = True

    def serve(self, stack: AsyncExitStack, http: HttpSettings) -> int | None:
        """Listen, where that is wanted; returns the port."""
        if http.port is None:
            return None
        # Whoever answers /livez runs in the daemon's own loop, so an answer is the proof of life.
        app = status_server.application(
            self._metrics.registry,
            live=dict,
            ready=self._obstacles,
            results=self._metrics.last_results,
        )
        server = status_server.StatusServer(app)
        port = server.start(host=http.host, port=http.port)
        stack.push_async_callback(server.close)
        return port

    def _obstacles(self) -> Mapping[str, str]:
        trouble = self._opened.trouble()
        if trouble is not None:
            return {"bus": trouble}
        if not self._restored:
            return {"results": "the last results are being read"}
        if not self._daemon.assigned_partitions:
            return {"bus": "no partition is assigned yet"}
        return {}


async def _open_catalog(
    stack: AsyncExitStack, settings: Settings, *, clock: Clock
) -> ConfiguredCatalog:
    # A thread of its own: a fit takes long, and draws of other evaluations must not wait for it.
    fitting = ComputeThread()
    stack.callback(fitting.close)
    suites, histories = load_suites(settings), Histories(fitting)
    stack.callback(histories.stop)
    for loaded in suites.values():
        histories.check(loaded.suite, loaded.settings)
    resolved = resolve_credentials(settings)
    catalog = ConfiguredCatalog(
        settings,
        suites,
        secrets={name: secret.get_secret_value() for name, secret in resolved.items()},
        histories=histories,
        clock=clock,
    )
    stack.push_async_callback(catalog.close)
    return catalog


def _conduct(limits: LimitSettings) -> Conduct:
    return Conduct(
        limits=Limits(
            event_bytes=limits.max_event_bytes,
            event_age=timedelta(hours=limits.max_event_age_hours),
        ),
        at_once=limits.evaluations_at_once,
        read_ahead=limits.read_ahead,
        supersede=limits.supersede,
    )


async def last_results(archive: Archive) -> list[LastResult]:
    """What the gauges showed last: of each variant on each suite the newest that found something.

    A CANCELLED evaluation says nothing about its version, so the result before it still counts.
    """
    found: list[LastResult] = []
    for newest in await archive.newest():
        subject = results.decode(newest.result).data.statistics.subject
        recent = await archive.recent(subject.variant, subject.suite, limit=LOOK_BACK)
        decoded = (results.decode(each.result) for each in recent)
        found += map(_last_result, itertools.islice(filter(_says_something, decoded), 1))
    return found


def _says_something(completed: results.CompletedEvaluation) -> bool:
    return completed.data.statistics.verdict.outcome is not Outcome.CANCELLED


def _last_result(completed: results.CompletedEvaluation) -> LastResult:
    subject, plan = completed.data.statistics.subject, completed.data.statistics.plan
    objective = plan.objective if plan else None
    return LastResult(
        variant=subject.variant,
        suite=subject.suite,
        version=subject.version,
        findings=completed.findings(),
        draws=plan.draws if plan else None,
        tolerance=objective.tolerance if isinstance(objective, records.NotWorse) else None,
        at=completed.data.times.ended,
        seconds=completed.data.times.seconds,
        evaluation_id=subject.evaluation_id,
    )
