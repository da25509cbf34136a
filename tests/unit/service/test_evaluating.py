import asyncio
from dataclasses import dataclass

import pytest

from monitor.domain.answers import Breakdown, Broken, Exchange, Refused, Status
from monitor.domain.facts import AnswerSettled, Attempted, EvaluationStarted
from monitor.domain.plans import Answered, Drawn, Planned, Resumed, Row
from monitor.domain.policies import Budget, Policy
from monitor.domain.results import Estimate, Findings, Outcome, Reason, Verdict
from monitor.engine import concluding, repeats
from monitor.ports import Commit
from monitor.service.evaluating import Cancel, Course, Drain, Halt
from monitor.service.journals import Journal
from tests.unit.engine.examples import begun, complete, in_order, published_policy, replies
from tests.unit.service.fakes import MemoryBus
from tests.unit.service.worlds import World, world

TWO_ROUNDS = 4
BUDGET = Policy(budget=Budget(count=20))
REPEATING = published_policy(50)
WITHDRAWN = Cancel(
    verdict=Verdict(outcome=Outcome.CANCELLED, reason=Reason.WITHDRAWN, sentence="It is gone.")
)
BAD = Refused(http_status=400, code="bad_request", message="no")


@dataclass
class Run:
    """A course over a world, and the halt that it listens to."""

    seen: World
    bus: MemoryBus
    journal: Journal
    halt: asyncio.Future[Halt]
    task: asyncio.Task[Findings | None]

    @property
    def rows(self) -> list[Row]:
        return self.journal.rows

    async def end(self) -> Findings | None:
        await self.seen.clock.run()
        return self.task.result()


async def start(seen: World, rows: list[Row] | None = None, policy: Policy = BUDGET) -> Run:
    """Begin a course, or take one up where these rows leave it."""
    evaluation = begun(policy=policy)
    bus = MemoryBus(seen.store)
    journal = Journal(bus, evaluation.plan.subject)
    for row in rows or [Planned(plan=evaluation.plan, at=seen.clock.now())]:
        await journal.append(row)
    halt: asyncio.Future[Halt] = asyncio.get_running_loop().create_future()
    tools = seen.surroundings(bus).tools
    course = Course(tools, seen.catalog.endpoint, judges=(), journal=journal, halt=halt)
    return Run(seen, bus, journal, halt, asyncio.create_task(course.run(evaluation)))


async def finished(
    seen: World, rows: list[Row] | None = None, policy: Policy = BUDGET
) -> tuple[Findings, Run]:
    run = await start(seen, rows, policy)
    findings = await run.end()
    assert findings is not None
    return findings, run


def answered(rows: list[Row]) -> list[int]:
    return [each.step for row in rows if isinstance(row, Answered) for each in row.answers]


async def test_it_finds_what_the_engine_finds_from_the_same_answers() -> None:
    seen = world()
    findings, run = await finished(seen)
    end = complete(begun(policy=BUDGET), replies(seen.endpoint.known))
    assert run.journal.draws == end.draws
    scores = [each.score for each in run.journal.answers]
    assert scores == [each.score for each in in_order(end)]
    assert isinstance(findings.estimate, Estimate)
    expected = concluding.conclude(end.plan, end.draws, run.journal.answers)
    assert findings == expected


async def test_a_round_is_stored_before_any_of_its_questions_goes_out() -> None:
    """Each commit of a round finds none of its items asked."""
    seen = world()
    run = await start(seen)

    async def look(_: Commit) -> None:
        drawn = {str(draw.item) for draw in run.journal.draws}
        assert set(seen.endpoint.asked) <= drawn

    run.bus.before = look
    assert await run.end() is not None


async def test_each_attempt_is_told_with_its_place() -> None:
    seen = world()
    _, run = await finished(seen)
    told = seen.facts.of(Attempted)
    assert len(told) == len(seen.endpoint.asked)
    subject = run.journal.rows[0].plan.subject  # type: ignore[union-attr]
    places = {(fact.evaluation_id, fact.variant, fact.suite) for fact in told}
    assert places == {(subject.evaluation_id, subject.variant, subject.suite)}
    assert {(fact.prompt_tokens, fact.completion_tokens) for fact in told} == {(10, 2)}


async def test_an_answer_counts_only_when_it_is_stored() -> None:
    """While the commit of the first answers hangs, nothing is drawn from them."""
    seen = world()
    run = await start(seen)

    async def hold_answers(commit: Commit) -> None:
        if b'"answered"' in (commit.entries[0].value or b""):
            await asyncio.Event().wait()

    run.bus.before = hold_answers
    await seen.clock.run()
    assert seen.facts.of(AnswerSettled) == []
    assert len(run.journal.draws) == TWO_ROUNDS
    run.task.cancel()
    await asyncio.wait([run.task])


@pytest.mark.parametrize(("concurrency", "out"), [(1, 1), (3, 3), (100, TWO_ROUNDS)])
async def test_so_many_questions_are_out_at_once(concurrency: int, out: int) -> None:
    """A hundred are bounded by what can be drawn at first: two rounds of two."""
    seen = world(turns=100, concurrency=concurrency)
    run = await start(seen)
    await seen.clock.run(until=0.5)
    assert len(seen.endpoint.asked) == out
    assert await run.end() is not None


async def test_concurrency_changes_nothing_that_is_found() -> None:
    one, _ = await finished(world(concurrency=1))
    many, _ = await finished(world(concurrency=4))
    assert one == many


@pytest.mark.parametrize("count", range(1, 26))
async def test_it_is_taken_up_at_any_row(count: int) -> None:
    whole, first = await finished(world())
    rows = first.rows[:count]
    seen = world()
    again, run = await finished(seen, rows)
    assert again == whole
    known = set(answered(rows))
    asked = {str(draw.item) for draw in run.journal.draws if draw.step not in known}
    assert set(seen.endpoint.asked) == asked
    (told,) = seen.facts.of(EvaluationStarted)
    assert (told.resumed, told.answered) == (count > 1, len(known))


async def test_an_item_drawn_again_is_neither_asked_nor_paid_again() -> None:
    seen = world()
    findings, run = await finished(seen, policy=REPEATING)
    items = [draw.item for draw in run.journal.draws]
    assert len(set(items)) < len(items) == 50
    assert sorted(seen.endpoint.asked, key=int) == [str(item) for item in sorted(set(items))]
    assert run.journal.usage.attempts == len(set(items)) == len(seen.facts.of(AnswerSettled))
    assert findings.answered == sum(findings.counts.values()) == 50
    end = complete(begun(policy=REPEATING), replies(seen.endpoint.known))
    assert run.journal.draws == end.draws
    expected = concluding.conclude(end.plan, end.draws, run.journal.answers)
    assert findings == expected


@pytest.mark.parametrize("count", [*range(1, 12), 25, 40, 60, 70])
async def test_with_repeats_it_is_taken_up_at_any_row(count: int) -> None:
    whole, first = await finished(world(), policy=REPEATING)
    rows = first.rows[:count]
    seen = world()
    again, run = await finished(seen, rows, REPEATING)
    assert again == whole
    assert run.journal.draws == first.journal.draws
    paid = {run.journal.draws[step].item for step in answered(rows)}
    others = {draw.item for draw in run.journal.draws} - paid
    assert sorted(map(int, seen.endpoint.asked)) == sorted(others)


async def test_repeats_count_as_progress() -> None:
    """Every answer that is told of carries the repeats that are settled by then."""
    _, run = await finished(world(concurrency=1), policy=REPEATING)
    told = [fact.answered for fact in run.seen.facts.of(AnswerSettled)]
    assert told == sorted(told)
    assert len(told) < told[-1] <= 50


def ends_in_repeats(policy: Policy) -> bool:
    """Whether nothing is left to ask when the last round is drawn."""
    drawn = complete(begun(policy=policy), replies(world().endpoint.known)).draws
    last = [draw for draw in drawn if draw.round == drawn[-1].round]
    return all(repeats.is_repeat(drawn, draw.step) for draw in last)


async def test_a_last_round_of_repeats_alone_ends_it() -> None:
    """Taken up where all that was drawn is answered, it has nothing to wait for."""
    policy = next(filter(ends_in_repeats, map(published_policy, range(30, 58))))
    whole, first = await finished(world(), policy=policy)
    *_, last = (row for row in first.rows if isinstance(row, Drawn))
    seen = world()
    again, _ = await finished(seen, [row for row in first.rows if row is not last], policy)
    assert (again, seen.endpoint.asked) == (whole, [])


async def test_questions_that_were_in_flight_are_noted_before_they_are_asked_again() -> None:
    _, first = await finished(world())
    drawn = [row for row in first.rows if isinstance(row, Drawn)]
    _, run = await finished(world(concurrency=3), [first.rows[0], *drawn[:2]])
    assert run.rows[3] == Resumed(pending=3)
    assert run.journal.maybe_repeated == 3


async def test_a_complete_evaluation_asks_nobody() -> None:
    whole, first = await finished(world())
    seen = world()
    seen.endpoint.served = Broken(cause=Breakdown.CONNECT)
    again, run = await finished(seen, first.rows)
    assert again == whole
    assert (seen.endpoint.asked, run.rows) == ([], first.rows)


@pytest.mark.parametrize("status", [401, 402, 403, 404])
async def test_a_fault_in_the_midst_ends_it_and_buys_no_more(status: int) -> None:
    _, first = await finished(world())
    seen = world()
    failing = first.seen.endpoint.asked[9]
    seen.endpoint.failing = {failing: Refused(http_status=status, message="no more")}
    findings, run = await finished(seen)
    verdict = findings.verdict
    assert (verdict.outcome, verdict.reason) == (Outcome.FAULTED, Reason.ENDPOINT_FAULT)
    assert "no more" in verdict.sentence
    assert 0 < findings.answered == len(answered(run.rows)) < 20
    assert len(seen.endpoint.asked) < 20


@pytest.mark.parametrize(
    "served",
    [Broken(cause=Breakdown.CONNECT, detail="refused"), ("other",), Refused(http_status=401)],
)
async def test_a_gate_that_stays_closed_is_a_fault(served: tuple[str, ...] | Exchange) -> None:
    seen = world()
    seen.endpoint.served = served
    findings, run = await finished(seen)
    assert findings.verdict.reason is Reason.ENDPOINT_FAULT
    assert (findings.answered, seen.endpoint.asked) == (0, [])
    assert len(run.rows) == 1


def rejecting(numbers: range) -> tuple[World, dict[str, Exchange]]:
    """A world that rejects the questions that are asked in these places."""
    seen = world(concurrency=1)
    items = [str(draw.item) for draw in complete(begun(policy=BUDGET), lambda _: None).draws]
    seen.endpoint.failing = {items[number]: BAD for number in numbers}
    return seen, seen.endpoint.failing


async def test_three_first_items_rejected_alike_are_a_fault() -> None:
    seen, _ = rejecting(range(20))
    findings, _ = await finished(seen)
    assert findings.verdict.reason is Reason.ENDPOINT_FAULT
    assert "the first 3 items were all rejected" in findings.verdict.sentence
    assert len(seen.endpoint.asked) == 3


async def test_items_rejected_alike_later_on_are_missing() -> None:
    seen, failing = rejecting(range(1, 8))
    findings, _ = await finished(seen)
    assert findings.counts[Status.REJECTED] == findings.missing == len(failing) == 7


async def test_the_first_items_are_those_before_a_crash() -> None:
    """Taken up where only rejections follow, it goes on as if nothing had happened."""
    whole, first = await finished(rejecting(range(1, 8))[0])
    one_answer = next(n for n, row in enumerate(first.rows) if isinstance(row, Answered))
    again, _ = await finished(rejecting(range(1, 8))[0], first.rows[: one_answer + 1])
    assert again == whole


async def test_rejections_before_a_crash_do_not_vouch_for_the_endpoint() -> None:
    """Too long for the model is a wrong answer, but every item being so is a fault."""
    too_long = Refused(http_status=400, message="maximum context length is 8")
    seen, failing = rejecting(range(20))
    failing.update(dict.fromkeys(failing, too_long))
    run = await start(seen)
    await seen.clock.run(until=seen.endpoint.seconds + seen.endpoint.spread)
    run.task.cancel()
    await seen.clock.settle()
    assert run.journal.answers[0].status is Status.CONTEXT_LENGTH
    findings, _ = await finished(seen, run.rows)
    assert findings.verdict.reason is Reason.ENDPOINT_FAULT


async def test_a_cancelled_one_keeps_the_counts_of_what_came() -> None:
    run = await start(world())
    await run.seen.clock.run(until=6.0)
    run.halt.set_result(WITHDRAWN)
    findings = await run.end()
    assert findings is not None
    assert findings.verdict == WITHDRAWN.verdict
    assert 0 < findings.answered == len(answered(run.rows)) < 20


@pytest.mark.parametrize("halt", [WITHDRAWN, Drain(seconds=9.0)])
async def test_a_halt_while_the_gate_is_closed_buys_nothing(halt: Halt) -> None:
    seen = world()
    seen.endpoint.served = Broken(cause=Breakdown.CONNECT)
    run = await start(seen)
    await seen.clock.run(until=2.0)
    run.halt.set_result(halt)
    findings = await run.end()
    assert (findings is None) == isinstance(halt, Drain)
    assert (seen.endpoint.asked, seen.clock.seconds) == ([], 1.5)


async def test_what_is_in_flight_is_stored_when_draining() -> None:
    run = await start(world())
    await run.seen.clock.run(until=3.5)
    out = len(run.seen.endpoint.asked)
    assert len(answered(run.rows)) < out
    run.halt.set_result(Drain(seconds=60.0))
    assert await run.end() is None
    assert len(answered(run.rows)) == out
    assert run.seen.clock.seconds < 10.0


async def test_what_does_not_finish_in_time_is_left_open() -> None:
    run = await start(world())
    await run.seen.clock.run(until=3.5)
    before = answered(run.rows)
    run.halt.set_result(Drain(seconds=0.25))
    assert await run.end() is None
    assert answered(run.rows) == before


async def test_a_defect_loses_no_answer_that_came_with_it() -> None:
    seen = world()
    seen.endpoint.seconds, seen.endpoint.spread = 0.0, 1
    seen.graders.defects = {"exact": 1}
    run = await start(seen)
    await seen.clock.run()
    with pytest.raises(ZeroDivisionError):
        run.task.result()
    assert len(answered(run.rows)) == 3


@pytest.mark.parametrize("count", [3, 5, 9, 15, 24])
async def test_retries_are_those_of_the_whole_evaluation(count: int) -> None:
    """Two are allowed for twenty draws, however often it is taken up."""
    first, second = busy(), busy()
    whole, begun_with = await finished(first)
    assert len(first.endpoint.asked) == begun_with.journal.usage.attempts == 22
    again, run = await finished(second, begun_with.rows[:count])
    assert run.journal.usage.attempts == 22
    assert again == whole


def busy() -> World:
    seen = world(concurrency=1)
    seen.endpoint.failing = {str(item): Refused(http_status=503) for item in range(60)}
    return seen


async def test_every_settled_answer_is_told_with_how_far_it_is() -> None:
    _, run = await finished(world(concurrency=1))
    told = run.seen.facts.of(AnswerSettled)
    assert [fact.answered for fact in told] == list(range(1, 21))
    assert {fact.draws for fact in told} == {20}
    assert [fact.status for fact in told] == [each.status for each in run.journal.answers]
