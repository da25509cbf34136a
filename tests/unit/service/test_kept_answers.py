import asyncio
from datetime import timedelta

import pytest

from monitor.domain.answers import CAME, MISSING, UNGRADED, Completed, Status
from monitor.domain.errors import StateError
from monitor.domain.facts import AnswersNotKept
from monitor.domain.identifiers import ItemId
from monitor.domain.kept_answers import KeptAnswer
from monitor.domain.policies import Budget, KeepAnswers, Policy
from monitor.service import kept_answers
from monitor.service.kept_answers import Keeper, Said
from tests.unit.engine.examples import SUBJECT
from tests.unit.service.worlds import World, identity_of, wanted, world

BROKEN = StateError("disk full")


def completed(
    content: str | None = "Well.",
    finish_reason: str = "stop",
    *,
    refusal: str | None = None,
    reasoning: str | None = None,
) -> Completed:
    return Completed(
        content=content, finish_reason=finish_reason, refusal=refusal, reasoning=reasoning
    )


def said(
    status: Status = Status.NO_ANSWER,
    came: Completed | None = completed(),  # noqa: B008 - frozen
    extracted: str | None = None,
) -> Said:
    return Said(
        subject=SUBJECT, item=ItemId("7"), status=status, extracted=extracted, completed=came
    )


def kept(seen: World) -> list[KeptAnswer]:
    return list(seen.kept.kept.values())


def policy(keep: KeepAnswers = KeepAnswers.DOUBTFUL) -> Policy:
    return Policy(budget=Budget(count=20), keep_answers=keep)


@pytest.mark.parametrize("status", sorted(Status))
@pytest.mark.parametrize("keep", KeepAnswers)
async def test_the_policy_says_what_is_kept(keep: KeepAnswers, status: Status) -> None:
    seen = world(policy=policy(keep))
    await seen.keeper.take(said(status))
    wanted_here = {KeepAnswers.NONE: set(), KeepAnswers.DOUBTFUL: UNGRADED, KeepAnswers.ALL: CAME}
    assert len(kept(seen)) == (status in wanted_here[keep])


async def test_a_graded_answer_that_was_cut_short_is_doubtful() -> None:
    seen = world(policy=policy())
    await seen.keeper.take(said(Status.GRADED, completed("4", finish_reason="length")))
    assert [each.text for each in kept(seen)] == ["4"]


async def test_an_answer_is_kept_with_what_became_of_it() -> None:
    seen = world(policy=policy())
    await seen.keeper.take(said(Status.GRADER, completed("It is 42."), "42"))
    assert kept(seen) == [
        KeptAnswer(
            evaluation_id=SUBJECT.evaluation_id,
            item=ItemId("7"),
            status=Status.GRADER,
            extracted="42",
            text="It is 42.",
            at=seen.clock.now(),
        )
    ]


@pytest.mark.parametrize(
    ("came", "text"),
    [
        (completed("a", refusal="b", reasoning="c"), "a"),
        (completed(None, refusal="b", reasoning="c"), "b"),
        (completed("", reasoning="c"), "c"),
        (completed(" \n", reasoning="c"), "c"),
        (completed(None), ""),
        (None, ""),
    ],
)
async def test_what_stood_in_the_place_of_the_answer_is_kept(
    came: Completed | None, text: str
) -> None:
    seen = world(policy=policy())
    await seen.keeper.take(said(came=came))
    assert [each.text for each in kept(seen)] == [text]


async def test_of_a_very_long_answer_the_end_is_kept() -> None:
    seen = world(policy=policy())
    await seen.keeper.take(said(came=completed("x" * kept_answers.LONGEST + "end")))
    (text,) = [each.text for each in kept(seen)]
    assert text is not None
    assert (len(text), text[-4:]) == (kept_answers.LONGEST, "xend")


def redacting(seen: World, reply: list[str] | None) -> Keeper:
    async def redact(texts: object) -> list[str] | None:
        assert texts == ["It is 42.", "42"]
        return reply

    return Keeper(
        seen.kept,
        wanted=lambda *_: KeepAnswers.ALL,
        redact=redact,
        clock=seen.clock,
        telemetry=seen.facts,
    )


@pytest.mark.parametrize(
    ("reply", "text", "extracted"),
    [
        (["It is [redacted].", "[redacted]"], "It is [redacted].", "[redacted]"),
        (["[redacted] is 42.", "42"], "[redacted] is 42.", "42"),
        (["It [redacted].", "42"], "It [redacted].", None),
        (None, None, None),
    ],
    ids=["redacted", "redacted elsewhere", "redacted by what stands around it", "not in time"],
)
async def test_nothing_is_kept_that_is_not_redacted(
    reply: list[str] | None, text: str | None, extracted: str | None
) -> None:
    seen = world()
    await redacting(seen, reply).take(said(Status.GRADED, completed("It is 42."), "42"))
    assert [(each.text, each.extracted) for each in kept(seen)] == [(text, extracted)]


async def test_a_redaction_that_keeps_failing_is_given_up() -> None:
    async def redact(_: object) -> None:
        tried.append(1)

    seen, tried = world(), list[int]()
    keeper = Keeper(
        seen.kept,
        wanted=lambda *_: KeepAnswers.ALL,
        redact=redact,
        clock=seen.clock,
        telemetry=seen.facts,
    )
    for _ in range(5):
        await keeper.take(said(Status.GRADED))
    assert len(tried) == kept_answers.FAILED_REDACTIONS
    assert [each.text for each in kept(seen)] == [None]
    assert seen.facts.of(AnswersNotKept) == [AnswersNotKept(detail=kept_answers.WITHHELD)]


async def test_what_cannot_be_kept_is_told_once_and_costs_nothing() -> None:
    seen = world(policy=policy())
    seen.kept.failing = BROKEN
    keeper = seen.keeper
    for _ in range(3):
        await keeper.take(said())
    assert seen.facts.of(AnswersNotKept) == [AnswersNotKept(detail="disk full")]


async def test_old_answers_go_every_hour() -> None:
    seen = world(policy=policy())
    await seen.keeper.take(said())
    purging = asyncio.create_task(seen.keeper.purge_regularly(timedelta(hours=2)))
    await seen.clock.run(until=2 * 3600.0)
    assert len(kept(seen)) == 1
    await seen.clock.run(until=3 * 3600.0 + 1)
    assert kept(seen) == []
    purging.cancel()


async def test_a_purge_that_fails_is_tried_again() -> None:
    seen = world(policy=policy())
    await seen.keeper.take(said())
    seen.kept.failing = BROKEN
    purging = asyncio.create_task(seen.keeper.purge_regularly(timedelta(0)))
    await seen.clock.run(until=10.0)
    assert seen.facts.of(AnswersNotKept) == [AnswersNotKept(detail="disk full")]
    seen.kept.failing = None
    await seen.clock.run(until=3600.0 + 1)
    assert kept(seen) == []
    purging.cancel()


@pytest.mark.parametrize("keep", KeepAnswers)
async def test_an_evaluation_keeps_what_its_version_said(keep: KeepAnswers) -> None:
    seen = world(policy=policy(keep))
    seen.endpoint.failing = {str(item): completed(None, refusal="No.") for item in range(0, 60, 2)}
    seen.submit(wanted("1"))
    await seen.serve()
    (result,) = seen.published
    counts = result.data.statistics.counts
    wanted_here = {
        KeepAnswers.NONE: 0,
        KeepAnswers.DOUBTFUL: counts["refusal"],
        KeepAnswers.ALL: counts["refusal"] + counts["graded"],
    }
    found = await seen.kept.find(identity_of("1"))
    assert len(found) == wanted_here[keep]
    assert {each.text for each in found if each.status is Status.REFUSAL} <= {"No."}


async def test_no_text_leaves_by_the_bus_or_the_telemetry() -> None:
    canary = "canary-0123456789"
    seen = world(policy=policy(KeepAnswers.ALL))
    seen.endpoint.failing = {str(item): completed(canary) for item in range(60)}
    seen.submit(wanted("1"))
    await seen.serve()
    assert {each.text for each in kept(seen)} == {canary}
    assert canary not in repr(seen.store.commits)
    assert canary not in repr(seen.facts.told)


async def test_an_evaluation_does_not_fail_with_the_store() -> None:
    seen = world(policy=policy(KeepAnswers.ALL))
    seen.kept.failing = BROKEN
    seen.submit(wanted("1"))
    await seen.serve()
    assert len(seen.published) == 1
    assert MISSING.isdisjoint(seen.published[0].data.statistics.counts)
