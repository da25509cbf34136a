"""Answers that could not be graded: how many, and whether a change of format is behind them.

A version that answers in another form loses points like one that answers wrongly. What tells the
two apart is how many of its answers read as none at all, against the version before.
"""

from collections import defaultdict
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from monitor.domain.answers import CAME, UNGRADED, UNREADABLE, Answer, Status
from monitor.domain.plans import Draw, Plan
from monitor.domain.results import Baseline, Doubt, FormatChange, Unreadable
from monitor.stats import proportions

# Read at every release of every variant on every suite: one in a thousand of those that change
# nothing may be told of, and fewer are, since shares are counts.
LEVEL = 0.001


@dataclass(frozen=True, slots=True, kw_only=True)
class _Came:
    """What came for each item that was asked, however often it was drawn: status and weight."""

    statuses: Sequence[Status]
    weights: Sequence[float]

    def are(self, wanted: Container[Status]) -> list[bool]:
        return [status in wanted for status in self.statuses]

    def share(self, wanted: Status) -> float:
        pairs = zip(self.statuses, self.weights, strict=True)
        return fsum(weight for status, weight in pairs if status is wanted) / fsum(self.weights)


def assess(
    plan: Plan, draws: Sequence[Draw], answers: Sequence[Answer], *, weights: Sequence[float]
) -> Doubt:
    """Count what came without a score, and compare it with the version before.

    Args:
        plan: names the version before, and the level of the test.
        draws: all of them, in draw order.
        answers: one for each draw, in the same order; at least one of them came.
        weights: (n,) how much the answer to each draw moves the estimate.
    """
    came = _came(draws, answers, weights)
    unreadable = _unreadable(proportions.weighted(came.are(UNREADABLE), came.weights))
    return Doubt(
        ungraded=_ungraded(came),
        unreadable=unreadable,
        format_change=_format_change(plan, unreadable),
    )


def _came(draws: Sequence[Draw], answers: Sequence[Answer], weights: Sequence[float]) -> _Came:
    statuses: dict[int, Status] = {}
    shares: defaultdict[int, float] = defaultdict(float)
    for draw, answer, weight in zip(draws, answers, weights, strict=True):
        if answer.status in CAME:
            statuses[draw.item] = answer.status
            shares[draw.item] += weight
    return _Came(statuses=tuple(statuses.values()), weights=tuple(shares.values()))


def _ungraded(came: _Came) -> Mapping[str, float]:
    found = sorted(UNGRADED.intersection(came.statuses))
    return {str(status): came.share(status) for status in found}


def _unreadable(found: proportions.Proportion) -> Unreadable:
    return Unreadable(found=found.found, answers=found.size)


def _format_change(plan: Plan, now: Unreadable) -> FormatChange | None:
    baseline, level = plan.baseline, plan.format_level
    if level is None or not isinstance(baseline, Baseline) or baseline.unreadable is None:
        return None
    before = baseline.unreadable
    p_value = proportions.p_value(_proportion(now), _proportion(before))
    if p_value > level:
        return None
    return FormatChange(
        share=now.share,
        previous_share=before.share,
        previous_version=baseline.version,
        p_value=p_value,
    )


def _proportion(known: Unreadable) -> proportions.Proportion:
    return proportions.Proportion(found=known.found, size=known.answers)
