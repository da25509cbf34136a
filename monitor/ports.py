"""What the daemon needs of the outside world, as small interfaces.

Every port has a contract suite in `tests/contract` that each implementation passes.
No client library's type or error crosses these lines.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeVar

from monitor.domain.answers import ChatRequest, Exchange, Grade
from monitor.domain.facts import Fact
from monitor.domain.identifiers import Digest, EvaluationId, SuiteName, VariantName
from monitor.domain.kept_answers import KeptAnswer
from monitor.domain.suites import GraderSpec, Item

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One record of the request topic, at its position."""

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes
    headers: tuple[tuple[str, bytes], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A record to be published."""

    topic: str
    key: bytes | None
    value: bytes
    headers: tuple[tuple[str, bytes], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One journal row of one evaluation; `value` None deletes it (a tombstone)."""

    evaluation_id: EvaluationId
    sequence: int
    value: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """What becomes visible together or not at all.

    settled: offset from which reading starts after a restart; None leaves it.
    """

    partition: int
    entries: tuple[Entry, ...] = ()
    messages: tuple[Message, ...] = ()
    settled: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Assigned:
    """A partition is ours; `journals` holds every stored row by evaluation, in sequence."""

    partition: int
    journals: Mapping[EvaluationId, Sequence[Entry]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Revoked:
    """A partition is ours no longer: stop its evaluations without writing anything more."""

    partition: int


Delivery = Assigned | Revoked | Record


class Bus(Protocol):
    """The request topic, the journal beside it, and the topics that are published to.

    `receive` delivers `Assigned` before the first record of a partition, and within a
    partition records in offset order, starting at the settled offset.
    """

    async def receive(self) -> Delivery:
        """Wait for the next delivery; safe to cancel, nothing is lost by it."""
        ...

    async def confirm(self, partition: int) -> None:
        """Wait until it is certain that a partition is ours: asked before each paid question.

        Raises:
            OwnershipLost: it is ours no longer.
        """
        ...

    async def commit(self, commit: Commit) -> None:
        """Make everything in `commit` durable and visible at once.

        Raises:
            OwnershipLost: another process owns the partition; nothing was written.
        """
        ...

    async def close(self) -> None:
        """Give back what is held; what was not committed is delivered again."""
        ...


class Submission(Protocol):
    """The producing end of the request topic, for whoever announces versions."""

    async def submit(self, message: Message) -> tuple[int, int]:
        """Append a record; returns its partition and offset once it is durable."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """A published result: the event as it went out, and its outcomes record."""

    evaluation_id: EvaluationId
    result: bytes
    outcomes: tuple[bytes, ...]


class Archive(Protocol):
    """Published results, for looking back.

    Messages to the results and outcomes topics are found by their headers `evaluation_id`,
    `variant` and `suite`; outcomes are put in order by `part`, a decimal number.
    """

    async def find(self, evaluation_id: EvaluationId) -> Published | None:
        """The result of one evaluation, None where there is none."""
        ...

    async def recent(
        self, variant: VariantName, suite: SuiteName, *, limit: int
    ) -> Sequence[Published]:
        """The newest results of a variant on a suite, newest first, `limit` at most."""
        ...

    async def newest(self) -> Sequence[Published]:
        """The newest result of every variant on every suite, oldest first."""
        ...


class Endpoint(Protocol):
    """A deployed model behind an OpenAI-compatible API; one call is one attempt."""

    async def ask(self, request: ChatRequest, *, seconds: float) -> Exchange:
        """Ask once; whatever goes wrong, or takes longer than `seconds`, is a value.

        Pictures in files are read now; one that has changed since the suite was read is not sent.
        """
        ...

    async def models(self, *, seconds: float) -> tuple[str, ...] | Exchange:
        """Names the endpoint says it serves, or what came back instead."""
        ...


class PaidAnswers(Protocol):
    """Answers that were paid for, by the digest of what was asked of whom."""

    async def find(self, key: Digest) -> bytes | None:
        """What was kept under a key, None where nothing was."""
        ...

    async def keep(self, key: Digest, value: bytes) -> None:
        """Keep a value, unless there is one under this key; it is durable when this returns."""
        ...

    def alone(self, key: Digest) -> AbstractAsyncContextManager[None]:
        """A block that one task of this process at a time is in: whoever buys this answer."""
        ...


class Entailment(Protocol):
    """A model of language inference."""

    async def entails(self, pairs: Sequence[tuple[str, str]]) -> Sequence[bool]:
        """Whether in each pair the first text entails the second."""
        ...


class KeptAnswers(Protocol):
    """Texts of answers, kept for a while for people to look at."""

    async def keep(self, answer: KeptAnswer) -> None:
        """Keep an answer, in place of an earlier one to the same item; the oldest make room.

        Raises:
            StateError: it could not be kept.
        """
        ...

    async def find(self, evaluation_id: EvaluationId) -> Sequence[KeptAnswer]:
        """What is kept of an evaluation, oldest first."""
        ...

    async def purge(self, before: datetime) -> int:
        """Delete for good what was kept before that moment; returns how many answers.

        Raises:
            StateError: it could not be deleted.
        """
        ...


class GraderRunner(Protocol):
    """Grades where a grader that hangs can be killed."""

    async def grade(self, spec: GraderSpec, item: Item, text: str) -> Grade:
        """Score a text; a grader that fails or runs over its time limit is a value."""
        ...


class Clock(Protocol):
    """Time, as an argument."""

    def now(self) -> datetime:
        """Wall clock, in UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds that never run backwards."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        ...


class Compute(Protocol):
    """A place for arithmetic that would hold up the event loop."""

    async def run(self, work: Callable[[], T]) -> T:
        """Run `work` there and wait for what it returns or raises."""
        ...


class Telemetry(Protocol):
    """Where facts go: logs and metrics. Never blocks, never raises."""

    def record(self, fact: Fact) -> None:
        """Take note of a fact."""
        ...
