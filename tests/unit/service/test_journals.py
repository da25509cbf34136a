from dataclasses import dataclass, field, replace

import pytest

from monitor.domain.answers import Answer, Status, Usage
from monitor.domain.errors import OwnershipLost, StateCorrupt
from monitor.domain.plans import Answered, Drawn, Planned, Resumed, Row
from monitor.ports import Commit, Delivery, Entry
from monitor.service import journals
from monitor.service.journals import Journal
from monitor.wire import journal as wire
from tests.unit.wire.examples import ANSWERS, DRAWS, PLAN, SUBJECT, TIMES

PLANNED = Planned(plan=PLAN, at=TIMES.started)
ROWS: list[Row] = [
    PLANNED,
    Drawn(draws=DRAWS[:4]),
    Answered(answers=ANSWERS[2:3]),
    Drawn(draws=DRAWS[4:]),
    Resumed(pending=3),
    Answered(answers=(ANSWERS[0], ANSWERS[4])),
    Resumed(pending=2),
]


@dataclass
class Commits:
    """A bus that keeps what is committed, or has been lost to another owner."""

    commits: list[Commit] = field(default_factory=list)
    lost: bool = False

    async def receive(self) -> Delivery:
        raise AssertionError("a journal receives nothing")

    async def confirm(self, partition: int) -> None:
        raise AssertionError(partition)

    async def commit(self, commit: Commit) -> None:
        if self.lost:
            raise OwnershipLost("partition 0")
        self.commits.append(commit)

    async def close(self) -> None:
        raise AssertionError("a journal closes nothing")


def stored(*rows: Row) -> list[Entry]:
    return [
        Entry(evaluation_id=SUBJECT.evaluation_id, sequence=number, value=wire.encode(row))
        for number, row in enumerate(rows)
    ]


def kept(*rows: Row) -> Journal:
    return Journal(Commits(), SUBJECT, stored(*rows))


async def test_a_row_is_committed_alone_under_the_next_number() -> None:
    bus = Commits()
    journal = Journal(bus, SUBJECT)
    for row in ROWS:
        await journal.append(row)
    assert bus.commits == [
        Commit(partition=SUBJECT.partition, entries=(entry,)) for entry in stored(*ROWS)
    ]


async def test_numbers_go_on_after_the_stored_rows() -> None:
    bus = Commits()
    await Journal(bus, SUBJECT, stored(*ROWS[:3])).append(ROWS[3])
    assert bus.commits[0].entries[0].sequence == 3


async def test_a_row_that_was_not_stored_does_not_count() -> None:
    bus = Commits(lost=True)
    journal = Journal(bus, SUBJECT)
    with pytest.raises(OwnershipLost):
        await journal.append(PLANNED)
    assert journal.rows == []
    assert journal.plan is None


def test_stored_rows_are_taken_up_as_they_were() -> None:
    assert kept(*ROWS).rows == ROWS


def test_what_the_rows_say() -> None:
    journal = kept(*ROWS)
    assert journal.plan == PLANNED
    assert journal.draws == DRAWS
    assert [answer.step for answer in journal.answers] == [0, 2, 4]
    assert journal.maybe_repeated == 5
    assert journal.usage == Usage(attempts=4, prompt_tokens=90)


def test_an_item_drawn_again_has_the_answer_of_its_first_draw_unpaid() -> None:
    twice = Drawn(draws=(DRAWS[0], replace(DRAWS[1], item=DRAWS[0].item), *DRAWS[2:4]))
    journal = kept(PLANNED, twice, Answered(answers=ANSWERS[:1]))
    again = replace(ANSWERS[0], step=1, usage=Usage(attempts=0))
    assert journal.answers == (ANSWERS[0], again)
    assert journal.usage == ANSWERS[0].usage


def test_an_empty_journal_says_nothing() -> None:
    journal = kept()
    assert (journal.plan, journal.draws, journal.answers) == (None, (), ())
    assert (journal.usage, journal.maybe_repeated) == (Usage(attempts=0), 0)


def test_a_row_that_cannot_be_read_is_refused() -> None:
    torn = [Entry(evaluation_id=SUBJECT.evaluation_id, sequence=0, value=b"{")]
    with pytest.raises(StateCorrupt):
        Journal(Commits(), SUBJECT, torn)


def test_complete_means_one_answer_for_every_draw() -> None:
    sixth = Answer(step=5, status=Status.GRADED, score=1.0)
    assert not journals.is_complete(PLAN, ANSWERS)
    assert journals.is_complete(PLAN, (*ANSWERS, sixth))
