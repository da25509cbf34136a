"""What is in the state of the embedded bus: results, dead letters, how far an evaluation is."""

from collections import deque
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass

from monitor.adapters.embedded.archive import SqliteArchive
from monitor.domain.answers import Answer
from monitor.domain.errors import UsageError
from monitor.domain.identifiers import EvaluationId
from monitor.domain.plans import Answered, Draw, Drawn, Plan, Planned
from monitor.engine import repeats
from monitor.ports import Record
from monitor.wire import journal

PREFIXED = "dead-letter-"


async def newest_results(
    archive: SqliteArchive, topic: str, *, variant: str = "", limit: int
) -> Sequence[bytes]:
    """Published results, newest first, `limit` at most; of one variant alone where it is named."""
    newest: deque[bytes] = deque(maxlen=limit)
    async for record in _records(archive, topic):
        if variant in {"", _header(record, "variant")}:
            newest.appendleft(record.value)
    return tuple(newest)


async def whole_id(archive: SqliteArchive, topic: str, beginning: str) -> EvaluationId:
    """The id of the one published evaluation whose id begins so.

    Raises:
        UsageError: there is none, or more than one.
    """
    ids = {_header(record, "evaluation_id") async for record in _records(archive, topic)}
    return only_id(ids, beginning, what="result")


def only_id(ids: Iterable[str], beginning: str, *, what: str) -> EvaluationId:
    """The one of these ids that begins so; `what` is what there is of each evaluation.

    Raises:
        UsageError: there is none, or more than one.
    """
    fitting = sorted(identity for identity in ids if identity.startswith(beginning))
    if beginning in fitting or len(fitting) == 1:
        return EvaluationId(beginning if beginning in fitting else fitting[0])
    if not fitting:
        raise UsageError(f"there is no {what} of an evaluation whose id begins with {beginning!r}")
    raise UsageError(
        f"{len(fitting)} evaluations have ids that begin with {beginning!r}: {fitting[0]}, "
        f"{fitting[1]} ...: give more of it"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    """An event that was put aside.

    number: its offset on the topic of dead letters. partition, offset: where it was read.
    """

    number: int
    partition: str
    offset: str
    reason: str
    detail: str
    value: bytes


async def dead_letters(archive: SqliteArchive, topic: str) -> Sequence[DeadLetter]:
    """Every dead letter, oldest first."""
    return [_dead_letter(record) async for record in _records(archive, topic)]


def _dead_letter(record: Record) -> DeadLetter:
    return DeadLetter(
        number=record.offset,
        partition=_header(record, f"{PREFIXED}partition"),
        offset=_header(record, f"{PREFIXED}offset"),
        reason=_header(record, f"{PREFIXED}reason"),
        detail=_header(record, f"{PREFIXED}detail"),
        value=record.value,
    )


class Onlooker:
    """Watches an evaluation that another process runs, by its journal.

    plan: None until it is made.
    """

    def __init__(self, archive: SqliteArchive, identity: EvaluationId) -> None:
        self.plan: Plan | None = None
        self._draws: list[Draw] = []
        self._asked: dict[int, Answer] = {}
        self._archive = archive
        self._identity = identity
        self._seen = -1

    async def look(self) -> None:
        """Read what has come since."""
        for entry in await self._archive.journal(self._identity, self._seen):
            self._seen = entry.sequence
            match journal.decode(entry.value or b""):
                case Planned(plan=plan):
                    self.plan = plan
                case Drawn(draws=draws):
                    self._draws += draws
                case Answered(answers=answers):
                    self._asked |= {answer.step: answer for answer in answers}
                case _:
                    pass

    @property
    def answered(self) -> int:
        """Draws that have their answer."""
        return len(repeats.settle(self._draws, self._asked))


async def _records(archive: SqliteArchive, topic: str) -> AsyncIterator[Record]:
    after = -1
    while page := await archive.messages(topic, after):
        for record in page:
            yield record
        after = page[-1].offset


def _header(record: Record, name: str) -> str:
    # The last one counts: an event may have brought headers of its own.
    return dict(record.headers).get(name, b"").decode(errors="replace")
