"""How far an evaluation has come: bars on a terminal, plain lines elsewhere; on standard error."""

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from monitor.cli.output import say
from monitor.domain.facts import (
    AnswerSettled,
    EndpointAwaited,
    EvaluationEnded,
    EvaluationStarted,
    Fact,
)
from monitor.domain.identifiers import EvaluationId
from monitor.domain.plans import Plan

LINES = 4


class Bars:
    """One bar, or a line at every quarter, for each evaluation; `close` it to clear up."""

    def __init__(self) -> None:
        console = Console(stderr=True)
        self._plain = not console.is_terminal
        self._bars = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            console=console,
            disable=self._plain,
        )
        self._tasks: dict[EvaluationId, TaskID] = {}
        self._plans: dict[EvaluationId, Plan] = {}
        self._quarters: dict[EvaluationId, int] = {}
        self._bars.start()

    def begin(self, plan: Plan, answered: int) -> None:
        """Show an evaluation that has its plan."""
        subject = plan.subject
        self._plans[subject.evaluation_id] = plan
        self._quarters[subject.evaluation_id] = LINES * answered // plan.draws
        label = f"{subject.suite}: {subject.variant} {subject.version}"
        self._tasks[subject.evaluation_id] = self._bars.add_task(
            label, total=plan.draws, completed=answered
        )
        self.say(f"{label}, {plan.draws} of {plan.population} items. {plan.reason}")

    def advance(self, identity: EvaluationId, answered: int) -> None:
        """So many of its draws have their answer."""
        plan = self._plans.get(identity)
        if plan is None:
            return
        self._bars.update(self._tasks[identity], completed=answered)
        quarter = LINES * answered // plan.draws
        if self._plain and quarter > self._quarters[identity]:
            self._quarters[identity] = quarter
            subject = plan.subject
            self.say(
                f"{subject.suite}: {subject.variant} {subject.version}, "
                f"{answered} of {plan.draws} answers"
            )

    def say(self, text: str) -> None:
        """Print a line, above the bars if there are any."""
        if self._plain:
            say(text)
        else:
            self._bars.console.print(text, highlight=False, markup=False, emoji=False)

    def close(self) -> None:
        """Stop drawing."""
        self._bars.stop()


class ProgressTelemetry:
    """Implements `ports.Telemetry`; `close` it so that the terminal is left in order."""

    def __init__(self) -> None:
        self._bars = Bars()
        self.close = self._bars.close

    def record(self, fact: Fact) -> None:
        """Move the bar, or print a line now and then."""
        match fact:
            case EvaluationStarted():
                self._bars.begin(fact.plan, fact.answered)
            case AnswerSettled():
                self._bars.advance(fact.evaluation_id, fact.answered)
            case EndpointAwaited():
                self._bars.say(f"waiting for the endpoint: {fact.detail}")
            case EvaluationEnded():
                verdict = fact.findings.verdict
                outcome = f"{verdict.outcome} ({verdict.reason})"
                self._bars.say(f"{fact.suite}: {fact.variant} {fact.version}, {outcome}")
            case _:
                pass
