"""What a plan can choose among: a design with the guide, estimator and interval that go with it."""

from dataclasses import dataclass

from monitor.domain.plans import USUAL_FLOOR
from monitor.domain.suites import Suite
from monitor.grading import graders
from monitor.stats import answers, designs, guides, profiles, selection, stratification
from monitor.stats.signals import Signal
from monitor.stats.surrogate_guide import SurrogateGuide


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Names in the four tables, what goes with the guide, and the sentence that says why."""

    design: str
    guide: guides.Guide
    estimator: str
    interval: str
    reason: str
    floor: float = USUAL_FLOOR
    profile: profiles.Profile | None = None
    layout: stratification.Layout | None = None


def census(population: int, reason: str) -> Choice:
    """Every item."""
    return Choice(
        design=designs.Simple.name,
        guide=constant(population),
        estimator="sample_mean",
        interval="census",
        reason=reason,
    )


def plain(suite: Suite, reason: str) -> Choice:
    """Plain random sampling with the interval that is valid for every pool."""
    return Choice(
        design=designs.Simple.name,
        guide=constant(len(suite.items)),
        estimator="sample_mean",
        interval="hypergeometric" if is_binary(suite) else "betting",
        reason=reason,
    )


def learning(suite: Suite, reason: str) -> Choice:
    """Draws by a guide that knows nothing but the answers so far."""
    return _active(unlearnt(suite), reason)


def by_history(fit: selection.Fit, reason: str) -> Choice:
    """Draws by a guide that has seen other models."""
    return _active(fit.guide, reason, floor=fit.floor, profile=fit.profile)


def published(fit: selection.Fit | None, population: int) -> Choice:
    """FAQ as published, but for its draws one by one: a service cannot wait for each answer."""
    by = "where earlier models disagree" if fit else "by the answers so far alone"
    return Choice(
        design=designs.WithReplacement.name,
        guide=fit.guide if fit else constant(population),
        estimator="proactive_mean",
        interval="wald",
        reason=f"Drawn {by}, with replacement as published but in lagged rounds, as asked.",
        floor=fit.floor if fit else USUAL_FLOOR,
    )


def stratified(signal: Signal, layout: stratification.Layout, reason: str) -> Choice:
    """Draws from strata that were fixed by a surrogate's signal."""
    return Choice(
        design=designs.Stratified.name,
        guide=SurrogateGuide.of(signal),
        estimator="stratified_mean",
        interval="stratified_wilson",
        reason=reason,
        layout=layout,
    )


def unlearnt(suite: Suite) -> guides.Guide:
    """A guide that has seen no model: it begins with plain draws and learns from the answers."""
    if not has_groups(suite):
        return constant(len(suite.items))
    known = answers.History.empty(len(suite.items), groups=suite.group_labels)
    return guides.GUIDES["item_groups"].fit(known)


def constant(population: int) -> guides.Guide:
    """The guide that predicts the same of all items."""
    return guides.GUIDES["constant"].fit(answers.History.empty(population))


def has_groups(suite: Suite) -> bool:
    """Whether groups may tell anything: how far fractional scores scatter only history tells."""
    return is_binary(suite) and len(set(suite.group_labels)) > 1


def is_binary(suite: Suite) -> bool:
    """Whether all its scores are 0 or 1."""
    kinds = {suite.grader_of(item).kind for item in suite.items}
    return all(map(graders.is_binary, kinds))


def _active(
    guide: guides.Guide,
    reason: str,
    *,
    floor: float = USUAL_FLOOR,
    profile: profiles.Profile | None = None,
) -> Choice:
    return Choice(
        design=designs.WithoutReplacement.name,
        guide=guide,
        estimator="active_mean",
        interval="mixed_t",
        reason=reason,
        floor=floor,
        profile=profile,
    )
