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

LINES = 4


class ProgressTelemetry:
    """Implements `ports.Telemetry`; `close` it so that the terminal is left in order."""

    def __init__(self) -> None:
        console = Console(stderr=True)
        self._bars = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self._tasks: dict[EvaluationId, TaskID] = {}
        self._plain = not console.is_terminal
        self._bars.start()

    def record(self, fact: Fact) -> None:
        """Move the bar, or print a line now and then."""
        match fact:
            case EvaluationStarted():
                self._begin(fact)
            case AnswerSettled():
                self._advance(fact)
            case EndpointAwaited():
                self._say(f"waiting for the endpoint: {fact.detail}")
            case EvaluationEnded():
                verdict = fact.findings.verdict
                self._say(f"{fact.variant} {fact.version}: {verdict.outcome} ({verdict.reason})")
            case _:
                pass

    def close(self) -> None:
        """Stop drawing."""
        self._bars.stop()

    def _begin(self, fact: EvaluationStarted) -> None:
        plan = fact.plan
        label = f"{plan.subject.variant} {plan.subject.version} on {plan.subject.suite}"
        self._tasks[plan.subject.evaluation_id] = self._bars.add_task(
            label, total=plan.draws, completed=fact.answered
        )
        self._say(f"{label}: {plan.draws} of {plan.population} items. {plan.reason}")

    def _advance(self, fact: AnswerSettled) -> None:
        task = self._tasks.get(fact.evaluation_id)
        if task is not None:
            self._bars.update(task, completed=fact.answered)
        if self._plain and fact.answered % max(1, fact.draws // LINES) == 0:
            self._say(f"{fact.variant} on {fact.suite}: {fact.answered} of {fact.draws}")

    def _say(self, text: str) -> None:
        if self._plain:
            say(text)
        else:
            self._bars.console.print(text, highlight=False, markup=False, emoji=False)
