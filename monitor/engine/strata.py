"""The strata of a plan as the statistics know them: stored ones, never made anew of a signal."""

from collections import Counter
from collections.abc import Iterable

from monitor.domain.plans import Plan, Strata
from monitor.stats.stratification import Layout


def store(layout: Layout) -> Strata:
    """A layout as a plan keeps it."""
    return Strata(labels=tuple(layout.labels.tolist()), draws=tuple(layout.draws.tolist()))


def restore(plan: Plan) -> Layout | None:
    """The layout that the plan was made with, None where its design has none."""
    if plan.strata is None:
        return None
    return Layout.from_columns(labels=plan.strata.labels, draws=plan.strata.draws)


def is_exceeded(strata: Strata, items: Iterable[int]) -> bool:
    """Whether more of these items are of one stratum than it has planned draws."""
    drawn = Counter(strata.labels[item] for item in items)
    return any(count > strata.draws[label] for label, count in drawn.items())
