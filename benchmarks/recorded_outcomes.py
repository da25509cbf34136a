"""Coverage and false verdicts on recorded outcomes of real models, and on made-up ones.

    python -m benchmarks.recorded_outcomes OUTCOMES.npz --target MODEL --exclude 'FAMILY*'
    python -m benchmarks.recorded_outcomes --item-response 0.97

Every run is a whole evaluation, drawn in lagged rounds, with clocks of its own. History is what
the file holds of other models dated before the target, or made up like the target itself.
"""

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from monitor.app import histories
from monitor.domain.errors import MonitorError, UsageError
from monitor.domain.identifiers import EvaluationId, SuiteName, VariantName, VersionName, digest
from monitor.domain.plans import Plan, Subject
from monitor.domain.policies import Budget, Policy
from monitor.domain.results import (
    Baseline,
    Estimate,
    Findings,
    NoBaseline,
    NoBaselineReason,
    NoEstimate,
    Outcome,
)
from monitor.domain.suites import Suite
from monitor.engine import planning
from monitor.engine.rehearsal import rehearse
from monitor.history import outcomes, selection
from monitor.simulation import answers, suites
from monitor.stats import effective

SOFTWARE = "benchmark"
ITEMS = 1700
EARLIER = 40
FIRST = NoBaseline(reason=NoBaselineReason.FIRST_VERSION)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One model to be evaluated, with what may be known before.

    scores: (N,) its outcome on each item of the suite.
    """

    model: str
    suite: Suite
    scores: tuple[float, ...]
    history: planning.History | None

    @property
    def truth(self) -> float:
        """Mean over the pool."""
        return math.fsum(self.scores) / len(self.scores)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One evaluation: what was decided before it, and what came of it."""

    plan: Plan
    findings: Findings


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """What many evaluations of one target came to.

    covered: intervals that contain the truth, of those that there are.
    unknown: evaluations without an estimate. width: mean of the intervals.
    squared_errors: sum over the estimates. plain: variance of plain random sampling, closed form.
    """

    runs: int
    covered: int
    unknown: int
    width: float
    squared_errors: float
    plain: float

    @property
    def known(self) -> int:
        """Evaluations with an estimate."""
        return self.runs - self.unknown

    @property
    def ess_ratio(self) -> float:
        """Variance of plain random sampling over the mean squared error."""
        return self.plain * self.known / self.squared_errors if self.squared_errors else math.inf


def recorded_target(
    matrix: outcomes.OutcomeMatrix, model: str, *, exclude: Sequence[str] = ()
) -> Target:
    """A recorded model on the items recorded for it; its history: other models dated before it.

    Args:
        matrix: recorded outcomes.
        model: name of the target's row.
        exclude: patterns of further models to leave out, such as the target's family.

    Raises:
        UsageError: there is no such model.
    """
    if model not in matrix.models:
        raise UsageError(f"no model {model!r} among {', '.join(matrix.models)}")
    row = matrix.models.index(model)
    cells = np.flatnonzero(~np.isnan(matrix.outcomes[row])).tolist()
    items = [matrix.items[cell] for cell in cells]
    groups = None if matrix.groups is None else [matrix.groups[cell] for cell in cells]
    chosen = selection.select(
        matrix,
        items,
        before=outcomes.last_day(matrix.dates[row]),
        exclude=exclude,
        exclude_models=[model],
    )
    suite = suites.recorded_suite(items, groups)
    return Target(
        model=model,
        suite=suite,
        scores=tuple(matrix.outcomes[row, cells].tolist()),
        history=fit(chosen, suite),
    )


def item_response_target(
    accuracy: float, *, earlier: tuple[float, float] = (0.45, 0.9), seed: int = 0
) -> Target:
    """A made-up model of this accuracy.

    Args:
        accuracy: of the model.
        earlier: lowest and highest accuracy of the models that make up its history.
        seed: of questions and outcomes.
    """
    suite = suites.arithmetic_suite(ITEMS, seed=seed)
    models = [
        answers.SimulatedModel(name=f"item-response-{accuracy:g}", accuracy=accuracy),
        *(
            answers.SimulatedModel(name=f"earlier-{row}", accuracy=float(share))
            for row, share in enumerate(np.linspace(*earlier, EARLIER))
        ),
    ]
    book = answers.item_response_book(models, items=[item.id for item in suite.items], seed=seed)
    history = selection.History(
        outcomes=book.outcomes[1:], models=book.models[1:], dates=("",) * EARLIER
    )
    return Target(
        model=book.models[0],
        suite=suite,
        scores=tuple(book.outcomes[0].tolist()),
        history=fit(history, suite),
    )


def fit(chosen: selection.History, suite: Suite) -> planning.History | None:
    """What the daemon would learn from a selection of rows."""
    return histories.fit(chosen, suite) if chosen.models else None


def evaluate(
    target: Target, *, policy: Policy, run: int, baseline: Baseline | NoBaseline = FIRST
) -> Run:
    """One evaluation; `run` settles its clocks."""
    subject = _subject(target, run, paired=isinstance(baseline, Baseline))
    plan, guide = planning.plan(
        planning.PlanRequest(
            subject=subject,
            policy=policy,
            suite=target.suite,
            history=target.history,
            baseline=baseline,
            software=SOFTWARE,
        )
    )
    findings = rehearse(plan, suite=target.suite, guide=guide, scores=target.scores)
    return Run(plan=plan, findings=findings)


def repeat(target: Target, *, policy: Policy, runs: int) -> list[Run]:
    """Many evaluations as a first version, each with clocks of its own."""
    return [evaluate(target, policy=policy, run=run) for run in range(runs)]


def follow(target: Target, *, policy: Policy, before: Sequence[Run]) -> list[Run]:
    """The evaluation of the target after each of the earlier ones that has an estimate."""
    baselines = [baseline_of(each.findings) for each in before]
    return [
        evaluate(target, policy=policy, run=run, baseline=baseline)
        for run, baseline in enumerate(baselines)
        if baseline is not None
    ]


def measure(target: Target, found: Sequence[Run]) -> Coverage:
    """How often the interval contains the truth, how wide it is, and what the draws are worth."""
    estimates = [run.findings.estimate for run in found]
    known = [each for each in estimates if isinstance(each, Estimate)]
    widths = [each.interval.upper - each.interval.lower for each in known]
    return Coverage(
        runs=len(found),
        covered=sum(each.interval.lower <= target.truth <= each.interval.upper for each in known),
        unknown=len(found) - len(known),
        width=math.fsum(widths) / max(1, len(widths)),
        squared_errors=math.fsum((each.value - target.truth) ** 2 for each in known),
        plain=effective.srs_variance(np.array(target.scores), found[0].plan.draws),
    )


def count_alarms(found: Sequence[Run]) -> int:
    """How many versions are called worse than the one before."""
    return sum(run.findings.verdict.outcome is Outcome.NOT_MET for run in found)


def baseline_of(findings: Findings) -> Baseline | None:
    """Findings as the next version is compared with them."""
    estimate = findings.estimate
    if isinstance(estimate, NoEstimate):
        return None
    return Baseline.of(
        estimate, evaluation_id=EvaluationId("before"), version=VersionName("before")
    )


def _subject(target: Target, run: int, *, paired: bool) -> Subject:
    return Subject(
        evaluation_id=EvaluationId(digest([target.model, run, paired])[:32]),
        variant=VariantName("benchmark"),
        version=VersionName(target.model),
        suite=SuiteName(target.suite.name),
        suite_digest=target.suite.digest,
        model=target.model,
        event_source="/benchmark",
        event_id=str(run),
        topic="none",
        partition=0,
        offset=run,
    )


def main() -> None:
    """Print a line per target."""
    parser = _parser()
    given = parser.parse_args()
    policy = replace(Policy(), budget=Budget(share=given.share, minimum=1))
    _print("target", "truth", "design", "coverage", "width", "ess", "no estimate", "false NOT_MET")
    try:
        for target in _targets(given):
            _report(target, policy, runs=given.runs, self_runs=given.self_runs)
    except MonitorError as error:
        parser.error(str(error))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("outcomes", type=Path, nargs="?", help="file of recorded outcomes (.npz)")
    parser.add_argument("--target", action="append", default=[], help="recorded model; repeatable")
    parser.add_argument("--exclude", action="append", default=[], help="models to leave out")
    parser.add_argument(
        "--item-response",
        action="append",
        default=[],
        type=float,
        metavar="ACCURACY",
        help=f"made-up model of this accuracy on {ITEMS} items; repeatable",
    )
    parser.add_argument("--share", type=float, default=0.1, help="budget as a share of the pool")
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--self-runs", type=int, default=200, help="version against itself")
    return parser


def _targets(given: argparse.Namespace) -> Iterator[Target]:
    if given.target and given.outcomes is None:
        raise UsageError("--target needs a file of recorded outcomes")
    if given.outcomes is not None:
        matrix = outcomes.read_outcomes(given.outcomes)
        for name in given.target:
            yield recorded_target(matrix, name, exclude=given.exclude)
    for accuracy in given.item_response:
        yield item_response_target(accuracy)


def _report(target: Target, policy: Policy, *, runs: int, self_runs: int) -> None:
    before = repeat(target, policy=policy, runs=runs)
    found = measure(target, before)
    after = follow(target, policy=policy, before=before[:self_runs])
    _print(
        target.model,
        f"{target.truth:.3f}",
        before[0].plan.inference.design,
        f"{found.covered / found.known:.3f}" if found.known else "unknown",
        f"{found.width:.3f}",
        f"{found.ess_ratio:.2f}",
        f"{found.unknown}",
        f"{count_alarms(after)}/{len(after)}",
    )


def _print(*cells: str) -> None:
    first, *rest = cells
    sys.stdout.write(f"{first:<40}" + "".join(f"{cell:>21}" for cell in rest) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
