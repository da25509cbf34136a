from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from monitor.adapters.embedded.archive import SqliteArchive
from monitor.app import lookups
from monitor.domain.errors import UsageError
from monitor.domain.plans import Answered, Drawn, Row
from monitor.ports import Entry
from monitor.wire import journal, results
from tests.unit.app import states
from tests.unit.app.states import TOPICS
from tests.unit.wire import examples


@pytest.fixture
async def archive(tmp_path: Path) -> AsyncIterator[SqliteArchive]:
    await states.publish(tmp_path, "ab1", "ab2", "c")
    await states.publish(tmp_path, "d", variant="other")
    opened = await SqliteArchive.open(tmp_path)
    yield opened
    await opened.close()


async def listed(archive: SqliteArchive, *, variant: str = "", limit: int = 10) -> list[str]:
    found = await lookups.newest_results(archive, TOPICS.evaluations, variant=variant, limit=limit)
    return [results.decode(value).data.statistics.subject.evaluation_id for value in found]


async def test_the_newest_come_first(archive: SqliteArchive) -> None:
    assert await listed(archive) == ["d", "c", "ab2", "ab1"]
    assert await listed(archive, limit=2) == ["d", "c"]
    assert await listed(archive, variant="chat", limit=2) == ["c", "ab2"]


@pytest.mark.parametrize(("beginning", "whole"), [("c", "c"), ("ab1", "ab1"), ("d", "d")])
async def test_a_beginning_is_enough(archive: SqliteArchive, beginning: str, whole: str) -> None:
    assert await lookups.whole_id(archive, TOPICS.evaluations, beginning) == whole


@pytest.mark.parametrize(
    ("beginning", "message"),
    [("x", "no result of an evaluation whose id begins with 'x'"), ("ab", "2 evaluations .*ab2")],
)
async def test_an_id_that_is_not_one_is_an_error(
    archive: SqliteArchive, beginning: str, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        await lookups.whole_id(archive, TOPICS.evaluations, beginning)


async def test_an_id_that_another_one_begins_with_is_itself(tmp_path: Path) -> None:
    await states.publish(tmp_path, "ab", "abc")
    archive = await SqliteArchive.open(tmp_path)
    assert await lookups.whole_id(archive, TOPICS.evaluations, "ab") == "ab"
    await archive.close()


async def test_dead_letters_say_why_and_from_where(tmp_path: Path) -> None:
    await states.put_letters_aside(tmp_path)
    archive = await SqliteArchive.open(tmp_path)
    found = await lookups.dead_letters(archive, TOPICS.dead_letter)
    assert [(each.number, each.offset, each.value) for each in found] == [
        (0, "5", states.LETTERS[0]),
        (1, "6", states.LETTERS[1]),
    ]
    assert {(each.reason, each.detail) for each in found} == {("not_json", "is not JSON")}
    await archive.close()


async def test_an_onlooker_reads_on_where_it_stood(tmp_path: Path) -> None:
    await states.write_journal(tmp_path, 0, 1, 2)
    archive = await SqliteArchive.open(tmp_path)
    onlooker = lookups.Onlooker(archive, states.OPEN)
    await onlooker.look()
    assert (onlooker.plan, onlooker.answered) == (examples.PLAN, 1)
    await states.write_journal(tmp_path, 3)
    await onlooker.look()
    assert onlooker.answered == len(examples.ANSWERS)
    await archive.close()


async def test_an_onlooker_counts_draws_that_are_settled_by_earlier_ones(tmp_path: Path) -> None:
    first, second, *_ = examples.DRAWS
    rows: tuple[Row, ...] = (
        Drawn(draws=(first, replace(second, item=first.item))),
        Answered(answers=examples.ANSWERS[:1]),
    )
    entries = [
        Entry(evaluation_id=states.OPEN, sequence=number, value=journal.encode(row))
        for number, row in enumerate(rows)
    ]
    await states.commit(tmp_path, entries=tuple(entries))
    archive = await SqliteArchive.open(tmp_path)
    onlooker = lookups.Onlooker(archive, states.OPEN)
    await onlooker.look()
    assert onlooker.answered == 2
    await archive.close()


async def test_what_is_not_begun_has_no_plan(archive: SqliteArchive) -> None:
    onlooker = lookups.Onlooker(archive, states.OPEN)
    await onlooker.look()
    assert (onlooker.plan, onlooker.answered) == (None, 0)
