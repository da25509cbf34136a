import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from monitor.domain.events import EventIdentity, VersionWithdrawn
from monitor.domain.facts import (
    DeadLettered,
    EvaluationEnded,
    EvaluationStarted,
    EventResult,
    EventTaken,
    PartitionAssigned,
    ServiceStopping,
)
from monitor.domain.identifiers import SuiteName, VariantName, VersionName
from monitor.domain.plans import Ended
from monitor.domain.suites import GraderSpec
from monitor.ports import Commit, Message
from monitor.service.daemon import Conduct
from monitor.wire import journal
from tests.unit.service.fakes import TOPICS
from tests.unit.service.worlds import SOURCE, USUAL, World, identity_of, wanted, world

ESTIMATED = ("MET", "estimated")


def withdrawn(version: str) -> VersionWithdrawn:
    return VersionWithdrawn(
        identity=EventIdentity(source=SOURCE, id=f"gone {version}"),
        variant=VariantName("chat"),
        version=VersionName(version),
    )


def taken(seen: World) -> list[EventResult]:
    return [fact.result for fact in seen.facts.of(EventTaken)]


async def served(*versions: str, conduct: Conduct = USUAL) -> World:
    """A world in which these versions were evaluated."""
    seen = world()
    for version in versions:
        seen.submit(wanted(version))
    await seen.serve(conduct)
    return seen


async def test_an_event_becomes_a_result_that_is_committed_once_with_its_offset() -> None:
    seen = await served("1")
    assert seen.verdicts == [ESTIMATED]
    (last,) = (commit for commit in seen.store.commits if commit.messages)
    assert (last.settled, len(last.messages)) == (1, 2)
    assert all(commit.settled is None for commit in seen.store.commits[:-1])
    assert len(seen.endpoint.asked) == len(set(seen.endpoint.asked)) == 20


async def test_only_the_end_is_left_in_the_journal() -> None:
    seen = await served("1")
    (row,) = seen.store.journals[0][identity_of("1")].values()
    assert row.value is not None
    assert isinstance(journal.decode(row.value), Ended)


async def test_what_is_told() -> None:
    seen = await served("1")
    kinds = [EventTaken, EvaluationStarted, EvaluationEnded, ServiceStopping, PartitionAssigned]
    assert [len(seen.facts.of(kind)) for kind in kinds] == [1] * 5
    (ended,) = seen.facts.of(EvaluationEnded)
    assert ended.spend == seen.published[0].data.spend
    assert ended.seconds == seen.published[0].data.times.seconds > 0
    assert taken(seen) == [EventResult.ACCEPTED]


async def test_a_duplicate_buys_nothing_and_is_settled() -> None:
    seen = await served("1")
    seen.submit(wanted("1"))
    await seen.serve()
    assert len(seen.endpoint.asked) == 20
    assert seen.verdicts == [ESTIMATED]
    assert (taken(seen)[-1], seen.store.settled[0]) == (EventResult.DUPLICATE, 2)


async def test_a_duplicate_of_what_is_running_waits_for_it() -> None:
    seen = world()
    seen.submit(wanted("1"))
    seen.submit(wanted("1"))
    process = seen.process()
    process.start()
    await process.run(until=3.0)
    assert (taken(seen)[-1], seen.store.settled[0]) == (EventResult.DUPLICATE, 0)
    await process.stop()
    assert (seen.verdicts, seen.store.settled[0]) == ([ESTIMATED], 2)


async def test_a_record_that_can_never_be_read_is_put_aside_verbatim() -> None:
    seen = world()
    seen.submit(b"\xff\x00 no event")
    seen.submit(wanted("1"))
    await seen.serve()
    (letter,) = seen.store.published(TOPICS.dead_letter)
    assert (letter.value, letter.key) == (b"\xff\x00 no event", b"chat")
    assert dict(letter.headers)["dead-letter-offset"] == b"0"
    assert taken(seen) == [EventResult.DEAD_LETTER, EventResult.ACCEPTED]
    assert len(seen.facts.of(DeadLettered)) == 1
    assert (seen.verdicts, seen.store.settled[0]) == ([ESTIMATED], 2)


async def test_a_withdrawn_version_is_cancelled() -> None:
    seen = world()
    seen.submit(wanted("1"))
    process = seen.process()
    process.start()
    await process.run(until=6.0)
    seen.submit(withdrawn("1"))
    process.bus.wake()
    await process.stop()
    assert seen.verdicts == [("CANCELLED", "withdrawn")]
    assert 0 < seen.published[0].data.statistics.answered < 20
    assert seen.store.settled[0] == 2
    assert taken(seen) == [EventResult.ACCEPTED, EventResult.WITHDRAWAL]


async def test_a_withdrawal_ends_that_version_only() -> None:
    seen = world()
    for event in (wanted("1"), withdrawn("2"), withdrawn("1.0")):
        seen.submit(event)
    await seen.serve()
    assert seen.verdicts == [ESTIMATED]


async def test_a_newer_version_supersedes_the_one_before() -> None:
    seen = await served("1", "2")
    assert seen.verdicts == [("CANCELLED", "superseded"), ESTIMATED]
    assert "Version 2" in seen.published[0].data.statistics.verdict.sentence
    assert seen.store.settled[0] == 2


async def test_superseding_can_be_turned_off() -> None:
    seen = await served("1", "2", conduct=replace(USUAL, supersede=False))
    assert seen.verdicts == [ESTIMATED, ESTIMATED]


async def test_other_suites_and_other_variants_are_not_superseded() -> None:
    seen = world("sums", "texts")
    seen.submit(wanted("1", "texts"))
    seen.submit(wanted("2", "sums"))
    seen.submit(wanted("3", "sums", variant=VariantName("search")))
    await seen.serve()
    assert seen.verdicts == [ESTIMATED] * 3


async def test_an_event_that_comes_too_late_buys_nothing() -> None:
    seen = world()
    time = seen.clock.now() - timedelta(hours=25)
    seen.submit(wanted("1", identity=EventIdentity(source=SOURCE, id="1", time=time)))
    await seen.serve()
    assert seen.verdicts == [("CANCELLED", "too_old")]
    assert (seen.endpoint.asked, taken(seen)) == ([], [EventResult.TOO_OLD])


async def test_an_old_event_does_not_supersede() -> None:
    seen = world()
    time = seen.clock.now() - timedelta(hours=25)
    seen.submit(wanted("2"))
    seen.submit(wanted("1", identity=EventIdentity(source=SOURCE, id="1", time=time)))
    await seen.serve()
    assert seen.verdicts == [ESTIMATED, ("CANCELLED", "too_old")]


async def test_asking_for_a_version_again_does_not_supersede() -> None:
    seen = world()
    seen.submit(wanted("2"))
    seen.submit(wanted("1", is_deployment=False))
    await seen.serve()
    assert seen.verdicts[0] == ESTIMATED
    assert "CANCELLED" not in dict(seen.verdicts)


async def test_what_was_begun_in_time_is_finished_however_late_it_is_taken_up() -> None:
    seen = world()
    identity = EventIdentity(source=SOURCE, id="1", time=seen.clock.now())
    seen.submit(wanted("1", identity=identity))
    process = seen.process()
    process.start()
    await process.run(until=6.0)
    await process.kill()
    seen.clock.seconds = 30 * 3600.0
    await seen.serve()
    assert seen.verdicts == [ESTIMATED]
    assert taken(seen) == [EventResult.ACCEPTED] * 2


async def test_an_event_is_settled_when_the_last_of_its_suites_has_ended() -> None:
    seen = world("sums", "texts", "codes")
    seen.submit(wanted("1"))
    await seen.serve()
    assert seen.verdicts == [ESTIMATED] * 3
    ends = [commit for commit in seen.store.commits if commit.messages]
    assert [commit.settled for commit in ends] == [None, None, 1]


async def test_no_event_is_settled_before_all_of_its_results_are_durable() -> None:
    """The commit of the first result hangs while the second one is ready."""
    seen, release = world("sums", "texts"), asyncio.Event()
    seen.submit(wanted("1"))
    process = seen.process()
    tried: list[Message] = []

    async def hold_first(commit: Commit) -> None:
        tried.extend(commit.messages[:1])
        if len(tried) == 1 and commit.messages:
            await release.wait()

    process.bus.before = hold_first
    process.start()
    await process.run()
    assert (len(tried), seen.store.settled[0]) == (1, 0)
    release.set()
    await process.stop()
    assert (seen.verdicts, seen.store.settled[0]) == ([ESTIMATED] * 2, 1)


async def test_after_a_crash_between_results_the_others_are_finished() -> None:
    seen = world("sums", "texts")
    seen.submit(wanted("1"))
    process = seen.process()

    async def die_after_first(_: Commit) -> None:
        if seen.store.messages:
            await asyncio.Event().wait()

    process.bus.before = die_after_first
    process.start()
    await process.run()
    await process.kill()
    assert (seen.verdicts, seen.store.settled[0]) == ([ESTIMATED], 0)
    await seen.serve()
    assert (seen.verdicts, seen.store.settled[0]) == ([ESTIMATED] * 2, 1)


async def test_later_events_are_settled_with_the_first_one_that_is_open() -> None:
    seen = world("sums", "texts")
    seen.submit(wanted("1", "sums"))
    seen.submit(b"no event")
    process = seen.process()
    process.start()
    await process.run(until=2.0)
    assert seen.store.published(TOPICS.dead_letter)
    assert seen.store.settled[0] == 0
    await process.stop()
    assert seen.store.settled[0] == 2


@pytest.mark.parametrize("bound", [1, 3])
async def test_no_more_events_are_read_than_the_bound(bound: int) -> None:
    seen = world(policy=None)
    for number in range(8):
        seen.submit(wanted(str(number), variant=VariantName(f"chat-{number}")))
    process = seen.process(replace(USUAL, read_ahead=bound))
    process.start()
    await process.run(until=3.0)
    assert len(taken(seen)) == bound
    await process.stop()
    assert seen.verdicts == [ESTIMATED] * 8


async def test_so_many_evaluations_run_at_once() -> None:
    seen = world()
    for number in range(5):
        seen.submit(wanted(str(number), variant=VariantName(f"chat-{number}")))
    process = seen.process(replace(USUAL, at_once=2))
    process.start()
    await process.run(until=0.5)
    assert len(seen.facts.of(EvaluationStarted)) == 2
    await process.stop()
    assert seen.verdicts == [ESTIMATED] * 5


async def test_a_variant_is_evaluated_on_a_suite_by_one_job_at_a_time() -> None:
    seen = await served("1", "2", conduct=replace(USUAL, supersede=False))
    order = [
        type(fact).__name__
        for fact in seen.facts.told
        if isinstance(fact, EvaluationStarted | EvaluationEnded)
    ]
    assert order == ["EvaluationStarted", "EvaluationEnded"] * 2


async def test_a_later_version_is_compared_with_the_one_before() -> None:
    seen = await served("1", "2", conduct=replace(USUAL, supersede=False))
    first, second = (each.data.statistics for each in seen.published)
    assert first.difference is None
    assert second.difference is not None
    assert second.difference.previous_evaluation_id == first.subject.evaluation_id


async def test_a_defect_of_one_evaluation_leaves_the_others_alone() -> None:
    seen = world("sums", "texts")
    texts = SuiteName("texts")
    normalised = replace(seen.catalog.suites[texts], grader=GraderSpec(kind="normalised"))
    seen.catalog.suites[texts] = normalised
    seen.graders.defects = {"normalised": 99}
    seen.submit(wanted("1"))
    await seen.serve()
    assert sorted(seen.verdicts) == [("FAULTED", "internal_error"), ESTIMATED]
    assert seen.store.settled[0] == 1
