"""Grading by judges: asked beside the version under evaluation, and never at its expense.

Judges have retries, a line in the spend and faults of their own. A judgement that fails leaves its
answer missing, never wrong. Since each missing answer has been paid for, a judge that turns us
away, or says nothing of use for long, ends the evaluation.

All judges of the suite have to judge an answer: a score by some of them would compare with none.
They are asked one after another, so that nothing more is bought once one has failed.
"""

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import assert_never

from monitor.domain.answers import Answer, ChatRequest, Grade, Judged, Status, Ungraded, Usage
from monitor.domain.identifiers import ItemId
from monitor.domain.results import JudgeFigures
from monitor.domain.suites import GraderSpec, Item, Message, Suite
from monitor.engine.statuses import EndpointFault, Gradable, Settled
from monitor.grading import graders, judge
from monitor.grading.judge import Judgement
from monitor.service.catalog import Judge
from monitor.service.paid_asking import PaidAsking, Reply

SAME_FAULTS = 3
NEVER_OF_USE = 10
"""Answers that are lost in the same way to a judge before its first judgement, however flaky."""
NO_MORE_OF_USE = 30
"""The same in a row to a judge that has judged before."""
REPLIES = 2
"""How often an evaluation puts a question to a judge whose replies decide nothing."""

Tell = Callable[[str, Status, str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """A judge, and how one evaluation asks it."""

    name: str
    model: str
    asking: PaidAsking


@dataclass(frozen=True, slots=True, kw_only=True)
class Hearing:
    """What became of an answer, and what each judge was asked about it."""

    grade: Grade
    judged: tuple[Judged, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeFault:
    """A judge cannot be asked: answers would be bought that nobody scores."""

    judge: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Failure:
    """Why there is no judgement; failures of one `kind` are alike.

    is_fault: it would not be otherwise for another answer.
    """

    kind: str
    detail: str
    is_fault: bool = False


class Panel:
    """The judges of one evaluation."""

    def __init__(self, seats: Sequence[Seat], *, tell: Tell, heard: bool = False) -> None:
        """Ask nobody yet.

        Args:
            seats: one for each judge.
            tell: is called with the judge's name, status and detail of each query that was sent.
            heard: answers of this evaluation have been judged before.
        """
        self._seats = seats
        self._tell = tell
        self._heard = {seat.name for seat in seats if heard}
        self._failed: defaultdict[tuple[str, str], set[ItemId]] = defaultdict(set)
        self.fault: JudgeFault | None = None

    async def grade(
        self, spec: GraderSpec, item: Item, *, asked: Sequence[Message], text: str
    ) -> Hearing:
        """Have a text judged.

        Args:
            spec: the grader, of kind `judge`.
            item: what was asked.
            asked: the messages that were sent.
            text: what came back.

        Raises:
            StateError: the store of paid answers failed.
        """
        answer = judge.answer_of(text)
        if answer is None:
            return Hearing(grade=Grade(ungraded=Ungraded.NO_ANSWER))
        questions = judge.questions(spec.options, item, asked, answer)
        judged: list[Judged] = []
        judgements: list[Judgement] = []
        for seat in self._seats:
            interview = _Interview(seat, spec, tell=self._tell)
            judgement = await interview.hold(questions)
            judged.append(interview.judged)
            if isinstance(judgement, _Failure):
                self._note(seat.name, item, judgement)
                return Hearing(grade=Grade(ungraded=Ungraded.FAILED), judged=tuple(judged))
            self._praise(seat.name)
            judgements.append(judgement)
        score = judge.agree(spec.options, judgements)
        return Hearing(grade=Grade(score=score), judged=tuple(judged))

    def _praise(self, name: str) -> None:
        """Take note of a judgement: what failed before it was not for good."""
        self._heard.add(name)
        for key in [key for key in self._failed if key[0] == name]:
            del self._failed[key]

    def _note(self, name: str, item: Item, failure: _Failure) -> None:
        """Take note of a failure; a judge that was of use before may fail on some answers."""
        alike = self._failed[name, failure.kind]
        alike.add(item.id)
        most = NO_MORE_OF_USE if name in self._heard else NEVER_OF_USE
        if len(alike) >= (SAME_FAULTS if failure.is_fault else most):
            self.fault = JudgeFault(judge=name, detail=failure.detail)


class _Interview:
    """What one judge says about one answer."""

    def __init__(self, seat: Seat, spec: GraderSpec, *, tell: Tell) -> None:
        self._seat = seat
        self._options = spec.options
        self._tell = tell
        self._calls = 0
        self._unusable = 0
        self._flipped: bool | None = None
        self._usage = Usage(attempts=0)

    @property
    def judged(self) -> Judged:
        """What was asked so far."""
        return Judged(
            judge=self._seat.name,
            calls=self._calls,
            unusable=self._unusable,
            flipped=self._flipped,
            usage=self._usage,
        )

    async def hold(self, questions: Sequence[tuple[Message, ...]]) -> Judgement | _Failure:
        """Put all questions; the first that fails is the last."""
        scores: list[float] = []
        for order, messages in enumerate(questions):
            score = await self._put(order, messages)
            if isinstance(score, _Failure):
                return score
            scores.append(score)
        judgement = judge.conclude(scores)
        if len(scores) > 1:
            self._flipped = judgement.flipped
        return judgement

    async def _put(self, order: int, messages: tuple[Message, ...]) -> float | _Failure:
        request = ChatRequest(
            model=self._seat.model,
            messages=messages,
            generation=judge.generation(self._options),
        )
        unusable, samples = 0, itertools.count()
        while True:
            reply = await self._seat.asking.ask(request, sample=next(samples))
            score = self._read(order, reply)
            if score is None and reply.stored:
                continue  # or a judge that was mended would fail by what it said before
            self._calls += 1
            self._usage += reply.usage
            if score is not None:
                return score
            if (failure := _failure(reply)) is not None:
                return failure
            self._unusable += 1
            unusable += 1
            if unusable == REPLIES:
                detail = f"its replies decide nothing: {_ending(reply)}"
                return _Failure(kind="unusable", detail=detail)

    def _read(self, order: int, reply: Reply) -> float | None:
        score, reading = None, reply.reading
        # Of a reply that was cut off, the number in its last line may be the half of one.
        if isinstance(reading, Gradable) and not reading.truncated:
            score = judge.read(self._options, order, reading.text)
        if not reply.stored:
            self._tell(self._seat.name, *_ended(reading, is_usable=score is not None))
        return score


def _ended(reading: Gradable | Settled | EndpointFault, *, is_usable: bool) -> tuple[Status, str]:
    """Status and detail of a query to a judge."""
    match reading:
        case Gradable():
            return Status.GRADED if is_usable else Status.NO_ANSWER, ""
        case Settled():
            return reading.status, reading.detail
        case EndpointFault():
            return Status.REJECTED, f"{reading.fault}: {reading.detail}"
        case _:
            assert_never(reading)


def _failure(reply: Reply) -> _Failure | None:
    """Why nothing came, None where something came that decides nothing."""
    match reply.reading:
        case EndpointFault(fault=fault, detail=detail):
            return _Failure(kind=fault, detail=f"{fault}: {detail}", is_fault=True)
        case Settled(status=status, detail=detail, rejection=rejection) if not reply.completed:
            return _Failure(kind=rejection or status, detail=f"{status}: {detail}")
        case _:
            return None


def _ending(reply: Reply) -> str:
    """Something to find the cause by, without its words: they may repeat the answer."""
    match reply.reading:
        case Gradable(truncated=True):
            return "the last one was cut off at max_tokens"
        case Gradable():
            return "the last line of the last one is no decision"
        case Settled(status=status) | EndpointFault(fault=status):
            return f"the last one is {status}"
        case _:
            assert_never(reply.reading)


def calls_per_answer(suite: Suite) -> int:
    """Most questions that are put to judges about one answer, repetitions left aside."""
    specs = [spec for spec in graders.outside(suite) if spec.kind == judge.KIND]
    return max((judge.calls(spec.options) for spec in specs), default=0)


def retries_left(suite: Suite, answers: Iterable[Answer], *, margin: int) -> int:
    """Retries of judges that are left to an evaluation.

    Args:
        suite: what is asked.
        answers: those that it has.
        margin: retries that the plan allows for the version's own answers; judges have as many for
            each question that is put about one answer.
    """
    judged = [each for answer in answers for each in answer.judged]
    repeated = sum(max(0, each.usage.attempts - each.calls) for each in judged)
    return margin * calls_per_answer(suite) - repeated


def figures(judges: Sequence[Judge], answers: Iterable[Answer]) -> dict[str, JudgeFigures]:
    """What each judge did, by its name; all zero for one that was never asked."""
    judged = [each for answer in answers for each in answer.judged]
    return {each.name: _figures_of(each, judged) for each in judges}


def _figures_of(of: Judge, judged: Sequence[Judged]) -> JudgeFigures:
    own = [each for each in judged if each.judge == of.name]
    return JudgeFigures(
        model=of.target.model,
        calls=sum(each.calls for each in own),
        unusable=sum(each.unusable for each in own),
        comparisons=sum(each.flipped is not None for each in own),
        flips=sum(each.flipped is True for each in own),
    )
