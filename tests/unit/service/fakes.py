"""The service's ports in memory, on virtual time; a process over them can be made to die."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from monitor.domain.answers import ChatRequest, Completed, Exchange, Grade, Ungraded
from monitor.domain.errors import DeadLetterReason, InvalidEvent, OwnershipLost, StateError
from monitor.domain.events import EndpointRef
from monitor.domain.facts import Fact
from monitor.domain.identifiers import Digest, EvaluationId, ItemId, SuiteName, VariantName
from monitor.domain.kept_answers import KeptAnswer
from monitor.domain.policies import Policy
from monitor.domain.suites import GraderSpec, Item, Suite
from monitor.engine.planning import History, Surrogate
from monitor.grading import graders
from monitor.ports import Assigned, Commit, Delivery, Entry, Message, Published, Record, Revoked
from monitor.service.catalog import Judge, Target
from monitor.settings import TopicSettings
from tests.unit.engine.examples import HISTORY
from tests.unit.service.hand_clock import HandClock

T = TypeVar("T")
F = TypeVar("F", bound=Fact)

TOPICS = TopicSettings()


@dataclass
class Store:
    """What outlives a process: the request topic, journals, published messages, offsets."""

    records: dict[int, list[Record]] = field(default_factory=lambda: {0: []})
    journals: dict[int, dict[EvaluationId, dict[int, Entry]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(dict))
    )
    messages: list[Message] = field(default_factory=list)
    settled: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    commits: list[Commit] = field(default_factory=list)

    def apply(self, commit: Commit) -> None:
        self.commits.append(commit)
        for entry in commit.entries:
            rows = self.journals[commit.partition][entry.evaluation_id]
            if entry.value is None:
                rows.pop(entry.sequence)
            else:
                rows[entry.sequence] = entry
        self.messages += commit.messages
        if commit.settled is not None:
            self.settled[commit.partition] = commit.settled

    def published(self, topic: str) -> list[Message]:
        return [message for message in self.messages if message.topic == topic]


class MemoryBus:
    """Implements `ports.Bus` for one process.

    before: is awaited with each commit before it is applied; it may raise.
    crash_after: from then on nothing is stored any more, and no commit returns.
    """

    def __init__(self, store: Store, *, crash_after: int | None = None) -> None:
        self.before: Callable[[Commit], Awaitable[None]] | None = None
        self.closed = False
        self._store = store
        self._left = crash_after
        self._events: list[Delivery] = []
        self._next: dict[int, int] = {}
        self._changed = asyncio.Event()

    async def receive(self) -> Delivery:
        while (delivery := self._take()) is None:
            self._changed.clear()
            await self._changed.wait()
        return delivery

    def _take(self) -> Delivery | None:
        if self._events:
            return self._events.pop(0)
        for partition, records in self._store.records.items():
            if partition not in self._next:
                self._next[partition] = self._store.settled[partition]
                return self._assigned(partition)
            if self._next[partition] < len(records):
                self._next[partition] += 1
                return records[self._next[partition] - 1]
        return None

    def _assigned(self, partition: int) -> Assigned:
        journals = {
            identity: [rows[sequence] for sequence in sorted(rows)]
            for identity, rows in self._store.journals[partition].items()
        }
        return Assigned(partition=partition, journals=journals)

    def revoke(self, partition: int) -> None:
        self._events.append(Revoked(partition=partition))
        self._changed.set()

    def wake(self) -> None:
        self._changed.set()

    async def confirm(self, partition: int) -> None:
        """Nobody else is there."""

    async def commit(self, commit: Commit) -> None:
        if self.before is not None:
            await self.before(commit)
        if self._left == 0:
            await asyncio.Event().wait()
        self._store.apply(commit)
        if self._left is not None:
            self._left -= 1
            if self._left == 0:
                await asyncio.Event().wait()

    async def close(self) -> None:
        self.closed = True


async def lose_ownership(commit: Commit) -> None:
    raise OwnershipLost(f"partition {commit.partition} has another owner")


@dataclass
class MemoryArchive:
    """Implements `ports.Archive` over what the store has published."""

    store: Store

    async def find(self, evaluation_id: EvaluationId) -> Published | None:
        raise AssertionError(evaluation_id)

    async def recent(
        self, variant: VariantName, suite: SuiteName, *, limit: int
    ) -> Sequence[Published]:
        found = [
            Published(
                evaluation_id=EvaluationId(dict(message.headers)["evaluation_id"].decode()),
                result=message.value,
                outcomes=(),
            )
            for message in self.store.published(TOPICS.evaluations)
            if message.key == f"{variant}/{suite}".encode()
        ]
        return found[::-1][:limit]

    async def newest(self) -> Sequence[Published]:
        raise AssertionError("not of this test")


@dataclass
class VectorEndpoint:
    """Implements `ports.Endpoint`: right or wrong by a vector, each item with its own latency.

    failing: what comes back instead, by what is asked.
    asked: the questions that went out, in order.
    seconds: an answer takes so long, and less than `spread` more; answers that take no time come
        together.
    """

    clock: HandClock
    known: Sequence[float]
    served: tuple[str, ...] | Exchange = ("tiny",)
    failing: dict[str, Exchange] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    seconds: float = 1.0
    spread: int = 5

    async def ask(self, request: ChatRequest, *, seconds: float) -> Exchange:
        text = str(request.messages[-1].content)
        self.asked.append(text)
        if takes := self.seconds + int(text) * 7 % self.spread:
            await self.clock.sleep(min(seconds, takes))
        if text in self.failing:
            return self.failing[text]
        said = text if self.known[int(text)] else "no idea"
        return Completed(content=said, finish_reason="stop", prompt_tokens=10, completion_tokens=2)

    async def models(self, *, seconds: float) -> tuple[str, ...] | Exchange:  # noqa: ARG002 - of the port
        return self.served


class Inline:
    """Implements `ports.Compute` on the spot."""

    async def run(self, work: Callable[[], T]) -> T:
        return work()


@dataclass
class InlineGraders:
    """Implements `ports.GraderRunner` on the spot.

    defects: how often a kind of grader still fails on a defect of the program.
    failures: how often grading still fails, whatever the grader.
    """

    defects: dict[str, int] = field(default_factory=dict)
    failures: int = 0

    async def grade(self, spec: GraderSpec, item: Item, text: str) -> Grade:
        if self.defects.get(spec.kind, 0):
            self.defects[spec.kind] -= 1
            raise ZeroDivisionError(f"while grading {item.id}")
        if self.failures:
            self.failures -= 1
            return Grade(ungraded=Ungraded.FAILED)
        return graders.grade(spec, item, text)


@dataclass
class MemoryPaidAnswers:
    """Implements `ports.PaidAnswers`; outlives the processes that use it.

    full: nothing more can be kept.
    """

    kept: dict[Digest, bytes] = field(default_factory=dict)
    full: bool = False
    buying: dict[Digest, asyncio.Lock] = field(default_factory=dict)

    def alone(self, key: Digest) -> asyncio.Lock:
        return self.buying.setdefault(key, asyncio.Lock())

    async def find(self, key: Digest) -> bytes | None:
        return self.kept.get(key)

    async def keep(self, key: Digest, value: bytes) -> None:
        if self.full:
            raise OSError("the disk is full")
        self.kept.setdefault(key, value)


@dataclass
class MemoryKeptAnswers:
    """Implements `ports.KeptAnswers`.

    failing: what goes wrong, whatever is done.
    """

    kept: dict[tuple[EvaluationId, ItemId], KeptAnswer] = field(default_factory=dict)
    failing: StateError | None = None

    async def keep(self, answer: KeptAnswer) -> None:
        self._fail()
        self.kept[answer.evaluation_id, answer.item] = answer

    async def find(self, evaluation_id: EvaluationId) -> Sequence[KeptAnswer]:
        found = [each for each in self.kept.values() if each.evaluation_id == evaluation_id]
        return sorted(found, key=lambda each: (each.at, each.item))

    async def purge(self, before: datetime) -> int:
        self._fail()
        old = [key for key, each in self.kept.items() if each.at < before]
        for key in old:
            del self.kept[key]
        return len(old)

    def _fail(self) -> None:
        if self.failing is not None:
            raise self.failing


async def unredacted(texts: Sequence[str]) -> Sequence[str]:
    """There is nothing to take out."""
    return texts


@dataclass
class Facts:
    """Implements `ports.Telemetry`."""

    told: list[Fact] = field(default_factory=list)

    def record(self, fact: Fact) -> None:
        self.told.append(fact)

    def of(self, kind: type[F]) -> list[F]:
        return [fact for fact in self.told if isinstance(fact, kind)]


@dataclass
class Shelf:
    """Implements `service.catalog.Catalog`."""

    suites: dict[SuiteName, Suite]
    endpoint: Target
    wishes: Policy
    known: History | None = HISTORY
    panel: tuple[Judge, ...] = ()
    told: Surrogate | None = None
    asked_first: tuple[str, ...] = ()

    def suite(self, name: SuiteName) -> Suite:
        if name not in self.suites:
            raise InvalidEvent(DeadLetterReason.UNKNOWN_SUITE, f"there is no suite {name!r}")
        return self.suites[name]

    def suites_for(self, variant: VariantName) -> tuple[SuiteName, ...]:  # noqa: ARG002 - of the port
        return tuple(self.suites)

    def policy(self, variant: VariantName, suite: SuiteName) -> Policy:  # noqa: ARG002 - of the port
        return self.wishes

    def target(self, ref: EndpointRef) -> Target:
        if ref != "prod":
            raise InvalidEvent(DeadLetterReason.UNKNOWN_ENDPOINT, f"there is no endpoint {ref!r}")
        return self.endpoint

    def judges(self, suite: SuiteName) -> tuple[Judge, ...]:  # noqa: ARG002 - of the port
        return self.panel

    async def history(self, suite: SuiteName, model: str) -> History | None:  # noqa: ARG002 - of the port
        return self.known

    def surrogates(self, suite: SuiteName) -> tuple[str, ...]:  # noqa: ARG002 - of the port
        return self.asked_first

    async def signal(self, suite: SuiteName) -> Surrogate | None:  # noqa: ARG002 - of the port
        return self.told
