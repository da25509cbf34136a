import asyncio
from dataclasses import replace
from typing import Any

import pytest

from monitor.domain.errors import OwnershipLost, StateCorrupt
from monitor.domain.events import EvaluationWanted
from monitor.domain.facts import EvaluationFailed
from monitor.domain.identifiers import EvaluationId, VersionName, digest
from monitor.domain.plans import Answered, Drawn, Ended, Plan, Planned, Row
from monitor.domain.policies import AtLeast, Budget, EstimateOnly, Method, Policy
from monitor.domain.results import (
    Baseline,
    NoBaseline,
    NoBaselineReason,
    NoEstimate,
    NoEstimateReason,
    Outcome,
    Purpose,
    Reason,
    SpendLine,
    Verdict,
)
from monitor.ports import Commit, Entry
from monitor.service import intake, jobs, publishing
from monitor.service.evaluating import Cancel, Drain
from monitor.service.jobs import Assignment, Ending, Job
from monitor.wire import journal, results
from tests.unit.engine.examples import SURROGATE, surrogate
from tests.unit.service.fakes import MemoryBus, lose_ownership
from tests.unit.service.worlds import USUAL, World, identity_of, wanted, world

WITHDRAWN = Cancel(
    verdict=Verdict(outcome=Outcome.CANCELLED, reason=Reason.WITHDRAWN, sentence="It is gone.")
)


def job(
    seen: World,
    event: EvaluationWanted = wanted("1", "sums"),  # noqa: B008 - frozen
    *,
    bus: MemoryBus | None = None,
) -> Job:
    """A job for an event at the end of the topic, with what is stored of it already."""
    seen.submit(event)
    record = seen.store.records[0][-1]
    read = intake.read(record, catalog=seen.catalog, limits=USUAL.limits, now=seen.clock.now())
    assert isinstance(read, intake.Requests)
    (request,) = read.requests
    assignment = Assignment(
        subject=request.subject,
        event=event,
        suite=request.suite,
        target=read.target,
        entries=stored(seen, request.subject.evaluation_id),
    )
    return Job(seen.surroundings(bus or MemoryBus(seen.store)), assignment)


def stored(seen: World, identity: EvaluationId) -> list[Entry]:
    return [entry for _, entry in sorted(seen.store.journals[0][identity].items())]


async def run(seen: World, wanted_job: Job) -> Ending | None:
    running = asyncio.create_task(wanted_job.run())
    await seen.clock.run()
    return running.result()


async def ended(seen: World, version: str = "1", **wishes: object) -> Ending:
    ending = await run(seen, job(seen, wanted(version, "sums", **wishes)))
    assert ending is not None
    return ending


async def interrupted(seen: World, at: float = 6.0) -> list[Row]:
    """Drain a job at a moment; returns the rows that it leaves behind."""
    leaving = job(seen)
    running = asyncio.create_task(leaving.run())
    await seen.clock.run(until=at)
    leaving.stop(Drain(seconds=0.0))
    await seen.clock.run()
    assert running.result() is None
    entries = stored(seen, leaving.subject.evaluation_id)
    return [journal.decode(entry.value) for entry in entries if entry.value is not None]


def plan_of(ending: Ending) -> Plan:
    assert ending.fact.plan is not None
    return ending.fact.plan


def reason(ending: Ending) -> Reason:
    return ending.fact.findings.verdict.reason


def statistics(ending: Ending) -> bytes:
    return results.statistics_of(ending.commit.messages[0].value)


async def test_a_job_ends_with_what_is_to_be_committed_and_told() -> None:
    seen = world()
    ending = await ended(seen)
    assert all(not commit.messages for commit in seen.store.commits)
    assert len(ending.commit.messages) == 2
    completed = results.decode(ending.commit.messages[0].value)
    assert completed.findings() == ending.fact.findings
    assert (completed.data.spend, completed.data.times.seconds) == (
        ending.fact.spend,
        ending.fact.seconds,
    )
    assert ending.fact.spend.attempts == len(seen.endpoint.asked)
    assert ending.fact.spend.cost is not None


async def test_the_same_event_gives_the_same_bytes() -> None:
    assert statistics(await ended(world())) == statistics(await ended(world()))


async def test_an_events_wishes_are_planned() -> None:
    objective, budget = AtLeast(threshold=0.1), Budget(count=30)
    ending = await ended(world(), objective=objective, budget=budget, method=Method.SIMPLE)
    plan = plan_of(ending)
    assert (plan.objective, plan.method, plan.draws) == (objective, "simple", 30)
    assert reason(ending) is Reason.ABOVE_THRESHOLD


async def test_a_plan_names_what_it_is_compared_with() -> None:
    seen = world()
    first = await ended(seen)
    seen.store.apply(first.commit)
    second = plan_of(await ended(seen, "2")).baseline
    assert isinstance(second, Baseline)
    assert second.evaluation_id == first.fact.evaluation_id
    named = plan_of(await ended(seen, "3", previous_version=VersionName("0"))).baseline
    assert named == NoBaseline(reason=NoBaselineReason.NOT_EVALUATED)


@pytest.mark.parametrize("case", ["nothing to buy", "record too large"])
async def test_what_cannot_be_planned_is_a_fault_at_once(case: str) -> None:
    seen = world(policy=Policy(budget=Budget(count=0)) if case == "nothing to buy" else None)
    seen.record_limit = 900 if case == "record too large" else seen.record_limit
    ending = await ended(seen)
    verdict = ending.fact.findings.verdict
    assert (verdict.outcome, verdict.reason) == (Outcome.FAULTED, Reason.INVALID_PLAN)
    assert verdict.sentence.startswith("It cannot be planned: ")
    assert (seen.endpoint.asked, seen.store.commits) == ([], [])
    assert seen.facts.of(EvaluationFailed) == []


async def test_a_defect_is_told_of_and_the_evaluation_tried_again() -> None:
    seen = world()
    seen.graders.defects = {"exact": 2}
    ending = await ended(seen)
    first, second = (fact.detail for fact in seen.facts.of(EvaluationFailed))
    assert first == second
    assert first.startswith("ZeroDivisionError('while grading ")
    assert statistics(ending) == statistics(await ended(world()))


async def test_a_defect_that_stays_is_a_fault() -> None:
    seen = world()
    seen.graders.defects = {"exact": 99}
    ending = await ended(seen)
    verdict = ending.fact.findings.verdict
    assert (verdict.outcome, verdict.reason) == (Outcome.FAULTED, Reason.INTERNAL_ERROR)
    assert len(seen.facts.of(EvaluationFailed)) == jobs.ATTEMPTS_AFTER_A_DEFECT
    assert len(ending.commit.messages) == 1


async def test_a_defect_while_publishing_is_like_any_other(monkeypatch: pytest.MonkeyPatch) -> None:
    seen, publish = world(), publishing.publish
    calls: list[publishing.Publication] = []

    def fail_once(publication: publishing.Publication, **rest: Any) -> Commit:  # noqa: ANN401 - passed on
        calls.append(publication)
        if len(calls) == 1:
            raise ZeroDivisionError
        return publish(publication, **rest)

    monkeypatch.setattr(publishing, "publish", fail_once)
    ending = await ended(seen)
    assert reason(ending) is Reason.ESTIMATED
    assert len(seen.endpoint.asked) == 20


@pytest.mark.parametrize("case", ["planned", "nothing to buy"])
async def test_a_defect_in_publishing_a_fault_leaves_the_evaluation_open(
    case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = world(policy=Policy(budget=Budget(count=0)) if case == "nothing to buy" else None)

    def fail(*_: object, **__: object) -> None:
        raise OverflowError("too large")

    monkeypatch.setattr(publishing, "publish", fail)
    assert await run(seen, job(seen)) is None
    assert seen.facts.of(EvaluationFailed)[-1].detail == "OverflowError('too large')"
    assert all(not commit.messages for commit in seen.store.commits)


async def test_a_failing_look_up_is_a_defect(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = world()

    async def fail(*_: object) -> None:
        raise OSError("history is gone")

    monkeypatch.setattr(seen.catalog, "history", fail)
    assert reason(await ended(seen)) is Reason.INTERNAL_ERROR
    assert "history is gone" in seen.facts.of(EvaluationFailed)[0].detail


@pytest.mark.parametrize("number", [0, 1, 8])
async def test_ownership_that_is_lost_is_not_a_defect(number: int) -> None:
    seen = world()
    bus = MemoryBus(seen.store)

    async def lose_at(commit: Commit) -> None:
        if len(seen.store.commits) == number:
            await lose_ownership(commit)

    bus.before = lose_at
    with pytest.raises(OwnershipLost):
        await run(seen, job(seen, bus=bus))
    assert seen.facts.of(EvaluationFailed) == []


async def test_stored_rows_that_contradict_each_other_end_the_process() -> None:
    seen = world()
    plan, first, *_ = await interrupted(seen)
    identity = job(seen).subject.evaluation_id
    rows = seen.store.journals[0][identity]
    rows.clear()
    for number, row in enumerate([plan, first, first]):
        rows[number] = Entry(evaluation_id=identity, sequence=number, value=journal.encode(row))
    with pytest.raises(StateCorrupt, match=f"evaluation {identity}"):
        await run(seen, job(seen))


async def test_a_halt_before_the_plan_ends_it_unasked() -> None:
    seen = world()
    halted = job(seen)
    halted.stop(WITHDRAWN)
    ending = await run(seen, halted)
    assert ending is not None
    assert ending.fact.findings.estimate == NoEstimate(reason=NoEstimateReason.NOT_STARTED)
    assert (ending.fact.plan, seen.endpoint.asked) == (None, [])
    assert reason(ending) is Reason.WITHDRAWN


async def test_a_drain_before_the_plan_leaves_nothing() -> None:
    seen = world()
    halted = job(seen)
    halted.stop(Drain(seconds=9.0))
    assert await run(seen, halted) is None
    assert seen.store.commits == []


async def test_the_first_halt_counts() -> None:
    seen = world()
    halted = job(seen)
    halted.stop(Drain(seconds=0.0))
    halted.stop(WITHDRAWN)
    assert await run(seen, halted) is None


async def test_a_job_is_taken_up_where_it_was_left() -> None:
    seen = world()
    rows = await interrupted(seen)
    assert {type(row) for row in rows[1:]} == {Drawn, Answered}
    again = job(seen)
    assert again.is_begun
    ending = await run(seen, again)
    assert ending is not None
    assert statistics(ending) == statistics(await ended(world()))
    assert ending.fact.spend.maybe_repeated > 0


async def test_a_withdrawal_of_what_is_taken_up_keeps_its_counts() -> None:
    seen = world()
    await interrupted(seen)
    again = job(seen)
    again.stop(WITHDRAWN)
    asked = len(seen.endpoint.asked)
    ending = await run(seen, again)
    assert ending is not None
    assert ending.fact.findings.answered > 0
    assert len(seen.endpoint.asked) == asked


async def test_the_plan_stands_though_the_policy_has_changed() -> None:
    seen = world()
    await interrupted(seen)
    seen.catalog.wishes = Policy(objective=AtLeast(threshold=0.99), budget=Budget(count=50))
    assert statistics(await ended(seen)) == statistics(await ended(world()))


async def test_a_suite_that_has_changed_meanwhile_ends_it() -> None:
    seen = world()
    await interrupted(seen)
    (name,) = seen.catalog.suites
    seen.catalog.suites[name] = replace(seen.catalog.suites[name], digest=digest("changed"))
    ending = await ended(seen)
    assert ending.fact.findings.verdict.outcome is Outcome.FAULTED
    assert reason(ending) is Reason.SUITE_CHANGED


async def test_it_goes_on_without_its_history() -> None:
    seen = world()
    await interrupted(seen)
    seen.catalog.known = None
    ending = await ended(seen)
    assert reason(ending) is Reason.ESTIMATED
    assert plan_of(ending).inference.guide == "item_mean"


BOUGHT = SpendLine(attempts=240, prompt_tokens=9, completion_tokens=8, cost=None)


def stratified() -> World:
    """A world whose suite has a surrogate that has been asked, and no history."""
    seen = world(policy=Policy(objective=EstimateOnly(), budget=Budget(count=20)))
    seen.catalog.known, seen.catalog.told = None, SURROGATE
    return seen


async def test_strata_are_of_what_the_surrogate_told() -> None:
    plan = plan_of(await ended(stratified()))
    assert (plan.inference.design, plan.signal_digest) == ("stratified", SURROGATE.digest)


async def test_a_plan_without_draws_is_gone_on_with_by_what_the_surrogate_told() -> None:
    seen = stratified()
    rows = await interrupted(seen, at=0.0)
    assert [type(row) for row in rows] == [Planned, Drawn]
    del seen.store.journals[0][identity_of("1")][1]
    again, undisturbed = await ended(seen), await ended(stratified())
    # The record has what was predicted of each draw.
    assert again.commit.messages[1] == undisturbed.commit.messages[1]


async def test_strata_stand_though_the_surrogate_tells_something_else() -> None:
    seen = stratified()
    undisturbed = plan_of(await ended(stratified()))
    await interrupted(seen)
    seen.catalog.told = surrogate(names=("other",))
    ending = await ended(seen)
    assert reason(ending) is Reason.ESTIMATED
    assert plan_of(ending) == undisturbed


UNASKED = "; surrogates a and b have not been asked: run variant-monitor surrogate ask."


@pytest.mark.parametrize(
    ("method", "sentence"),
    [
        (Method.AUTO, f"Drawn where earlier models disagree, as history allows{UNASKED}"),
        (Method.NEYMAN, f"Plain random sampling{UNASKED}"),
        (Method.SIMPLE, "Plain random sampling, as asked."),
    ],
)
async def test_surrogates_that_were_not_asked_are_told(method: Method, sentence: str) -> None:
    seen = world()
    seen.catalog.asked_first = ("a", "b")
    assert plan_of(await ended(seen, method=method)).reason == sentence


async def test_what_was_paid_for_an_evaluation_is_in_its_result_alone() -> None:
    seen = stratified()
    paid, unpaid = job(seen), job(seen, wanted("2", "sums"))
    seen.bought = {paid.subject.evaluation_id: BOUGHT}
    endings = [await run(seen, job(seen)), await run(seen, unpaid)]
    spends = [ending.fact.spend.others for ending in endings if ending is not None]
    assert spends == [{Purpose.SURROGATE: BOUGHT}, {}]


async def test_its_time_begins_with_its_plan() -> None:
    seen = world()
    await interrupted(seen)
    seen.clock.seconds = 100.0
    ending = await ended(seen)
    assert ending.fact.seconds > 100.0
    assert isinstance(journal.decode(ending.commit.entries[-1].value or b""), Ended)
