"""The journal of one evaluation: appended to while it runs, read when it is published."""

from collections.abc import Iterable

from monitor.domain.answers import Answer, Usage
from monitor.domain.plans import Answered, Draw, Drawn, Plan, Planned, Resumed, Row, Subject
from monitor.engine import repeats
from monitor.ports import Bus, Commit, Entry
from monitor.wire import journal


class Journal:
    """Rows of one evaluation, each durable before it counts."""

    def __init__(self, bus: Bus, subject: Subject, entries: Iterable[Entry] = ()) -> None:
        """Take up the stored entries, in the order of their sequence.

        Raises:
            StateError: a stored row cannot be read.
        """
        self._bus = bus
        self._subject = subject
        self.rows: list[Row] = [
            journal.decode(entry.value) for entry in entries if entry.value is not None
        ]

    @property
    def partition(self) -> int:
        """Partition of the request, and so of the journal."""
        return self._subject.partition

    async def append(self, row: Row) -> None:
        """Store a row.

        Raises:
            OwnershipLost: somebody else goes on with this evaluation.
        """
        entry = Entry(
            evaluation_id=self._subject.evaluation_id,
            sequence=len(self.rows),
            value=journal.encode(row),
        )
        await self._bus.commit(Commit(partition=self._subject.partition, entries=(entry,)))
        self.rows.append(row)

    @property
    def plan(self) -> Planned | None:
        """The first row, where there is one."""
        first = self.rows[0] if self.rows else None
        return first if isinstance(first, Planned) else None

    @property
    def draws(self) -> tuple[Draw, ...]:
        """Every draw made, in order."""
        return tuple(draw for row in self.rows if isinstance(row, Drawn) for draw in row.draws)

    @property
    def answers(self) -> tuple[Answer, ...]:
        """The answer of every draw that has one, in order."""
        rows = (row for row in self.rows if isinstance(row, Answered))
        asked = {answer.step: answer for row in rows for answer in row.answers}
        return tuple(repeats.settle(self.draws, asked).values())

    @property
    def usage(self) -> Usage:
        """Everything known to have been used."""
        return sum((answer.usage for answer in self.answers), Usage(attempts=0))

    def judge_usage(self, judge: str) -> Usage:
        """Everything known to have been used of one judge."""
        judged = (each for answer in self.answers for each in answer.judged)
        used = (each.usage for each in judged if each.judge == judge)
        return sum(used, Usage(attempts=0))

    @property
    def maybe_repeated(self) -> int:
        """Questions that were in flight when an owner died."""
        return sum(row.pending for row in self.rows if isinstance(row, Resumed))


def is_complete(plan: Plan, answers: tuple[Answer, ...]) -> bool:
    """Whether every draw of the plan has its answer."""
    return len(answers) == plan.draws
