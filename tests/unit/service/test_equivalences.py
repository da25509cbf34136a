import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from monitor.domain.answers import ChatRequest, Completed, Exchange, Refused, Usage
from monitor.domain.errors import SurrogateError
from monitor.domain.suites import AnswerRules, GraderSpec, Item, Suite
from monitor.service.asking import Allowance, Asking, Patience
from monitor.service.equivalences import Canonical, Judged, MutualEntailment
from monitor.service.lanes import Lane
from monitor.service.paid_asking import PaidAsking
from monitor.surrogate.clusters import Sampled
from tests.unit.engine import examples
from tests.unit.service.fakes import InlineGraders, MemoryPaidAnswers
from tests.unit.service.hand_clock import HandClock

SUITE = examples.suite(2)
ITEM = SUITE.items[1]


def said(*texts: str) -> list[Sampled]:
    return [Sampled(text=text, meaning=text) for text in texts]


def graded_by(kind: str, item: Item = ITEM, **options: object) -> Suite:
    return replace(SUITE, grader=GraderSpec(kind=kind, options=options), items=(item,))


@pytest.mark.parametrize(
    ("suite", "opening", "others", "expected"),
    [
        (graded_by("numeric"), "1000", ["1,000", "1000.0", "1001"], [True, True, False]),
        (graded_by("normalised"), "The cat", ["the CAT.", "the cats"], [True, False]),
        (graded_by("math"), r"\frac{1}{2}", ["0.5", r"\frac{2}{4}", "2"], [True, True, False]),
        (graded_by("exact"), "yes", ["Yes"], [False]),
    ],
)
async def test_the_suites_own_grader_says_what_is_the_same(
    suite: Suite, opening: str, others: list[str], expected: list[bool]
) -> None:
    canonical = Canonical(suite, InlineGraders())
    assert await canonical.alike(suite.items[0], said(opening)[0], said(*others)) == expected


async def test_an_items_own_grader_compares_its_answers() -> None:
    item = replace(ITEM, grader=GraderSpec(kind="numeric"))
    canonical = Canonical(graded_by("exact", item), InlineGraders())
    assert await canonical.alike(item, said("2")[0], said("2.0")) == [True]


async def test_letters_of_shuffled_choices_are_those_of_the_suite() -> None:
    """Shown as A) no, B) yes: who says A and who says "no" mean the same."""
    item = replace(ITEM, choices=("yes", "no"), order=(1, 0))
    canonical = Canonical(graded_by("choice", item), InlineGraders())
    opening = Sampled(text="A", meaning="B")
    others = [Sampled(text="no", meaning="B"), Sampled(text="B", meaning="A")]
    assert await canonical.alike(item, opening, others) == [True, False]


class Scorer:
    """Implements `ports.Entailment` by a list of what entails what."""

    def __init__(self, *entailed: tuple[str, str]) -> None:
        self.entailed = entailed
        self.asked: list[Sequence[tuple[str, str]]] = []

    async def entails(self, pairs: Sequence[tuple[str, str]]) -> Sequence[bool]:
        self.asked.append(pairs)
        return [pair in self.entailed for pair in pairs]


async def test_only_what_is_entailed_both_ways_is_the_same() -> None:
    scorer = Scorer(("1 a", "1 b"), ("1 b", "1 a"), ("1 a", "1 c"), ("1 d", "1 a"))
    entailment = MutualEntailment(SUITE, scorer)
    assert await entailment.alike(ITEM, said("a")[0], said("b", "c", "d")) == [True, False, False]
    assert len(scorer.asked) == 1


class Judge:
    """Implements `ports.Endpoint`: says the same of each comparison, and counts them."""

    def __init__(self, exchange: Exchange) -> None:
        self.exchange = exchange
        self.asked: list[ChatRequest] = []

    async def ask(self, request: ChatRequest, *, seconds: float) -> Exchange:  # noqa: ARG002 - of the port
        self.asked.append(request)
        return self.exchange

    async def models(self, *, seconds: float) -> tuple[str, ...] | Exchange:
        raise AssertionError(seconds)


def judged(judge: Judge, answers: MemoryPaidAnswers | None = None) -> Judged:
    clock = HandClock()
    asking = Asking(
        endpoint=judge,
        lane=Lane(concurrency=1, clock=clock),
        allowance=Allowance(retries=0),
        patience=Patience(),
        rules=AnswerRules(),
        clock=clock,
        tell=lambda _: None,
        jitter=lambda: 0.5,
        confirm=lambda: asyncio.sleep(0),
    )
    paid = PaidAsking(asking, answers or MemoryPaidAnswers(), base_url="http://judge/v1")
    return Judged(SUITE, paid, name="referee", model="large")


@pytest.mark.parametrize(
    ("reply", "same"), [("Yes.", True), ("no", False), ("Yes, and ignore the rest.", False)]
)
async def test_a_judge_says_what_is_the_same(reply: str, *, same: bool) -> None:
    judge = Judge(Completed(content=reply, finish_reason="stop"))
    assert await judged(judge).alike(ITEM, said("a")[0], said("b")) == [same]
    assert judge.asked[0].model == "large"


async def test_a_judge_that_cannot_say_keeps_answers_apart() -> None:
    broken = judged(Judge(Refused(http_status=500)))
    assert await broken.alike(ITEM, said("a")[0], said("b")) == [False]


@pytest.mark.parametrize(
    ("exchange", "says"),
    [
        (Refused(http_status=500), r"server_error \(HTTP 500"),
        (Completed(content="Well.", finish_reason="stop"), "'Well.'"),
        (Completed(content="", finish_reason="length"), "truncated"),
    ],
)
async def test_a_judge_that_never_says_yes_or_no_is_given_up(exchange: Exchange, says: str) -> None:
    judge = Judge(exchange)
    with pytest.raises(SurrogateError, match=rf"'referee'.* last 20 questions .*{says}"):
        await judged(judge).alike(ITEM, said("a")[0], said(*map(str, range(50))))
    assert len(judge.asked) == 20


async def test_useless_replies_of_an_earlier_run_do_not_end_it() -> None:
    judge = Judge(Completed(content="Well.", finish_reason="stop"))
    answers = MemoryPaidAnswers()
    earlier, later = judged(judge, answers), judged(judge, answers)
    others = said(*map(str, range(19)))
    assert not any(await earlier.alike(ITEM, said("a")[0], others))
    assert not any(await later.alike(ITEM, said("a")[0], [*others, *said("b")]))
    assert len(judge.asked) == 20


async def test_a_judge_that_decides_now_and_then_goes_on() -> None:
    judge = Judge(Completed(content="no", finish_reason="stop"))
    referee = judged(judge)
    for number in range(60):
        said_now = "Well." if number % 10 else "no"
        judge.exchange = Completed(content=said_now, finish_reason="stop")
        await referee.alike(ITEM, said("a")[0], said(str(number)))
    assert len(judge.asked) == 60


async def test_what_a_judge_takes_is_counted_once() -> None:
    completed = Completed(content="no", finish_reason="stop", prompt_tokens=50, completion_tokens=1)
    once = judged(Judge(completed))
    for _ in range(2):
        await once.alike(ITEM, said("a")[0], said("b", "c"))
    assert once.usage == Usage(attempts=2, prompt_tokens=100, completion_tokens=2)


async def test_a_judge_that_cannot_be_asked_ends_it() -> None:
    with pytest.raises(SurrogateError, match="'referee', which compares answers: unauthorized"):
        await judged(Judge(Refused(http_status=401))).alike(ITEM, said("a")[0], said("b"))
