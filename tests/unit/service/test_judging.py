import asyncio
from dataclasses import replace

import pytest

from monitor.domain.answers import (
    Answer,
    Breakdown,
    Broken,
    Completed,
    Exchange,
    Judged,
    Refused,
    Status,
    Ungraded,
    Usage,
)
from monitor.domain.facts import Attempted, QuerySettled
from monitor.domain.identifiers import ItemId
from monitor.domain.results import Estimate, JudgeFigures, Outcome, Purpose, Reason
from monitor.domain.suites import AnswerRules, GraderSpec, Item
from monitor.service import judging
from monitor.service.asking import Allowance, Asking, Patience
from monitor.service.evaluating import Drain
from monitor.service.judging import Hearing, Panel, Seat
from monitor.service.lanes import Lane
from monitor.service.paid_asking import PaidAsking
from tests.unit.engine.examples import SUITE
from tests.unit.grading.test_judge_prompts import HOSTILE
from tests.unit.service.fakes import MemoryPaidAnswers
from tests.unit.service.hand_clock import HandClock
from tests.unit.service.judges import (
    ASKED,
    DENIED,
    ITEM,
    PAIRED,
    PAIRWISE,
    RATED,
    RATING,
    Decide,
    JudgeEndpoint,
    is_right,
    judged_world,
    replace_judge,
    said,
)
from tests.unit.service.worlds import PRICE, World, wanted


class Bench:
    """A panel of judges, each with its way of deciding."""

    def __init__(self, *decide: Decide) -> None:
        self.clock = HandClock()
        self.paid = MemoryPaidAnswers()
        self.told: list[tuple[str, Status, str]] = []
        self.endpoints = [JudgeEndpoint(self.clock, each) for each in decide]
        self.panel = self.again()

    def again(self, *, heard: bool = False) -> Panel:
        seats = [
            Seat(name=f"judge {number}", model=f"model {number}", asking=self._asking(endpoint))
            for number, endpoint in enumerate(self.endpoints)
        ]
        return Panel(seats, tell=lambda *what: self.told.append(what), heard=heard)

    def _asking(self, endpoint: JudgeEndpoint) -> PaidAsking:
        asking = Asking(
            endpoint=endpoint,
            lane=Lane(concurrency=8, clock=self.clock),
            allowance=Allowance(retries=100),
            patience=Patience(),
            rules=AnswerRules(),
            clock=self.clock,
            tell=lambda _: None,
            jitter=lambda: 0.5,
            confirm=lambda: asyncio.sleep(0),
        )
        return PaidAsking(asking, self.paid, base_url="http://judge/v1")

    async def grade(self, text: str, spec: GraderSpec = RATING, item: Item = ITEM) -> Hearing:
        task = asyncio.create_task(self.panel.grade(spec, item, asked=ASKED, text=text))
        await self.clock.run()
        return task.result()

    @property
    def calls(self) -> list[int]:
        return [len(endpoint.asked) for endpoint in self.endpoints]


def item(name: str) -> Item:
    return replace(ITEM, id=ItemId(name))


def rates(number: int) -> Decide:
    return lambda _: f"Fine.\nRating: {number}"


def prefers(text: str) -> Decide:
    return lambda shown: f"Verdict: {'A' if shown['answer A'] == text else 'B'}"


def takes_the_first(_: dict[str, str]) -> str:
    return "Verdict: A"


async def test_a_rating_becomes_a_score() -> None:
    bench = Bench(rates(4))
    hearing = await bench.grade("7")
    assert hearing.grade.score == 0.75
    assert bench.endpoints[0].asked == [{"answer": "7"}]
    (judged,) = hearing.judged
    assert (judged.calls, judged.unusable, judged.flipped) == (1, 0, None)
    assert (judged.usage.attempts, judged.usage.prompt_tokens) == (1, 100)


async def test_the_median_of_several_ratings_counts() -> None:
    hearing = await Bench(rates(1), rates(5), rates(4)).grade("7")
    assert hearing.grade.score == 0.75
    assert [each.judge for each in hearing.judged] == ["judge 0", "judge 1", "judge 2"]


@pytest.mark.parametrize(("decide", "score"), [(prefers("7"), 1.0), (prefers("0"), 0.0)])
async def test_a_pair_is_judged_in_both_orders(decide: Decide, score: float) -> None:
    bench = Bench(decide)
    hearing = await bench.grade("7", PAIRWISE)
    assert hearing.grade.score == score
    assert hearing.judged[0].flipped is False
    assert bench.endpoints[0].asked == [
        {"answer A": "7", "answer B": "0"},
        {"answer A": "0", "answer B": "7"},
    ]


@pytest.mark.parametrize("answer", ["7", "0"])
async def test_a_judge_that_goes_by_the_position_has_said_nothing(answer: str) -> None:
    hearing = await Bench(takes_the_first).grade(answer, PAIRWISE)
    assert (hearing.grade.score, hearing.judged[0].flipped) == (0.5, True)


@pytest.mark.parametrize("answer", HOSTILE)
async def test_what_an_answer_says_to_its_judge_is_only_quoted(answer: str) -> None:
    bench = Bench(lambda shown: f"It says: {shown['answer']}\n\nRating: 1")
    hearing = await bench.grade(answer)
    assert hearing.grade.score == 0.0
    assert bench.endpoints[0].asked == [{"answer": answer}]


async def test_an_answer_without_words_is_not_shown_to_judges() -> None:
    bench = Bench(rates(5))
    hearing = await bench.grade("<think>7")
    assert (hearing.grade.ungraded, bench.calls) == (Ungraded.NO_ANSWER, [0])


async def test_what_was_judged_once_is_not_paid_for_again() -> None:
    bench = Bench(rates(4))
    first = await bench.grade("7")
    bench.panel = bench.again()
    second = await bench.grade("7")
    assert (first.grade, bench.calls) == (second.grade, [1])
    assert (second.judged[0].calls, second.judged[0].usage.attempts) == (1, 0)
    assert len(bench.told) == 1


UNUSABLE = [said("I would say 4."), said(""), said("Rating: 9"), said("Rating: 4", "length")]


@pytest.mark.parametrize("reply", UNUSABLE)
async def test_a_reply_that_decides_nothing_is_asked_for_once_more(reply: Completed) -> None:
    replies = iter([reply, said("Rating: 4")])
    hearing = await Bench(lambda _: next(replies)).grade("7")
    assert hearing.grade.score == 0.75
    assert (hearing.judged[0].calls, hearing.judged[0].unusable) == (2, 1)


@pytest.mark.parametrize("reply", UNUSABLE)
async def test_two_such_replies_leave_the_answer_without_a_score(reply: Completed) -> None:
    bench = Bench(lambda _: reply)
    hearing = await bench.grade("7")
    assert (hearing.grade.ungraded, bench.calls) == (Ungraded.FAILED, [2])
    assert hearing.judged[0].usage.attempts == 2


async def test_replies_that_decided_nothing_are_not_held_against_a_judge_for_ever() -> None:
    bench = Bench(lambda _: "?")
    await bench.grade("7")
    bench.panel = bench.again()
    bench.endpoints[0].decide = rates(4)
    hearing = await bench.grade("7")
    assert hearing.grade.score == 0.75
    assert (hearing.judged[0].calls, hearing.judged[0].unusable, bench.calls) == (1, 0, [3])
    assert (await bench.grade("7")).grade.score == 0.75
    assert bench.calls == [3]


async def test_nothing_more_is_bought_once_a_judge_has_failed() -> None:
    bench = Bench(lambda _: "?", rates(5))
    hearing = await bench.grade("7")
    assert hearing.grade.ungraded is Ungraded.FAILED
    assert bench.calls == [2, 0]


async def test_a_pair_of_which_half_failed_has_no_score() -> None:
    bench = Bench(lambda shown: "Verdict: A" if shown["answer A"] == "7" else "?")
    hearing = await bench.grade("7", PAIRWISE)
    assert hearing.grade.ungraded is Ungraded.FAILED
    assert hearing.judged[0].flipped is None


NOTHING = "its replies decide nothing: the last"
FAILURES: list[tuple[str | Exchange, str]] = [
    (DENIED, "unauthorized: HTTP 401: no such key"),
    (Broken(cause=Breakdown.CONNECT, detail="refused"), "connect: refused"),
    (Refused(http_status=400, message="no"), "rejected: HTTP 400: no"),
    ("It is good.", f"{NOTHING} line of the last one is no decision"),
    (said("Rating: 4", "length"), f"{NOTHING} one was cut off at max_tokens"),
]


@pytest.mark.parametrize(("failure", "detail"), FAILURES)
async def test_answers_that_are_lost_in_the_same_way_are_a_fault_in_the_end(
    failure: str | Exchange, detail: str
) -> None:
    bench = Bench(lambda _: failure)
    most = judging.SAME_FAULTS if failure is DENIED else judging.NEVER_OF_USE
    for number in [0, *range(most - 1)]:
        await bench.grade(f"7 {number}", item=item(str(number)))
        assert bench.panel.fault is None
    await bench.grade("8", item=item("last"))
    assert bench.panel.fault == judging.JudgeFault(judge="judge 0", detail=detail)


@pytest.mark.parametrize("failure", [failure for failure, _ in FAILURES[1:]])
@pytest.mark.parametrize("earlier", [True, False])
async def test_a_judge_that_was_of_use_may_fail_on_some_answers(
    failure: str | Exchange, *, earlier: bool
) -> None:
    bench = Bench(lambda shown: failure if shown["answer"] != "0" else "Rating: 5")
    bench.panel = bench.again(heard=earlier)
    if not earlier:
        await bench.grade("0")
    for name in "abcdefghijkl":
        assert (await bench.grade(f"7 {name}", item=item(name))).grade.ungraded
    assert bench.panel.fault is None


async def test_a_judge_that_goes_down_for_good_ends_it() -> None:
    is_up = True
    bench = Bench(lambda _: "Rating: 5" if is_up else "It is good.")
    for up, names in [(True, 1), (False, 29), (True, 1), (False, 29)]:
        is_up = up
        for number in range(names):
            await bench.grade(f"{up} {number}", item=item(str(number)))
    assert bench.panel.fault is None
    await bench.grade("8", item=item("last"))
    assert bench.panel.fault is not None


async def test_a_key_that_is_withdrawn_is_a_fault_whenever_it_happens() -> None:
    bench = Bench(lambda shown: DENIED if shown["answer"] != "0" else "Rating: 5")
    await bench.grade("0")
    for name in "abc":
        await bench.grade(f"7 {name}", item=item(name))
    assert bench.panel.fault is not None


async def test_judges_have_their_own_line_in_the_spend() -> None:
    seen = judged_world(is_right, RATED)
    seen.submit(wanted("1", "sums"))
    await seen.serve()
    (result,) = seen.published
    assert isinstance(result.data.statistics.estimate, Estimate)
    line = result.data.spend.others[Purpose.JUDGE]
    assert (line.attempts, line.prompt_tokens, line.completion_tokens) == (20, 2000, 400)
    assert line.cost == PRICE.cost(prompt_tokens=2000, completion_tokens=400)
    assert result.data.spend.attempts == 20
    assert result.data.judging == {"strict": JudgeFigures(model="judge-1", calls=20)}
    assert {fact.purpose for fact in seen.facts.of(Attempted)} == set(Purpose) - {Purpose.SURROGATE}
    assert len(seen.facts.of(QuerySettled)) == 20


async def test_flips_are_counted_and_published() -> None:
    seen = judged_world(takes_the_first, PAIRED)
    seen.submit(wanted("1", "sums"))
    await seen.serve()
    figures = seen.published[0].data.judging["strict"]
    assert (figures.calls, figures.comparisons, figures.flips) == (40, 20, 20)


async def test_a_failing_judgement_is_missing_and_never_wrong() -> None:
    seen = judged_world(lambda shown: "?" if shown["answer"] > "3" else "Rating: 5", RATED)
    seen.catalog.known = None
    seen.submit(wanted("1", "sums"))
    await seen.serve()
    found = seen.published[0].data.statistics
    assert found.counts.keys() == {Status.GRADED, Status.GRADER}
    assert found.missing == found.counts[Status.GRADER]
    assert isinstance(found.estimate, Estimate)
    assert found.estimate.value == 1.0


async def test_a_judge_that_cannot_be_asked_ends_the_evaluation() -> None:
    seen = judged_world(lambda _: DENIED, RATED)
    seen.submit(wanted("1", "sums"))
    await seen.serve()
    (result,) = seen.published
    verdict = result.data.statistics.verdict
    assert (verdict.outcome, verdict.reason) == (Outcome.FAULTED, Reason.JUDGE_FAULT)
    assert "judge strict" in verdict.sentence
    assert "no such key" in verdict.sentence
    assert len(seen.endpoint.asked) < 10
    assert result.data.spend.others[Purpose.JUDGE].attempts < 10


async def interrupted() -> World:
    """A judged world whose process was killed halfway through an evaluation."""
    seen = judged_world(is_right, RATED)
    seen.submit(wanted("1", "sums"))
    process = seen.process()
    process.start()
    await process.run(until=12.0)
    await process.kill()
    return seen


async def test_an_evaluation_that_is_taken_up_keeps_what_judges_were_paid() -> None:
    seen = await interrupted()
    before = len(seen.paid.kept)
    await seen.serve()
    spend = seen.published[0].data.spend
    assert 0 < before < 20
    assert spend.others[Purpose.JUDGE].attempts + spend.maybe_repeated >= 20
    assert seen.published[0].data.judging["strict"].calls == 20


async def test_answers_of_two_panels_are_never_mixed() -> None:
    seen = await interrupted()
    asked = len(seen.endpoint.asked)
    replace_judge(seen, "judge-2")
    await seen.serve()
    verdict = seen.published[0].data.statistics.verdict
    assert (verdict.outcome, verdict.reason) == (Outcome.FAULTED, Reason.JUDGES_CHANGED)
    assert len(seen.endpoint.asked) == asked


async def test_what_is_paid_for_is_still_judged_when_it_is_to_stop() -> None:
    seen = judged_world(is_right, RATED)
    seen.submit(wanted("1", "sums"))
    process = seen.process()
    process.start()
    await process.run(until=12.0)
    asked = len(seen.endpoint.asked)
    await process.drain(Drain(seconds=60.0).seconds)
    await seen.serve()
    assert 0 < asked < 20
    assert len(seen.endpoint.asked) == 20
    assert seen.published[0].data.spend.maybe_repeated == 0


async def test_other_judges_make_another_measure() -> None:
    seen = judged_world(is_right, RATED)
    seen.submit(wanted("1", "sums"))
    await seen.serve()
    replace_judge(seen, "judge-2")
    seen.submit(wanted("2", "sums"))
    await seen.serve()
    plan = seen.published[1].data.statistics.plan
    assert plan is not None
    assert plan.baseline.reason == "judges_changed"  # type: ignore[union-attr]


def test_judges_have_retries_for_each_of_their_questions() -> None:
    three = GraderSpec(kind="judge", options={"mode": "pairwise", "judges": 3})
    assert judging.calls_per_answer(replace(SUITE, grader=three)) == 6
    assert judging.calls_per_answer(SUITE) == 0
    judged = Judged(judge="a", calls=6, unusable=0, flipped=False, usage=Usage(attempts=8))
    answers = [Answer(step=0, status=Status.GRADED, score=1.0, judged=(judged,))]
    assert judging.retries_left(replace(SUITE, grader=three), answers, margin=2) == 12 - 2
