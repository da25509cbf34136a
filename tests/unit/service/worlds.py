"""A world for the service: what outlives a process, and the processes that come and go over it."""

import asyncio
from dataclasses import dataclass, field, replace
from datetime import timedelta

from monitor.domain.events import EvaluationWanted, Event, EventIdentity
from monitor.domain.identifiers import (
    EndpointName,
    EvaluationId,
    SuiteName,
    VariantName,
    VersionName,
    evaluation_id,
)
from monitor.domain.policies import Budget, EstimateOnly, Policy
from monitor.domain.results import Price, SpendLine
from monitor.ports import Record
from monitor.service.asking import Patience
from monitor.service.catalog import Target
from monitor.service.daemon import Conduct, Daemon
from monitor.service.intake import Limits
from monitor.service.jobs import Surroundings
from monitor.service.kept_answers import Keeper
from monitor.service.lanes import Lane
from monitor.service.tools import Tools
from monitor.wire import events, results
from monitor.wire.results import CompletedEvaluation
from tests.unit.engine.examples import SUITE, scores
from tests.unit.service.fakes import (
    TOPICS,
    Facts,
    Inline,
    InlineGraders,
    MemoryArchive,
    MemoryBus,
    MemoryKeptAnswers,
    MemoryPaidAnswers,
    Shelf,
    Store,
    VectorEndpoint,
    unredacted,
)
from tests.unit.service.hand_clock import HandClock

PRICE = Price(input_per_million=1.0, output_per_million=2.0, currency="EUR")
SOURCE = "/registry"
USUAL = Conduct(limits=Limits(event_bytes=10_000, event_age=timedelta(hours=24)))


@dataclass
class World:
    """A store with the processes that come and go over it."""

    store: Store
    clock: HandClock
    endpoint: VectorEndpoint
    graders: InlineGraders
    facts: Facts
    catalog: Shelf
    paid: MemoryPaidAnswers = field(default_factory=MemoryPaidAnswers)
    kept: MemoryKeptAnswers = field(default_factory=MemoryKeptAnswers)
    record_limit: int = 900_000
    bought: dict[EvaluationId, SpendLine] = field(default_factory=dict)

    @property
    def keeper(self) -> Keeper:
        """What any process keeps answers with: all that the policy of the catalog wants."""
        return Keeper(
            self.kept,
            wanted=lambda variant, suite: self.catalog.policy(variant, suite).keep_answers,
            redact=unredacted,
            clock=self.clock,
            telemetry=self.facts,
        )

    def submit(self, event: Event | bytes, partition: int = 0) -> int:
        """Append an event to the request topic; returns its offset."""
        records = self.store.records[partition]
        value = event if isinstance(event, bytes) else events.encode(event)
        records.append(
            Record(
                topic=TOPICS.versions,
                partition=partition,
                offset=len(records),
                key=b"chat",
                value=value,
                headers=() if isinstance(event, bytes) else events.HEADERS,
            )
        )
        return len(records) - 1

    def process(self, conduct: Conduct = USUAL, *, crash_after: int | None = None) -> "Process":
        """A fresh process over the store, not started yet."""
        bus = MemoryBus(self.store, crash_after=crash_after)
        return Process(self, bus, Daemon(self.surroundings(bus), conduct))

    def surroundings(self, bus: MemoryBus) -> Surroundings:
        tools = Tools(
            bus=bus,
            clock=self.clock,
            compute=Inline(),
            graders=self.graders,
            paid_answers=self.paid,
            keeper=self.keeper,
            telemetry=self.facts,
            jitter=lambda: 0.5,
        )
        return Surroundings(
            tools=tools,
            catalog=self.catalog,
            archive=MemoryArchive(self.store),
            topics=TOPICS,
            source="/monitor",
            software="test",
            record_limit=self.record_limit,
            bought=self.bought,
        )

    async def serve(self, conduct: Conduct = USUAL) -> None:
        """Run a process until it has nothing more to do."""
        process = self.process(conduct)
        process.start()
        await process.stop()

    @property
    def published(self) -> list[CompletedEvaluation]:
        return [results.decode(each.value) for each in self.store.published(TOPICS.evaluations)]

    @property
    def statistics(self) -> list[bytes]:
        """The part of each result that must be the same whatever happened."""
        return [
            results.statistics_of(each.value) for each in self.store.published(TOPICS.evaluations)
        ]

    @property
    def verdicts(self) -> list[tuple[str, str]]:
        found = [each.data.statistics.verdict for each in self.published]
        return [(verdict.outcome.value, verdict.reason.value) for verdict in found]


class Process:
    """A daemon between its start and its end."""

    def __init__(self, world: World, bus: MemoryBus, daemon: Daemon) -> None:
        self.bus = bus
        self.daemon = daemon
        self.task: asyncio.Task[None] | None = None
        self._clock = world.clock

    def start(self) -> None:
        self.task = asyncio.create_task(self.daemon.run())

    async def run(self, until: float = 1e9) -> None:
        """Let it work until the clock says so, or until nothing more happens."""
        await self._clock.run(until)

    async def stop(self, drain_seconds: float = 0.0) -> None:
        """Let it work until nothing more happens, then stop it."""
        await self.run()
        await self.drain(drain_seconds)

    async def drain(self, seconds: float) -> None:
        assert self.task is not None
        self.daemon.stop(seconds)
        await self.run()
        assert self.task.done()
        await self.task

    async def kill(self) -> None:
        assert self.task is not None
        self.task.cancel()
        await asyncio.wait([self.task])


def wanted(version: str = "1", *suites: str, **more: object) -> EvaluationWanted:
    """An event that announces a version; its id is the version."""
    usual = EvaluationWanted(
        identity=EventIdentity(source=SOURCE, id=version),
        variant=VariantName("chat"),
        version=VersionName(version),
        endpoint=EndpointName("prod"),
        suites=tuple(map(SuiteName, suites)),
    )
    return replace(usual, **more)  # type: ignore[arg-type]


def identity_of(version: str, name: str = "sums") -> EvaluationId:
    return evaluation_id(source=SOURCE, event_id=version, suite=SuiteName(name))


def world(*names: str, policy: Policy | None = None, turns: int = 4, **target: object) -> World:
    """A world with suites of these names, one if none is given, and one endpoint."""
    clock = HandClock()
    endpoint = VectorEndpoint(clock, scores())
    usual = Target(
        model="tiny",
        base_url="http://tiny/v1",
        endpoint=endpoint,
        lane=Lane(concurrency=turns, clock=clock),
        concurrency=4,
        patience=Patience(),
        gate_seconds=60.0,
        price=PRICE,
    )
    return World(
        store=Store(),
        clock=clock,
        endpoint=endpoint,
        graders=InlineGraders(),
        facts=Facts(),
        catalog=Shelf(
            suites={
                SuiteName(name): replace(SUITE, name=SuiteName(name)) for name in names or ("sums",)
            },
            endpoint=replace(usual, **target),  # type: ignore[arg-type]
            wishes=policy or Policy(objective=EstimateOnly(), budget=Budget(count=20)),
        ),
    )
