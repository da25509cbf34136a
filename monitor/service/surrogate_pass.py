"""A surrogate answers every item of a suite, and no answer is paid for twice.

A pass that was broken off goes on with the answers that are missing; one that is repeated buys
nothing. Answers of two models are never mixed.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import ceil

from monitor.domain.answers import MISSING, ChatRequest, Completed, Status, Usage
from monitor.domain.errors import SurrogateError
from monitor.domain.facts import SurrogateAnswered, SurrogateAttempted, SurrogateEnded
from monitor.domain.results import Purpose
from monitor.domain.suites import Item, Suite
from monitor.domain.surrogates import Clustering, Served, SurrogateSettings, SurrogateSignal
from monitor.engine.statuses import Gradable, Settled, settle_grade
from monitor.grading import graders as grading
from monitor.ports import Clock, GraderRunner, PaidAnswers, Telemetry
from monitor.service.asking import Allowance, Asking, Attempt
from monitor.service.catalog import Target
from monitor.service.equivalences import Equivalence
from monitor.service.paid_asking import PaidAsking
from monitor.service.surrogate_checks import Progress, SameModel
from monitor.surrogate import measures, questions
from monitor.surrogate.clusters import Sampled, cluster
from monitor.surrogate.measures import Measure

NOTHING = Usage(attempts=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """The ports a pass works with; `jitter` draws uniformly from [0, 1)."""

    answers: PaidAnswers
    graders: GraderRunner
    clock: Clock
    telemetry: Telemetry
    jitter: Callable[[], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Surrogate:
    """Who answers, and how it is asked; `name` is that of its endpoint."""

    name: str
    target: Target
    settings: SurrogateSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """What a pass came to.

    bought: what was newly bought of the surrogate. compared: of a judge of its answers.
    """

    signal: SurrogateSignal
    bought: Usage
    compared: Usage


class SurrogatePass:
    """One surrogate and one suite."""

    def __init__(self, suite: Suite, surrogate: Surrogate, tools: Tools, *, software: str) -> None:
        """Ask nothing yet.

        Args:
            suite: what is asked.
            surrogate: who answers.
            tools: ports.
            software: name and version of this program.
        """
        self._suite = suite
        self._surrogate = surrogate
        self._tools = tools
        self._software = software
        target, settings = surrogate.target, surrogate.settings
        self._model = SameModel(
            surrogate.name,
            Served(base_url=target.base_url, model=target.model),
            same_fingerprint=settings.same_fingerprint,
        )
        self._reader = _Reader(
            suite=suite,
            graders=tools.graders,
            whole=settings.clustering is not Clustering.CANONICAL,
        )
        self._progress = Progress(surrogate.name, concurrency=target.concurrency)
        self._measures: list[Measure | None] = [None] * len(suite.items)
        self._answered = [0] * len(suite.items)
        self._counts = Counter[Status]()
        self._tokens = self._bought = NOTHING
        self._settled = self._wanted = 0

    async def missing(self) -> tuple[int, ...]:
        """Count the answers that each item still lacks; nothing is asked.

        Returns:
            (N,), each from 0 to K.

        Raises:
            SurrogateError: the answers so far are of different models.
            StateError: the store of answers cannot be read.
        """
        asking = self._asking(retries=0)
        counts = []
        for item in self._suite.items:
            found = [
                await asking.find(request, sample=number)
                for number, request in enumerate(self._requests(item))
            ]
            counts.append(found.count(None))
        return tuple(counts)

    async def run(self, equivalence: Equivalence) -> Passed:
        """Buy the answers that are missing, and measure how those to each item scatter.

        Args:
            equivalence: compares answers, as the surrogate's settings say.

        Raises:
            SurrogateError: the surrogate cannot be asked, does not answer or is another model than
                before, or its answers cannot be compared in this way.
            StateError: the store of answers cannot be used.
        """
        self._require_comparable()
        # What is there already says which model it is of before anything is asked.
        self._wanted = sum(await self.missing())
        asking = self._asking(retries=ceil(self._surrogate.settings.retry_share * self._wanted))
        places = iter(range(len(self._suite.items)))
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self._surrogate.target.concurrency):
                    group.create_task(self._work(places, asking, equivalence))
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from failed
        self._require_answers()
        self._tell_end()
        return Passed(signal=self._signal(), bought=self._bought, compared=equivalence.usage)

    def _requests(self, item: Item) -> Sequence[ChatRequest]:
        settings, model = self._surrogate.settings, self._surrogate.target.model
        return questions.requests(self._suite, item, settings, model=model)

    async def _work(
        self, places: Iterator[int], asking: PaidAsking, equivalence: Equivalence
    ) -> None:
        """Take up one item after the other, as long as there are any."""
        settings = self._surrogate.settings
        for place in places:
            item = self._suite.items[place]
            samples = await self._sample(place, item, asking)
            self._answered[place] = len(samples)
            if len(samples) >= settings.samples / 2:
                labels = await cluster(samples, partial(equivalence.alike, item))
                measured = measures.measure(samples, labels, likelihood=settings.likelihood)
                self._measures[place] = measured

    async def _sample(self, place: int, item: Item, asking: PaidAsking) -> Sequence[Sampled]:
        """The answers to one item; a request that is rejected as such is not repeated."""
        samples = []
        for number, request in enumerate(self._requests(item)):
            reply = await asking.ask(request, sample=number)
            self._bought += reply.usage
            reading = self._progress.absorb(place, reply.reading)
            settled, sampled = await self._reader.read(item, reading, reply.completed)
            self._counts[settled.status] += 1
            if not reply.stored:
                self._tell_answer(settled.status)
            if sampled is not None and reply.completed is not None:
                self._tokens += _tokens(reply.completed)
                samples.append(sampled)
            if settled.rejection:
                break
        return samples

    def _signal(self) -> SurrogateSignal:
        settings = self._surrogate.settings
        nothing = measures.unanswered(settings.samples)
        filled = [each or nothing for each in self._measures]
        return SurrogateSignal(
            suite=self._suite.name,
            suite_digest=self._suite.digest,
            surrogate=self._surrogate.name,
            served=self._model.served,
            settings=settings,
            entropy=tuple(each.entropy for each in filled),
            consistency=tuple(each.consistency for each in filled),
            single=tuple(each.single for each in filled),
            pass_rate=measures.pass_rates(self._measures),
            answered=tuple(self._answered),
            counts={str(status): self._counts[status] for status in sorted(self._counts)},
            prompt_tokens=self._tokens.prompt_tokens,
            completion_tokens=self._tokens.completion_tokens,
            software=self._software,
        )

    def _asking(self, *, retries: int) -> PaidAsking:
        target, tools = self._surrogate.target, self._tools
        asking = Asking(
            endpoint=target.endpoint,
            lane=target.lane,
            allowance=Allowance(retries=retries),
            patience=target.patience,
            # A surrogate that is too slow has not answered: no objective is set for it.
            rules=replace(self._suite.rules, latency_objective=False),
            clock=tools.clock,
            tell=self._tell_attempt,
            jitter=tools.jitter,
            confirm=_at_once,
        )
        return PaidAsking(
            asking,
            tools.answers,
            base_url=target.base_url,
            revision=self._surrogate.settings.revision,
            check=self._model.check,
        )

    def _require_comparable(self) -> None:
        paid = grading.outside(self._suite)
        if paid and self._surrogate.settings.clustering is Clustering.CANONICAL:
            raise SurrogateError(
                f"suite {self._suite.name!r}: its grader {paid[0].kind} takes no answer out of a"
                " text, so there is nothing to compare; set the surrogate's clustering to"
                " entailment or judge"
            )

    def _require_answers(self) -> None:
        if any(self._measures):
            return
        counts = ", ".join(f"{count} {status}" for status, count in sorted(self._counts.items()))
        raise SurrogateError(
            f"surrogate {self._surrogate.name!r}: no item of suite {self._suite.name!r} has half of"
            f" its answers ({counts}); try the endpoint by hand, and see whether"
            " max_tokens leaves room for an answer"
        )

    def _tell_attempt(self, attempt: Attempt) -> None:
        self._tools.telemetry.record(
            SurrogateAttempted(
                suite=self._suite.name,
                surrogate=self._surrogate.name,
                purpose=Purpose.SURROGATE,
                seconds=attempt.seconds,
                retried=attempt.retried,
                prompt_tokens=attempt.usage.prompt_tokens,
                completion_tokens=attempt.usage.completion_tokens,
            )
        )

    def _tell_answer(self, status: Status) -> None:
        self._settled += 1
        self._tools.telemetry.record(
            SurrogateAnswered(
                suite=self._suite.name,
                surrogate=self._surrogate.name,
                status=status,
                settled=self._settled,
                wanted=self._wanted,
            )
        )

    def _tell_end(self) -> None:
        self._tools.telemetry.record(
            SurrogateEnded(
                suite=self._suite.name,
                surrogate=self._surrogate.name,
                answered=sum(each is not None for each in self._measures),
                population=len(self._suite.items),
                usage=self._bought,
            )
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reader:
    """Turns what was read of a sample into an answer that can be compared."""

    suite: Suite
    graders: GraderRunner
    whole: bool

    async def read(
        self, item: Item, reading: Gradable | Settled, completed: Completed | None
    ) -> tuple[Settled, Sampled | None]:
        """Status of a sample, and the answer that it is, if it is one."""
        text, meaning = "", None
        if isinstance(reading, Settled):
            settled = reading
        else:
            text = reading.text
            settled, extracted = await self._grade(item, reading)
            meaning = text if self.whole and extracted is None else extracted
        if completed is None or settled.status in MISSING:
            return settled, None
        logprob = completed.mean_logprob
        sampled = Sampled(text=text, meaning=meaning, score=settled.score, mean_logprob=logprob)
        return settled, sampled

    async def _grade(self, item: Item, gradable: Gradable) -> tuple[Settled, str | None]:
        """Status, score and the answer taken out, as far as that costs nothing."""
        spec = self.suite.grader_of(item)
        if spec.kind in grading.OUTSIDE:
            return Settled(status=Status.GRADED), None
        grade = await self.graders.grade(spec, item, gradable.text)
        return settle_grade(gradable, grade), grade.extracted


async def _at_once() -> None:
    """Nobody else has to agree before a surrogate is asked."""


def _tokens(completed: Completed) -> Usage:
    return Usage(
        prompt_tokens=completed.prompt_tokens or 0,
        completion_tokens=completed.completion_tokens or 0,
    )
