"""Coverage and false verdicts on recorded outcomes of real models.

    python -m benchmarks.recorded_outcomes OUTCOMES.npz --target MODEL --exclude 'FAMILY*'

Every run is a whole evaluation, drawn in lagged rounds, with clocks of its own. History is what
the file holds of other models dated before the target.
"""

import argparse
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from monitor.domain.identifiers import EvaluationId, SuiteName, VariantName, VersionName, digest
from monitor.domain.plans import Subject
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
from monitor.simulation import suites
from monitor.stats import effective, guides
from monitor.stats.answers import History

SOFTWARE = "benchmark"
FIRST = NoBaseline(reason=NoBaselineReason.FIRST_VERSION)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One model to be evaluated, with what may be known before."""

    model: str
    suite: Suite
    scores: tuple[float | None, ...]
    history: planning.History | None

    @property
    def truth(self) -> float:
        """Mean of the outcomes that are recorded."""
        known = [score for score in self.scores if score is not None]
        return math.fsum(known) / len(known)


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """What many evaluations of one target came to."""

    runs: int
    covered: int
    unknown: int
    width: float
    ess_ratio: float
    design: str


def target_of(matrix: outcomes.OutcomeMatrix, model: str, *, exclude: Sequence[str] = ()) -> Target:
    """A recorded model, its history being other models dated before it.

    Args:
        matrix: recorded outcomes.
        model: name of the target's row.
        exclude: patterns of further models to leave out, such as the target's family.
    """
    row = matrix.models.index(model)
    suite = suites.recorded_suite(matrix.items, matrix.groups)
    chosen = selection.select(
        matrix,
        matrix.items,
        before=outcomes.last_day(matrix.dates[row]),
        exclude=exclude,
        exclude_models=[model],
    )
    cells = matrix.outcomes[row].tolist()
    return Target(
        model=model,
        suite=suite,
        scores=tuple(None if math.isnan(cell) else cell for cell in cells),
        history=fit(chosen),
    )


def fit(chosen: selection.History) -> planning.History | None:
    """The default guide on a selection of rows."""
    if not chosen.models:
        return None
    guide = guides.GUIDES["item_mean"].fit(History.from_matrix(chosen.outcomes))
    return planning.History(guide=guide, digest=chosen.digest)


def evaluate(
    target: Target, *, policy: Policy, run: int, baseline: Baseline | NoBaseline = FIRST
) -> tuple[str, Findings]:
    """One evaluation; returns its design and findings. `run` settles its clocks."""
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
    return plan.inference.design, findings


def measure(target: Target, *, policy: Policy, runs: int) -> Coverage:
    """How often the interval contains the truth, and how wide it is."""
    found = [evaluate(target, policy=policy, run=run) for run in range(runs)]
    known = [each.estimate for _, each in found if isinstance(each.estimate, Estimate)]
    draws = policy.budget.draws(len(target.suite.items))
    scores = np.array([score for score in target.scores if score is not None])
    error = math.fsum((each.value - target.truth) ** 2 for each in known) / max(1, len(known))
    plain = effective.srs_variance(scores, draws)
    return Coverage(
        runs=runs,
        covered=sum(each.interval.lower <= target.truth <= each.interval.upper for each in known),
        unknown=sum(isinstance(each.estimate, NoEstimate) for _, each in found),
        width=math.fsum(each.interval.upper - each.interval.lower for each in known)
        / max(1, len(known)),
        ess_ratio=plain / error if error else math.inf,
        design=found[0][0],
    )


def false_alarms(target: Target, *, policy: Policy, runs: int) -> int:
    """How often a version is called worse than itself."""
    alarms = 0
    for run in range(runs):
        _, before = evaluate(target, policy=policy, run=run)
        baseline = baseline_of(before)
        if baseline is not None:
            _, after = evaluate(target, policy=policy, run=run, baseline=baseline)
            alarms += after.verdict.outcome is Outcome.NOT_MET
    return alarms


def baseline_of(findings: Findings) -> Baseline | None:
    """Findings as the next version is compared with them."""
    estimate = findings.estimate
    if isinstance(estimate, NoEstimate):
        return None
    return Baseline(
        evaluation_id=EvaluationId("before"),
        version=VersionName("before"),
        value=estimate.value,
        interval=estimate.interval,
        worst_case=estimate.worst_case,
        worst_lower_shift=estimate.worst_lower_shift,
        worst_upper_shift=estimate.worst_upper_shift,
        overconfident_guide=estimate.overconfident_guide,
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
    """Print a line per target and budget."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("outcomes", type=Path, help="file of recorded outcomes (.npz)")
    parser.add_argument("--target", action="append", required=True, help="model; repeatable")
    parser.add_argument("--exclude", action="append", default=[], help="models to leave out")
    parser.add_argument("--share", type=float, default=0.1, help="budget as a share of the pool")
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--self-runs", type=int, default=200, help="version against itself")
    given = parser.parse_args()
    matrix = outcomes.read_outcomes(given.outcomes)
    policy = replace(Policy(), budget=Budget(share=given.share, minimum=1))
    _print("target", "truth", "design", "coverage", "width", "ess", "no estimate", "false NOT_MET")
    for name in given.target:
        target = target_of(matrix, name, exclude=given.exclude)
        found = measure(target, policy=policy, runs=given.runs)
        alarms = false_alarms(target, policy=policy, runs=given.self_runs)
        known = max(1, found.runs - found.unknown)
        _print(
            name,
            f"{target.truth:.3f}",
            found.design,
            f"{found.covered / known:.3f}",
            f"{found.width:.3f}",
            f"{found.ess_ratio:.2f}",
            f"{found.unknown}",
            f"{alarms}/{given.self_runs}",
        )


def _print(*cells: str) -> None:
    first, *rest = cells
    sys.stdout.write(f"{first:<40}" + "".join(f"{cell:>21}" for cell in rest) + "\n")


if __name__ == "__main__":
    main()
