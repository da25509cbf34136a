"""Drives one evaluation from its plan, or from where it stood, to its findings.

Order of writes: a round is stored before any of its questions goes out, an answer before it
counts. So an owner that dies leaves behind exactly what its successor needs.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, assert_never

from monitor.domain.answers import Answer
from monitor.domain.facts import AnswerSettled, EvaluationStarted
from monitor.domain.plans import Answered, Draw, Resumed, Row
from monitor.domain.results import Findings, Outcome, Reason, Verdict
from monitor.engine import concluding, evaluations
from monitor.engine.statuses import EndpointFault
from monitor.service.catalog import Judge, Target
from monitor.service.gate import wait_for_endpoint
from monitor.service.journals import Journal
from monitor.service.judging import JudgeFault
from monitor.service.questions import GraderFault, Questions
from monitor.service.tools import Tools


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancel:
    """Stop for good, with this verdict."""

    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Drain:
    """Stop for now: let what is in flight finish for so long, and keep the rest for later."""

    seconds: float


Halt = Cancel | Drain


class Course:
    """One evaluation under way."""

    def __init__(
        self,
        tools: Tools,
        target: Target,
        *,
        judges: Sequence[Judge],
        journal: Journal,
        halt: asyncio.Future[Halt],
    ) -> None:
        self._tools = tools
        self._target = target
        self._judges = judges
        self._journal = journal
        self._halt = halt
        self._queue: deque[Draw] = deque()
        self._asked: set[asyncio.Task[Answer | EndpointFault]] = set()

    async def run(self, begun: evaluations.Evaluation) -> Findings | None:
        """Ask until every draw has its answer.

        Args:
            begun: the evaluation before its first draw; the journal holds its plan already.

        Returns:
            The findings, or None when drained: the evaluation stays open.

        Raises:
            OwnershipLost: somebody else goes on with it.
        """
        stored = tuple(self._journal.rows[1:])
        evaluation = await self._tools.compute.run(lambda: evaluations.fold(begun, stored))
        if evaluation.pending:
            # No more than this many questions can have been in flight at once.
            in_flight = min(len(evaluation.pending), self._target.concurrency)
            evaluation = await self._store(evaluation, Resumed(pending=in_flight))
        self._queue.extend(evaluation.pending)
        self._tools.telemetry.record(
            EvaluationStarted(
                plan=evaluation.plan, resumed=bool(stored), answered=len(evaluation.answers)
            )
        )
        turned_away = await self._turn_away(evaluation)
        return turned_away or await self._ask_all(evaluation)

    async def _turn_away(self, evaluation: evaluations.Evaluation) -> Findings | None:
        """Findings if the endpoint never opens; a halt while waiting is seen afterwards."""
        if evaluation.is_complete:
            return None
        waiting = asyncio.ensure_future(
            wait_for_endpoint(
                self._target,
                evaluation_id=evaluation.plan.subject.evaluation_id,
                clock=self._tools.clock,
                telemetry=self._tools.telemetry,
            )
        )
        try:
            await self._first_of(waiting)
            fault = waiting.result() if waiting.done() else None
        finally:
            waiting.cancel()
        return None if fault is None else _faulted(evaluation, fault)

    async def _ask_all(self, evaluation: evaluations.Evaluation) -> Findings | None:
        questions = Questions(
            evaluation,
            self._tools,
            target=self._target,
            judges=self._judges,
            confirm=self._confirm,
            confirm_judge=self._confirm_judge,
        )
        try:
            while not evaluation.is_complete:
                if self._halt.done():
                    return await self._wind_up(evaluation, self._halt.result())
                evaluation = await self._draw(evaluation)
                if evaluation.is_complete:
                    break  # the last draws were all of items whose answers are known
                self._launch(questions)
                await self._first_of(*self._asked)
                evaluation, refused = await self._collect(evaluation)
                fault = refused or questions.fault
                if fault is not None:
                    return _faulted(evaluation, fault)
        finally:
            await _end(self._asked)
        return await self._tools.compute.run(lambda: _conclude(evaluation))

    async def _confirm(self) -> None:
        """Before each question: nothing more is asked after a halt, nor when others may ask."""
        if self._halt.done():
            raise asyncio.CancelledError
        await self._tools.bus.confirm(self._journal.partition)

    async def _confirm_judge(self) -> None:
        """Before each question to a judge: an answer that is paid for may still be judged."""
        await self._tools.bus.confirm(self._journal.partition)

    async def _first_of(self, *tasks: asyncio.Future[Any]) -> None:
        """Wait for the first of the tasks, or for a halt."""
        await asyncio.wait({*tasks, self._halt}, return_when=asyncio.FIRST_COMPLETED)

    async def _draw(self, evaluation: evaluations.Evaluation) -> evaluations.Evaluation:
        while True:
            drawn = await self._tools.compute.run(partial(evaluations.draw_round, evaluation))
            if drawn is None:
                return evaluation
            row, evaluation = drawn
            await self._journal.append(row)
            first = row.draws[0].step
            self._queue.extend(draw for draw in evaluation.pending if draw.step >= first)

    def _launch(self, questions: Questions) -> None:
        while self._queue and len(self._asked) < self._target.concurrency:
            self._asked.add(asyncio.create_task(questions.answer(self._queue.popleft())))

    async def _collect(
        self, evaluation: evaluations.Evaluation
    ) -> tuple[evaluations.Evaluation, EndpointFault | None]:
        """Store every answer that has come; the fault, if one of them tells of one."""
        done = {task for task in self._asked if task.done()}
        self._asked -= done
        done = {task for task in done if not task.cancelled()}
        # One that failed on a defect must not lose the answers that came with it.
        failures = [error for task in done if (error := task.exception()) is not None]
        results = [task.result() for task in done if task.exception() is None]
        answers = tuple(each for each in results if isinstance(each, Answer))
        if answers:
            in_order = tuple(sorted(answers, key=lambda answer: answer.step))
            evaluation = await self._store(evaluation, Answered(answers=in_order))
            self._tell(evaluation, in_order)
        if failures:
            raise failures[0]
        faults = (each for each in results if isinstance(each, EndpointFault))
        return evaluation, next(faults, None)

    async def _wind_up(self, evaluation: evaluations.Evaluation, halt: Halt) -> Findings | None:
        """Let what is in flight finish if it may, and store what came of it."""
        if isinstance(halt, Drain) and self._asked:
            await self._let_finish(halt.seconds)
        evaluation, _ = await self._collect(evaluation)
        if isinstance(halt, Drain):
            return None
        return concluding.stop(halt.verdict, _in_order(evaluation))

    async def _let_finish(self, seconds: float) -> None:
        finishing = asyncio.ensure_future(asyncio.wait(self._asked))
        waiting = asyncio.ensure_future(self._tools.clock.sleep(seconds))
        try:
            await asyncio.wait({finishing, waiting}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            finishing.cancel()
            waiting.cancel()

    def _tell(self, evaluation: evaluations.Evaluation, answers: tuple[Answer, ...]) -> None:
        subject, before = evaluation.plan.subject, len(evaluation.answers) - len(answers)
        for number, answer in enumerate(answers, start=1):
            self._tools.telemetry.record(
                AnswerSettled(
                    evaluation_id=subject.evaluation_id,
                    variant=subject.variant,
                    suite=subject.suite,
                    status=answer.status,
                    usage=answer.usage,
                    answered=before + number,
                    draws=evaluation.plan.draws,
                )
            )

    async def _store(self, evaluation: evaluations.Evaluation, row: Row) -> evaluations.Evaluation:
        await self._journal.append(row)
        return evaluations.absorb(evaluation, row)


async def _end(tasks: set[asyncio.Task[Answer | EndpointFault]]) -> None:
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks)


def _conclude(evaluation: evaluations.Evaluation) -> Findings:
    return concluding.conclude(evaluation.plan, evaluation.draws, _in_order(evaluation))


def _in_order(evaluation: evaluations.Evaluation) -> tuple[Answer, ...]:
    return tuple(evaluation.answers[step] for step in sorted(evaluation.answers))


def _faulted(
    evaluation: evaluations.Evaluation, fault: EndpointFault | JudgeFault | GraderFault
) -> Findings:
    match fault:
        case EndpointFault():
            reason = Reason.ENDPOINT_FAULT
            sentence = f"The endpoint cannot be evaluated ({fault.fault}): {fault.detail}."
        case JudgeFault():
            reason = Reason.JUDGE_FAULT
            sentence = f"The judge {fault.judge} fails, so answers have no score: {fault.detail}."
        case GraderFault():
            reason = Reason.GRADER_FAULT
            sentence = f"The grader {fault.grader} fails, so answers have no score: {fault.detail}."
        case _:
            assert_never(fault)
    verdict = Verdict(outcome=Outcome.FAULTED, reason=reason, sentence=sentence)
    return concluding.stop(verdict, _in_order(evaluation))
