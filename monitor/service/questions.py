"""Turns a draw into its answer: asked for until it is settled, then graded."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from monitor.domain.answers import Answer, ChatRequest, Grade, Judged, Status, Ungraded
from monitor.domain.facts import Attempted, QuerySettled
from monitor.domain.plans import Draw
from monitor.domain.results import Purpose
from monitor.domain.suites import AnswerRules, Item, Message
from monitor.engine import evaluations
from monitor.engine.statuses import EndpointFault, FirstItems, Settled, settle_grade
from monitor.grading import judge
from monitor.prompting import templates
from monitor.service import asking, judging
from monitor.service.catalog import Judge, Target
from monitor.service.judging import JudgeFault
from monitor.service.kept_answers import Said
from monitor.service.paid_asking import PaidAsking
from monitor.service.tools import Tools

# Each of these says that the endpoint took the question; the others may stand for a rejection.
TAKEN = frozenset(
    {
        Status.GRADED,
        Status.GRADER,
        Status.NO_ANSWER,
        Status.REFUSAL,
        Status.TOO_SLOW,
        Status.TRUNCATED,
    }
)

FAILED_GRADINGS = 10
"""Answers in a row whose grading fails, after which more would be bought in vain."""

Confirm = Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class GraderFault:
    """A grader fails whatever it is given."""

    grader: str
    detail: str


class Questions:
    """The questions of one evaluation, to the version and to the judges of its answers."""

    def __init__(
        self,
        evaluation: evaluations.Evaluation,
        tools: Tools,
        *,
        target: Target,
        judges: Sequence[Judge],
        confirm: Confirm,
        confirm_judge: Confirm,
    ) -> None:
        """Ask nothing yet.

        Args:
            evaluation: as it stands; what it has spent on retries is gone.
            tools: the ports.
            target: the version's endpoint.
            judges: who judges its answers.
            confirm: waits until the version may be asked.
            confirm_judge: waits until a judge may be asked.
        """
        self._suite = evaluation.suite
        self._tools = tools
        self._subject = evaluation.plan.subject
        self._model = target.model
        known = tuple(evaluation.answers.values())
        # Taken up after a crash, the first items are those before it.
        self._first_items = FirstItems(answers=any(each.status in TAKEN for each in known))
        margin = evaluation.plan.attempts_allowed - evaluation.plan.draws
        self._asking = self._ask(
            target,
            retries=asking.Allowance(retries=margin - evaluation.retries),
            rules=self._suite.rules,
            purpose=Purpose.TARGET,
            confirm=confirm,
        )
        retries = asking.Allowance(retries=judging.retries_left(self._suite, known, margin=margin))
        seats = [self._seat(each, retries=retries, confirm=confirm_judge) for each in judges]
        heard = any(each.judged and each.status is Status.GRADED for each in known)
        self._panel = judging.Panel(seats, tell=self._tell_of_judge, heard=heard)
        self._failed_gradings = 0
        self._grader_fault: GraderFault | None = None

    @property
    def fault(self) -> EndpointFault | JudgeFault | GraderFault | None:
        """Why nothing more should be bought, None while all is well."""
        return self._first_items.fault or self._panel.fault or self._grader_fault

    async def answer(self, draw: Draw) -> Answer | EndpointFault:
        """Ask for the drawn item until it is settled, and have graded what came."""
        item = self._suite.items[draw.item]
        request = ChatRequest(
            model=self._model,
            messages=templates.render(self._suite, item),
            generation=self._suite.generation_of(item),
        )
        learnt = await asking.ask_until_settled(self._asking, request)
        reading, extracted = learnt.reading, None
        judged: tuple[Judged, ...] = ()
        if isinstance(reading, EndpointFault):
            return reading
        self._first_items = self._first_items.absorb(draw.item, reading)
        if not isinstance(reading, Settled):
            hearing = await self._grade(item, asked=request.messages, text=reading.text)
            reading, judged = settle_grade(reading, hearing.grade), hearing.judged
            extracted = hearing.grade.extracted
        said = Said(
            subject=self._subject,
            item=item.id,
            status=reading.status,
            extracted=extracted,
            completed=learnt.completed,
        )
        await self._tools.keeper.take(said)
        return Answer(
            step=draw.step,
            status=reading.status,
            score=reading.score,
            usage=learnt.usage,
            judged=judged,
        )

    async def _grade(self, item: Item, *, asked: Sequence[Message], text: str) -> judging.Hearing:
        spec = self._suite.grader_of(item)
        if spec.kind == judge.KIND:
            return await self._panel.grade(spec, item, asked=asked, text=text)
        grade = await self._tools.graders.grade(spec, item, text)
        self._note(spec.kind, grade)
        return judging.Hearing(grade=grade)

    def _note(self, grader: str, grade: Grade) -> None:
        """Take note of how a grading went."""
        if grade.ungraded not in {Ungraded.FAILED, Ungraded.TIME_LIMIT}:
            self._failed_gradings = 0
            return
        self._failed_gradings += 1
        if self._failed_gradings == FAILED_GRADINGS:
            detail = f"{FAILED_GRADINGS} in a row, the last one by {grade.ungraded}"
            self._grader_fault = GraderFault(grader=grader, detail=detail)

    def _seat(self, of: Judge, *, retries: asking.Allowance, confirm: Confirm) -> judging.Seat:
        if self._tools.paid_answers is None:
            raise ValueError(f"there is no store for what the judge {of.name} is paid for")
        asked = self._ask(
            of.target,
            retries=retries,
            rules=AnswerRules(),
            purpose=Purpose.JUDGE,
            confirm=confirm,
        )
        base_url = of.target.base_url
        return judging.Seat(
            name=of.name,
            model=of.target.model,
            asking=PaidAsking(asked, self._tools.paid_answers, base_url=base_url),
        )

    def _ask(
        self,
        target: Target,
        *,
        retries: asking.Allowance,
        rules: AnswerRules,
        purpose: Purpose,
        confirm: Confirm,
    ) -> asking.Asking:
        tools = self._tools
        return asking.Asking(
            endpoint=target.endpoint,
            lane=target.lane,
            allowance=retries,
            patience=target.patience,
            rules=rules,
            clock=tools.clock,
            tell=lambda attempt: self._tell(attempt, purpose),
            jitter=tools.jitter,
            confirm=confirm,
        )

    def _tell(self, attempt: asking.Attempt, purpose: Purpose) -> None:
        self._tools.telemetry.record(
            Attempted(
                evaluation_id=self._subject.evaluation_id,
                variant=self._subject.variant,
                suite=self._subject.suite,
                seconds=attempt.seconds,
                retried=attempt.retried,
                prompt_tokens=attempt.usage.prompt_tokens,
                completion_tokens=attempt.usage.completion_tokens,
                purpose=purpose,
            )
        )

    def _tell_of_judge(self, name: str, status: Status, detail: str) -> None:
        self._tools.telemetry.record(
            QuerySettled(
                evaluation_id=self._subject.evaluation_id,
                variant=self._subject.variant,
                suite=self._subject.suite,
                purpose=Purpose.JUDGE,
                endpoint=name,
                status=status,
                detail=detail,
            )
        )
