import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import log

import pytest

from monitor.domain.answers import (
    Breakdown,
    Broken,
    ChatRequest,
    Completed,
    Exchange,
    Refused,
    Usage,
)
from monitor.domain.errors import SurrogateError
from monitor.domain.facts import SurrogateAnswered, SurrogateAttempted, SurrogateEnded
from monitor.domain.suites import AnswerRules, GraderSpec, Item, Suite
from monitor.domain.surrogates import Clustering, SurrogateSettings
from monitor.service.asking import Patience
from monitor.service.catalog import Target
from monitor.service.equivalences import Canonical, Equivalence
from monitor.service.lanes import Lane
from monitor.service.surrogate_pass import Passed, Surrogate, SurrogatePass, Tools
from monitor.surrogate.clusters import Sampled
from tests.unit.engine import examples
from tests.unit.service.fakes import Facts, InlineGraders, MemoryPaidAnswers
from tests.unit.service.hand_clock import HandClock

SUITE = examples.suite(6)
SETTINGS = SurrogateSettings(samples=4)
BUSY = Refused(http_status=503)
TOO_LONG = Refused(http_status=400, message="context length exceeded")

Saying = Callable[[str, int], str | Exchange]


def right(question: str, number: int) -> str:  # noqa: ARG001 - as a `Saying`
    return question


def scattered(question: str, number: int) -> str:
    """Right the first time, and then so many different wrong answers as the question says."""
    wrong = min(number, int(question))
    return str(100 + wrong) if wrong else question


@dataclass
class Small:
    """Implements `ports.Endpoint`: says something for the n-th time that an item is asked."""

    clock: HandClock
    saying: Saying
    model: str = "small-1"
    asked: Counter[str] = field(default_factory=Counter)

    async def ask(self, request: ChatRequest, *, seconds: float) -> Exchange:  # noqa: ARG002 - of the port
        question = str(request.messages[-1].content)
        self.asked[question] += 1
        said = self.saying(question, self.asked[question] - 1)
        await self.clock.sleep(1.0)
        if not isinstance(said, str):
            return said
        return Completed(
            content=said,
            finish_reason="stop",
            prompt_tokens=10,
            completion_tokens=2,
            served_model=self.model,
        )

    async def models(self, *, seconds: float) -> tuple[str, ...] | Exchange:
        raise AssertionError(seconds)


class Bench:
    """A process that makes a pass; `answers` outlive it."""

    def __init__(
        self,
        saying: Saying = right,
        *,
        suite: Suite = SUITE,
        settings: SurrogateSettings = SETTINGS,
        answers: MemoryPaidAnswers | None = None,
        model: str = "small-1",
    ) -> None:
        self.clock, self.facts = HandClock(), Facts()
        self.endpoint = Small(self.clock, saying, model)
        self.answers = answers or MemoryPaidAnswers()
        target = Target(
            model="small",
            base_url="http://small/v1",
            endpoint=self.endpoint,
            lane=Lane(concurrency=2, clock=self.clock),
            concurrency=2,
            patience=Patience(attempts=2),
            gate_seconds=60.0,
            price=None,
        )
        tools = Tools(
            answers=self.answers,
            graders=InlineGraders(),
            clock=self.clock,
            telemetry=self.facts,
            jitter=lambda: 0.5,
        )
        surrogate = Surrogate(name="little", target=target, settings=settings)
        self.made = SurrogatePass(suite, surrogate, tools, software="0")
        self.equivalence: Equivalence = Canonical(suite, tools.graders)

    async def run(self, until: float = 1e9) -> Passed:
        task = asyncio.create_task(self.made.run(self.equivalence))
        await self.clock.run(until)
        if not task.done():
            task.cancel()
        return await task


async def test_every_item_is_asked_so_many_times() -> None:
    bench = Bench()
    passed = await bench.run()
    assert bench.endpoint.asked == {str(item): 4 for item in range(6)}
    assert passed.bought == Usage(attempts=24, prompt_tokens=240, completion_tokens=48)
    assert passed.signal.answered == (4,) * 6


async def test_the_same_answer_everywhere_tells_nothing() -> None:
    signal = (await Bench().run()).signal
    assert set(signal.entropy) == {0.0}
    assert (all(signal.single), signal.pass_rate) == (True, (1.0,) * 6)


async def test_scattered_answers_tell_which_items_are_hard() -> None:
    signal = (await Bench(scattered).run()).signal
    assert sorted(signal.entropy) == list(signal.entropy)
    assert signal.entropy[3:] == pytest.approx([log(4)] * 3)
    assert signal.consistency == (1.0, 0.75, 0.5, 0.25, 0.25, 0.25)
    assert signal.single == (True, False, False, False, False, False)
    assert signal.pass_rate == (1.0, 0.25, 0.25, 0.25, 0.25, 0.25)


async def test_it_says_what_it_is_of() -> None:
    signal = (await Bench().run()).signal
    assert (signal.suite, signal.suite_digest, signal.surrogate) == ("sums", SUITE.digest, "little")
    assert (signal.served.model, signal.served.served_model) == ("small", "small-1")
    assert (signal.settings, signal.counts) == (SETTINGS, {"graded": 24})
    assert (signal.prompt_tokens, signal.completion_tokens) == (240, 48)


async def test_one_sample_tells_the_pass_rate_alone() -> None:
    signal = (await Bench(settings=SurrogateSettings(samples=1)).run()).signal
    assert (set(signal.entropy), all(signal.single)) == ({0.0}, True)
    assert signal.pass_rate == (1.0,) * 6


async def test_a_repeated_pass_is_free_and_the_same() -> None:
    first = Bench(scattered)
    signal = (await first.run()).signal
    again = Bench(lambda *_: BUSY, answers=first.answers)
    assert await again.made.missing() == (0,) * 6
    passed = await again.run()
    assert (passed.signal, passed.bought) == (signal, Usage(attempts=0))
    assert again.endpoint.asked == {}


@pytest.mark.parametrize("seconds", [0.5, 1.5, 4.5, 10.5])
async def test_a_pass_that_was_killed_asks_for_what_is_missing(seconds: float) -> None:
    killed = Bench()
    with pytest.raises(asyncio.CancelledError):
        await killed.run(until=seconds)
    kept = len(killed.answers.kept)
    assert kept == 2 * int(seconds)
    later = Bench(answers=killed.answers)
    assert sum(await later.made.missing()) == 24 - kept
    passed = await later.run()
    assert later.endpoint.asked.total() == 24 - kept
    assert passed.signal == (await Bench().run()).signal


async def test_other_settings_have_answers_of_their_own() -> None:
    first = Bench()
    await first.run()
    for changed in (replace(SETTINGS, temperature=0.7), replace(SETTINGS, revision="b")):
        other = Bench(settings=changed, answers=first.answers)
        assert sum(await other.made.missing()) == 24
    more = Bench(settings=replace(SETTINGS, samples=5), answers=first.answers)
    assert await more.made.missing() == (1,) * 6


async def test_another_model_under_the_same_name_is_not_mixed_in() -> None:
    killed = Bench()
    with pytest.raises(asyncio.CancelledError):
        await killed.run(until=4.5)
    changed = Bench(answers=killed.answers, model="small-2")
    with pytest.raises(SurrogateError, match=r"'little'.* of small-1, .* answers as small-2"):
        await changed.run()
    assert len(killed.answers.kept) == 8
    assert (await Bench(answers=killed.answers).run()).signal.served.served_model == "small-1"


async def test_what_is_kept_says_which_model_it_is_before_anything_is_asked() -> None:
    first = Bench(lambda asked, _: BUSY if asked in "01" else asked)
    await first.run()
    kept = dict(first.answers.kept)
    changed = Bench(answers=first.answers, model="small-2")
    with pytest.raises(SurrogateError, match="answers as small-2"):
        await changed.run()
    assert first.answers.kept == kept


async def test_a_surrogate_that_never_answers_is_given_up() -> None:
    bench = Bench(lambda *_: BUSY, suite=examples.suite(60))
    with pytest.raises(SurrogateError, match=r"last 20 questions brought no answer.*server_error"):
        await bench.run()
    # The allowance for the 240 answers is 24 retries.
    assert bench.endpoint.asked.total() <= 20 + 20 + 2


async def test_a_surrogate_that_is_too_slow_is_given_up_whatever_the_suite_says() -> None:
    demanding = replace(examples.suite(60), rules=AnswerRules(latency_objective=True))
    bench = Bench(lambda *_: Broken(cause=Breakdown.TIMEOUT), suite=demanding)
    with pytest.raises(SurrogateError, match="because of timeout"):
        await bench.run()


async def test_a_surrogate_that_turns_us_away_is_left_alone() -> None:
    bench = Bench(lambda *_: Refused(http_status=401))
    with pytest.raises(SurrogateError, match="unauthorized: HTTP 401"):
        await bench.run()
    assert bench.endpoint.asked.total() <= 2


async def test_an_item_without_answers_counts_as_uncertain() -> None:
    """Item 1 is answered half of the time, item 2 less often, item 3 is never taken."""
    answers: dict[str, Sequence[str | Exchange]] = {
        "1": ["1", BUSY, BUSY, BUSY, BUSY, "1"],
        "2": ["2", BUSY, BUSY, BUSY, BUSY, BUSY, BUSY],
        "3": [TOO_LONG],
    }
    bench = Bench(lambda asked, number: answers[asked][number] if asked in answers else asked)
    signal = (await bench.run()).signal
    assert signal.answered == (4, 2, 1, 0, 4, 4)
    assert signal.entropy == (0.0, 0.0, log(4), log(4), 0.0, 0.0)
    assert signal.pass_rate == (1.0,) * 6
    assert bench.endpoint.asked["3"] == 1


async def test_no_item_with_half_of_its_answers_is_an_error() -> None:
    once = {"graded": 6, "empty_content": 18}
    empty = Completed(content="", finish_reason="stop")
    bench = Bench(lambda asked, number: asked if number == 0 else empty)
    with pytest.raises(SurrogateError, match=r"no item of suite 'sums' has half") as raised:
        await bench.run()
    for status, count in once.items():
        assert f"{count} {status}" in str(raised.value)


async def test_what_the_grader_finds_nothing_in_is_apart() -> None:
    """No number in any answer: four answers of four meanings, all of them wrong."""
    suite = replace(SUITE, grader=GraderSpec(kind="numeric"))
    signal = (await Bench(lambda *_: "no idea", suite=suite).run()).signal
    assert signal.entropy[1] == pytest.approx(log(4))
    assert (signal.pass_rate, signal.counts) == ((0.0,) * 6, {"no_answer": 24})


class ByLength:
    """Implements `Equivalence`: texts of one length mean the same."""

    usage = Usage(attempts=3)

    async def alike(self, _: Item, opening: Sampled, others: Sequence[Sampled]) -> Sequence[bool]:
        return [len(opening.meaning or "") == len(other.meaning or "") for other in others]


JUDGED = replace(
    SUITE, grader=GraderSpec(kind="judge", options={"mode": "rating", "scale": [1, 5]})
)


async def test_where_the_grader_has_to_be_paid_whole_texts_are_compared() -> None:
    by_judge = replace(SETTINGS, clustering=Clustering.JUDGE)
    bench = Bench(lambda _, number: "abcd"[number], suite=JUDGED, settings=by_judge)
    bench.equivalence = ByLength()
    passed = await bench.run()
    assert all(passed.signal.single)
    assert (passed.signal.pass_rate, passed.compared) == (None, Usage(attempts=3))


async def test_a_grader_that_has_to_be_paid_cannot_compare() -> None:
    bench = Bench(suite=JUDGED)
    with pytest.raises(
        SurrogateError, match=r"grader judge takes no answer .* entailment or judge"
    ):
        await bench.run()
    assert bench.endpoint.asked == {}


async def test_facts_tell_how_far_it_is() -> None:
    bench = Bench(lambda asked, number: BUSY if (asked, number) == ("0", 0) else asked)
    await bench.run()
    answered = bench.facts.of(SurrogateAnswered)
    assert [fact.settled for fact in answered] == list(range(1, 25))
    assert {fact.wanted for fact in answered} == {24}
    attempts = bench.facts.of(SurrogateAttempted)
    assert [fact.retried for fact in attempts].count(None) == 24
    assert len(attempts) == 25
    usage = Usage(attempts=25, prompt_tokens=240, completion_tokens=48)
    assert bench.facts.of(SurrogateEnded) == [
        SurrogateEnded(suite=SUITE.name, surrogate="little", answered=6, population=6, usage=usage)
    ]
