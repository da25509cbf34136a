"""Ways of deciding whether two answers to an item mean the same."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol, assert_never

from monitor.domain.answers import Usage
from monitor.domain.errors import SurrogateError
from monitor.domain.suites import Item, Suite
from monitor.engine.statuses import EndpointFault, Gradable, Settled
from monitor.ports import Entailment, GraderRunner
from monitor.service.paid_asking import PaidAsking
from monitor.service.surrogate_checks import FAILURES_IN_A_ROW, KEPT
from monitor.surrogate import questions
from monitor.surrogate.clusters import Sampled

NOTHING = Usage(attempts=0)
SHOWN = 80  # characters of a reply, in a message


class Equivalence(Protocol):
    """Compares answers to an item."""

    async def alike(
        self, item: Item, opening: Sampled, others: Sequence[Sampled]
    ) -> Sequence[bool]:
        """Whether each of the others means the same as the opening one."""
        ...

    @property
    def usage(self) -> Usage:
        """What was bought for it so far."""
        ...


class Canonical:
    """Answers are the same where the suite's grader takes one for the other's target."""

    usage = NOTHING

    def __init__(self, suite: Suite, graders: GraderRunner) -> None:
        self._suite = suite
        self._graders = graders

    async def alike(
        self, item: Item, opening: Sampled, others: Sequence[Sampled]
    ) -> Sequence[bool]:
        """Grade each of the others with the opening answer as target."""
        spec = self._suite.grader_of(item)
        as_target = replace(item, target=(opening.meaning or "",))
        grades = [await self._graders.grade(spec, as_target, each.text) for each in others]
        return [grade.score == 1.0 for grade in grades]


class MutualEntailment:
    """Answers are the same where each, read after the question, entails the other.

    The strict form of Farquhar et al. (Nature 630, 2024).
    """

    usage = NOTHING

    def __init__(self, suite: Suite, entailment: Entailment) -> None:
        self._suite = suite
        self._entailment = entailment

    async def alike(
        self, item: Item, opening: Sampled, others: Sequence[Sampled]
    ) -> Sequence[bool]:
        """Ask for both directions of every pair at once."""
        question = questions.text(self._suite, item)
        first = f"{question} {opening.meaning}"
        seconds = [f"{question} {each.meaning}" for each in others]
        pairs = [(first, each) for each in seconds] + [(each, first) for each in seconds]
        entailed = await self._entailment.entails(pairs)
        there, back = entailed[: len(others)], entailed[len(others) :]
        return [one and other for one, other in zip(there, back, strict=True)]


class Judged:
    """Answers are the same where another endpoint says so; a reply of no use says they are not.

    Too many of those in a row end it: every item would look uncertain.
    """

    def __init__(self, suite: Suite, asking: PaidAsking, *, name: str, model: str) -> None:
        """Ask nothing yet.

        Args:
            suite: whose items are answered.
            asking: how the judge is asked.
            name: of its endpoint, for messages.
            model: of the judge.
        """
        self._suite = suite
        self._asking = asking
        self._name = name
        self._model = model
        self._undecided = 0
        self.usage = NOTHING

    async def alike(
        self, item: Item, opening: Sampled, others: Sequence[Sampled]
    ) -> Sequence[bool]:
        """Ask about one pair after the other.

        Raises:
            SurrogateError: the judge cannot be asked, or decides nothing any more.
        """
        question = questions.text(self._suite, item)
        return [await self._same(question, opening, each) for each in others]

    async def _same(self, question: str, first: Sampled, second: Sampled) -> bool:
        meanings = first.meaning or "", second.meaning or ""
        request = questions.comparison(question, *meanings, model=self._model)
        reply = await self._asking.ask(request)
        self.usage += reply.usage
        decision = None
        match reply.reading:
            case EndpointFault(fault=fault, detail=detail):
                raise self._useless(f"{fault}: {detail}; {KEPT}")
            case Gradable(text=text):
                decision = questions.read_comparison(text)
                instead = f"a reply that ends in {text.strip()[-SHOWN:]!r}"
            case Settled(status=status, detail=detail):
                instead = f"{status} ({detail})" if detail else f"{status}"
            case _:
                assert_never(reply.reading)
        if not reply.stored:
            self._undecided = 0 if decision is not None else self._undecided + 1
        if self._undecided >= FAILURES_IN_A_ROW:
            raise self._useless(
                f"the last {self._undecided} questions brought neither yes nor no, but {instead};"
                f" name a model that answers at once, within {questions.COMPARISON_TOKENS} tokens,"
                f" or {KEPT}"
            )
        return decision is True

    def _useless(self, why: str) -> SurrogateError:
        return SurrogateError(f"endpoint {self._name!r}, which compares answers: {why}")
