"""How far an evaluation has come: bars on a terminal, plain lines elsewhere; on standard error."""

from dataclasses import dataclass

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from monitor.cli.output import say
from monitor.domain.facts import (
    AnswerSettled,
    EndpointAwaited,
    EvaluationEnded,
    EvaluationStarted,
    Fact,
    SurrogateAnswered,
)
from monitor.domain.plans import Plan

LINES = 4


@dataclass(kw_only=True)
class _Bar:
    """One of them; `quarters` of it have been told as lines."""

    task: TaskID
    label: str
    total: int
    quarters: int


class Bars:
    """A bar, or a line at every quarter, for whatever goes on; `close` it to clear up."""

    def __init__(self) -> None:
        console = Console(stderr=True)
        self._plain = not console.is_terminal
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            console=console,
            disable=self._plain,
        )
        self._bars: dict[str, _Bar] = {}
        self._progress.start()

    def begin(self, plan: Plan, answered: int) -> None:
        """Show an evaluation that has its plan."""
        subject = plan.subject
        label = f"{subject.suite}: {subject.variant} {subject.version}"
        self.open(subject.evaluation_id, label, done=answered, total=plan.draws)
        self.say(f"{label}, {plan.draws} of {plan.population} items. {plan.reason}")

    def open(self, key: str, label: str, *, done: int, total: int) -> None:
        """Show something of which so many answers of a total have come; once for each key."""
        if key in self._bars:
            return
        task = self._progress.add_task(label, total=total, completed=done)
        self._bars[key] = _Bar(task=task, label=label, total=total, quarters=LINES * done // total)

    def advance(self, key: str, answered: int) -> None:
        """So many of its answers have come."""
        bar = self._bars.get(key)
        if bar is None:
            return
        self._progress.update(bar.task, completed=answered)
        quarters = LINES * answered // bar.total
        if self._plain and quarters > bar.quarters:
            bar.quarters = quarters
            self.say(f"{bar.label}, {answered} of {bar.total} answers")

    def say(self, text: str) -> None:
        """Print a line, above the bars if there are any."""
        if self._plain:
            say(text)
        else:
            self._progress.console.print(text, highlight=False, markup=False, emoji=False)

    def close(self) -> None:
        """Stop drawing."""
        self._progress.stop()


class ProgressTelemetry:
    """Implements `ports.Telemetry`; `close` it so that the terminal is left in order."""

    def __init__(self) -> None:
        self._bars = Bars()
        self.close = self._bars.close
        self.say = self._bars.say

    def record(self, fact: Fact) -> None:
        """Move the bar, or print a line now and then."""
        match fact:
            case EvaluationStarted():
                self._bars.begin(fact.plan, fact.answered)
            case AnswerSettled():
                self._bars.advance(fact.evaluation_id, fact.answered)
            case SurrogateAnswered():
                key = f"{fact.suite}: surrogate {fact.surrogate}"
                self._bars.open(key, key, done=0, total=fact.wanted)
                self._bars.advance(key, fact.settled)
            case EndpointAwaited():
                self._bars.say(f"waiting for the endpoint: {fact.detail}")
            case EvaluationEnded():
                verdict = fact.findings.verdict
                outcome = f"{verdict.outcome} ({verdict.reason})"
                self._bars.say(f"{fact.suite}: {fact.variant} {fact.version}, {outcome}")
            case _:
                pass
