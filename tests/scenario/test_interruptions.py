import asyncio
from dataclasses import replace

import pytest

from monitor.domain.errors import StateCorrupt
from monitor.domain.events import Event, EventIdentity, VersionWithdrawn
from monitor.domain.facts import EvaluationFailed, EventResult, EventTaken, PartitionRevoked
from monitor.domain.identifiers import VariantName, VersionName
from monitor.ports import Commit
from monitor.wire import journal
from tests.unit.service.fakes import lose_ownership
from tests.unit.service.worlds import SOURCE, USUAL, World, identity_of, wanted, world

WITHDRAWN = VersionWithdrawn(
    identity=EventIdentity(source=SOURCE, id="gone"),
    variant=VariantName("chat"),
    version=VersionName("1"),
)


async def undisturbed() -> World:
    seen = world()
    seen.submit(wanted("1"))
    await seen.serve()
    return seen


@pytest.mark.parametrize("until", [0.5, 3.0, 9.0, 14.0])
@pytest.mark.parametrize("drain_seconds", [0.0, 1.5, 60.0])
async def test_a_drained_evaluation_stays_open_and_is_finished_by_the_next_process(
    until: float, drain_seconds: float
) -> None:
    seen = world()
    seen.submit(wanted("1"))
    process = seen.process()
    process.start()
    await process.run(until)
    await process.drain(drain_seconds)
    assert (seen.published, seen.store.settled[0]) == ([], 0)
    assert process.bus.closed
    await seen.serve()
    assert seen.statistics == (await undisturbed()).statistics


async def test_draining_lets_what_is_in_flight_finish_and_asks_nothing_more() -> None:
    seen = world()
    seen.submit(wanted("1"))
    process = seen.process()
    process.start()
    await process.run(until=3.5)
    asked = list(seen.endpoint.asked)
    await process.drain(60.0)
    assert seen.endpoint.asked == asked
    await seen.serve()
    assert len(seen.endpoint.asked) == 20


async def test_what_waits_for_its_turn_is_not_asked_while_draining() -> None:
    seen = world(turns=2)
    for number in range(3):
        seen.submit(wanted(str(number), variant=VariantName(f"chat-{number}")))
    process = seen.process()
    process.start()
    await process.run(until=3.5)
    asked = list(seen.endpoint.asked)
    await process.drain(60.0)
    assert seen.endpoint.asked == asked


async def test_a_bus_that_is_away_does_not_hold_up_the_stop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def never(_: Commit) -> None:
        await asyncio.Event().wait()

    seen = world()
    seen.submit(wanted("1"))
    process = seen.process()
    process.start()
    await process.run(until=3.5)
    monkeypatch.setattr(process.bus, "commit", never)
    await process.drain(1.0)
    assert process.bus.closed
    assert seen.published == []


async def test_draining_ends_with_its_time() -> None:
    seen = world()
    seen.submit(wanted("1"))
    process = seen.process()
    process.start()
    await process.run(until=3.0)
    await process.drain(0.5)
    assert seen.clock.seconds == 3.5


async def test_stopping_does_not_wait_for_room() -> None:
    seen = world()
    for number in range(4):
        seen.submit(wanted(str(number), variant=VariantName(f"chat-{number}")))
    process = seen.process(replace(USUAL, read_ahead=1))
    process.start()
    await process.run(until=3.0)
    await process.drain(0.0)
    assert seen.published == []


async def test_stopped_before_it_began_it_takes_nothing() -> None:
    seen = world()
    seen.submit(wanted("1"))
    process = seen.process()
    process.daemon.stop(0.0)
    process.start()
    await process.stop()
    assert seen.published == []


COMMITS = 32


async def test_an_undisturbed_evaluation_makes_this_many_commits() -> None:
    assert len((await undisturbed()).store.commits) == COMMITS


def settled_questions(seen: World) -> set[str]:
    """What the journal holds an answer to."""
    rows = [
        journal.decode(entry.value)
        for entry in seen.store.journals[0][identity_of("1")].values()
        if entry.value is not None
    ]
    items = {draw.step: draw.item for row in rows for draw in getattr(row, "draws", ())}
    steps = [answer.step for row in rows for answer in getattr(row, "answers", ())]
    return {str(items[step]) for step in steps}


@pytest.mark.parametrize("count", range(1, COMMITS + 1))
async def test_a_crash_after_any_commit_costs_no_answer_and_changes_no_byte(count: int) -> None:
    seen = world()
    seen.submit(wanted("1"))
    process = seen.process(crash_after=count)
    process.start()
    await process.run()
    await process.kill()
    known, before = settled_questions(seen), len(seen.endpoint.asked)
    await seen.serve()
    assert not known & set(seen.endpoint.asked[before:])
    assert seen.statistics == (await undisturbed()).statistics
    assert seen.store.settled[0] == 1


async def test_crashing_again_and_again_ends_at_the_same_bytes() -> None:
    seen = world()
    seen.submit(wanted("1"))
    for _ in range(COMMITS):
        process = seen.process(crash_after=3)
        process.start()
        await process.run()
        await process.kill()
    await seen.serve()
    assert seen.statistics == (await undisturbed()).statistics
    assert seen.published[0].data.spend.maybe_repeated > 0


@pytest.mark.parametrize("number", [0, 1, 5, COMMITS - 1])
async def test_whoever_lost_the_partition_stops_silently(number: int) -> None:
    seen = world()
    seen.submit(wanted("1"))
    process = seen.process()

    async def lose_at(commit: Commit) -> None:
        if len(seen.store.commits) == number:
            await lose_ownership(commit)

    process.bus.before = lose_at
    process.start()
    await process.run()
    assert (len(seen.store.commits), seen.published) == (number, [])
    assert process.daemon.assigned_partitions == 0
    assert seen.facts.of(EvaluationFailed) == []
    assert len(seen.facts.of(PartitionRevoked)) == 1
    await process.stop()


@pytest.mark.parametrize("event", [b"no event", WITHDRAWN])
async def test_ownership_lost_while_an_event_is_settled_stops_silently(
    event: Event | bytes,
) -> None:
    seen = world()
    seen.submit(event)
    process = seen.process()
    process.bus.before = lose_ownership
    process.start()
    await process.run()
    assert process.daemon.assigned_partitions == 0
    await process.stop()


async def test_a_revoked_partition_is_left_alone() -> None:
    seen = world()
    seen.submit(wanted("1"))
    process = seen.process()
    process.start()
    await process.run(until=6.0)
    commits = len(seen.store.commits)
    process.bus.revoke(0)
    seen.submit(wanted("2"))
    await process.stop()
    assert len(seen.store.commits) == commits
    assert [fact.result for fact in seen.facts.of(EventTaken)] == [EventResult.ACCEPTED]
    assert len(seen.facts.of(PartitionRevoked)) == 1


async def test_losing_a_full_partition_does_not_block_the_others() -> None:
    """Reading waits for room in partition 0, which is then lost."""
    seen = world()
    seen.store.records[1] = []
    seen.submit(wanted("1"))
    seen.submit(wanted("2", variant=VariantName("search")), partition=1)
    process = seen.process(replace(USUAL, read_ahead=1))

    async def lose_first(commit: Commit) -> None:
        if commit.partition == 0 and len(seen.store.commits) > 4:
            await lose_ownership(commit)

    process.bus.before = lose_first
    process.start()
    await process.stop()
    assert [each.data.statistics.subject.variant for each in seen.published] == ["search"]


async def test_partitions_have_their_own_offsets() -> None:
    seen = world()
    seen.store.records[1] = []
    seen.submit(wanted("1"))
    seen.submit(b"no event", partition=1)
    seen.submit(b"no event", partition=1)
    await seen.serve()
    assert dict(seen.store.settled) == {0: 1, 1: 2}


async def test_a_failing_store_ends_the_process_with_its_own_error() -> None:
    seen = world()
    seen.submit(wanted("1"))
    process = seen.process()

    async def fail(_: Commit) -> None:
        raise StateCorrupt("disk full")

    process.bus.before = fail
    process.start()
    await process.run()
    assert process.task is not None
    with pytest.raises(StateCorrupt, match="disk full"):
        await process.task
    assert process.bus.closed
