"""From numbers to a verdict: one rule, in one place.

No evidence never passes: without an interval there is no MET. Every bound used here already
includes the worst case of missing answers.
"""

from dataclasses import dataclass, replace
from typing import assert_never

from monitor.domain.policies import AtLeast, EstimateOnly, NotWorse, Objective
from monitor.domain.results import (
    Difference,
    Estimate,
    FormatChange,
    NoBaseline,
    NoBaselineReason,
    NoEstimate,
    Outcome,
    Reason,
    Severity,
    Verdict,
)

NO_BASELINE_TEXT = {
    NoBaselineReason.FIRST_VERSION: "this is the variant's first version on the suite",
    NoBaselineReason.NOT_EVALUATED: "the version before has no published result on the suite",
    NoBaselineReason.SUITE_CHANGED: "the suite has changed since the version before was evaluated",
    NoBaselineReason.JUDGES_CHANGED: "other models judged the answers of the version before",
    NoBaselineReason.OTHER_LEVEL: "the version before was evaluated at another confidence level",
    NoBaselineReason.NO_ESTIMATE: "the version before has no estimate",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What a verdict is taken from.

    comparison: the difference to the version before, or why there is none.
    missing_share: missing answers over draws, in [0, 1].
    """

    estimate: Estimate | NoEstimate
    comparison: Difference | NoBaseline
    answered: int
    missing_share: float
    missing_limit: float
    format_change: FormatChange | None = None


def decide(objective: Objective, evidence: Evidence) -> Verdict:
    """Judge the evidence by the objective (design: tolerance m, interval [L, U], estimate e).

    A change of format is told of in the sentence; it changes neither outcome nor reason.

    Returns:
        Verdict: MET, NOT_MET or INCONCLUSIVE; FAULTED where not one answer could be scored.
    """
    verdict, change = _decide(objective, evidence), evidence.format_change
    if change is None:
        return verdict
    return replace(verdict, sentence=f"{verdict.sentence.rstrip('.')}; {_suspicion(change)}.")


def _decide(objective: Objective, evidence: Evidence) -> Verdict:
    if evidence.answered == 0:
        return Verdict(
            outcome=Outcome.FAULTED,
            reason=Reason.NO_ANSWERS,
            sentence="No answer could be scored, so nothing is known about this version.",
        )
    if isinstance(evidence.estimate, NoEstimate):
        return Verdict(
            outcome=Outcome.INCONCLUSIVE,
            reason=Reason.NO_ESTIMATE,
            sentence=f"No interval can be given: {_words(evidence.estimate.reason)}.",
        )
    return _bar_met_when_too_much_is_missing(
        _judge(objective, evidence.estimate, evidence.comparison), evidence
    )


def _judge(
    objective: Objective, estimate: Estimate, comparison: Difference | NoBaseline
) -> Verdict:
    match objective:
        case NotWorse():
            return _judge_not_worse(objective, estimate, comparison)
        case AtLeast():
            return _judge_at_least(objective, estimate)
        case EstimateOnly():
            return _estimated(estimate, "an estimate was all that was asked for")
        case _:
            assert_never(objective)


def _judge_not_worse(
    objective: NotWorse, estimate: Estimate, comparison: Difference | NoBaseline
) -> Verdict:
    if isinstance(comparison, NoBaseline):
        return _judge_without_baseline(estimate, comparison)
    lower, upper = comparison.worst_case.lower, comparison.worst_case.upper
    # Judged by the most favourable completion of the missing answers, so that none can page.
    value = comparison.value + comparison.worst_upper_shift
    bounds = f"{comparison.value:+.3f}, interval [{lower:+.3f}, {upper:+.3f}]"
    margin = f"tolerance {objective.tolerance:g}"
    if lower >= -objective.tolerance:
        text = f"Not worse than {comparison.previous_version}: {bounds}, {margin}."
        return Verdict(outcome=Outcome.MET, reason=Reason.NOT_WORSE, sentence=text)
    if upper < 0 and value < -objective.tolerance:
        critical = upper < -objective.tolerance
        return Verdict(
            outcome=Outcome.NOT_MET,
            reason=Reason.WORSE,
            sentence=f"Worse than {comparison.previous_version}: {bounds}, {margin}.",
            severity=Severity.CRITICAL if critical else Severity.WARNING,
        )
    if upper < 0:
        text = f"A real drop, not shown to exceed the tolerance: {bounds}, {margin}."
        reason = Reason.DROP_WITHIN_TOLERANCE
    else:
        text = f"The interval is too wide to tell: {bounds}, {margin}."
        reason = Reason.INTERVAL_TOO_WIDE
    return Verdict(outcome=Outcome.INCONCLUSIVE, reason=reason, sentence=text)


def _judge_without_baseline(estimate: Estimate, missing: NoBaseline) -> Verdict:
    why = NO_BASELINE_TEXT[missing.reason]
    if missing.reason is NoBaselineReason.FIRST_VERSION:
        return _estimated(estimate, why)
    return Verdict(
        outcome=Outcome.INCONCLUSIVE,
        reason=Reason.NO_BASELINE,
        sentence=f"Estimated at {_percent(estimate)}, but {why}.",
    )


def _judge_at_least(objective: AtLeast, estimate: Estimate) -> Verdict:
    lower, upper = estimate.worst_case.lower, estimate.worst_case.upper
    where = f"{_percent(estimate)} against the threshold {objective.threshold:.1%}"
    if lower >= objective.threshold:
        return Verdict(
            outcome=Outcome.MET, reason=Reason.ABOVE_THRESHOLD, sentence=f"Reached: {where}."
        )
    if upper < objective.threshold:
        return Verdict(
            outcome=Outcome.NOT_MET,
            reason=Reason.BELOW_THRESHOLD,
            sentence=f"Not reached: {where}.",
            severity=Severity.CRITICAL,
        )
    return Verdict(
        outcome=Outcome.INCONCLUSIVE,
        reason=Reason.INTERVAL_TOO_WIDE,
        sentence=f"The interval is too wide to tell: {where}.",
    )


def _estimated(estimate: Estimate, why: str) -> Verdict:
    return Verdict(
        outcome=Outcome.MET,
        reason=Reason.ESTIMATED,
        sentence=f"Estimated at {_percent(estimate)}; {why}.",
    )


def _bar_met_when_too_much_is_missing(verdict: Verdict, evidence: Evidence) -> Verdict:
    if verdict.outcome is not Outcome.MET or evidence.missing_share <= evidence.missing_limit:
        return verdict
    share, limit = f"{evidence.missing_share:.1%}", f"{evidence.missing_limit:.1%}"
    return Verdict(
        outcome=Outcome.INCONCLUSIVE,
        reason=Reason.TOO_MANY_MISSING,
        sentence=f"{share} of the answers are missing, more than the limit of {limit}.",
    )


def _suspicion(change: FormatChange) -> str:
    return (
        f"format change suspected: {change.share:.1%} of the answers could not be read as answers, "
        f"{change.previous_share:.1%} of those of {change.previous_version}"
    )


def _percent(estimate: Estimate) -> str:
    shown = min(1.0, max(0.0, estimate.value))
    return (
        f"{shown:.1%} (interval {estimate.worst_case.lower:.1%} to {estimate.worst_case.upper:.1%})"
    )


def _words(reason: str) -> str:
    return reason.replace("_", " ")
