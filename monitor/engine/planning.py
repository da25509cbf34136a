"""Everything that is decided about an evaluation before its first draw, and why."""

from dataclasses import dataclass, replace
from math import ceil

from monitor.domain.errors import InvalidPlan
from monitor.domain.events import EvaluationWanted
from monitor.domain.identifiers import Digest, clock_seed
from monitor.domain.plans import USUAL_FLOOR, Inference, Plan, Subject
from monitor.domain.policies import Budget, Method, Policy
from monitor.domain.results import Baseline, NoBaseline
from monitor.domain.suites import Suite
from monitor.grading import graders
from monitor.stats import (
    answers,
    designs,
    forecasts,
    guides,
    profiles,
    rounds,
    selection,
    weights,
)

# Draws from which on item groups, learnt on the way, narrow an interval.
FEWEST_TO_LEARN = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """What was learnt from earlier outcomes of other models, and the digest of those outcomes."""

    fit: selection.Fit
    digest: Digest

    @property
    def guide(self) -> guides.Guide:
        """What predicts the scores."""
        return self.fit.guide


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRequest:
    """What a plan is made from; `software` names this program and its version."""

    subject: Subject
    policy: Policy
    suite: Suite
    history: History | None
    baseline: Baseline | NoBaseline
    software: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Choice:
    """Names in the four tables, what goes with the guide, and the sentence that says why."""

    design: str
    guide: guides.Guide
    estimator: str
    interval: str
    reason: str
    floor: float = USUAL_FLOOR
    profile: profiles.Profile | None = None


def apply_wishes(policy: Policy, event: EvaluationWanted) -> Policy:
    """The policy with what the event asks for put over it."""
    return Policy(
        objective=event.objective or policy.objective,
        level=policy.level,
        method=event.method or policy.method,
        budget=_budget(policy.budget, event.budget),
        missing_limit=policy.missing_limit,
        attempt_margin=policy.attempt_margin,
    )


def _budget(usual: Budget, wanted: Budget | None) -> Budget:
    """The event's budget; the least that a share comes to is the policy's affair."""
    return usual if wanted is None else replace(wanted, minimum=usual.minimum)


def plan(request: PlanRequest) -> tuple[Plan, guides.Guide]:
    """Fix the plan of an evaluation, and name the guide that it will draw with.

    Raises:
        InvalidPlan: the budget gives no draw.
    """
    policy, suite = request.policy, request.suite
    population = len(suite.items)
    draws = policy.budget.draws(population)
    if draws < 1:
        raise InvalidPlan(f"a budget of {draws} draws on {population} items buys nothing")
    choice = _choose(request, draws)
    draws = population if choice.interval == "census" else draws
    is_simple = choice.design == designs.Simple.name
    fixed = Plan(
        subject=request.subject,
        method=policy.method,
        objective=policy.objective,
        inference=_inference(choice, policy.level),
        population=population,
        draws=draws,
        round_sizes=(draws,) if is_simple else rounds.round_sizes(draws),
        weights=_weights(choice, draws, population),
        clock_seed=clock_seed(request.subject.evaluation_id),
        attempts_allowed=draws + ceil(policy.attempt_margin * draws),
        missing_limit=policy.missing_limit,
        baseline=request.baseline,
        reason=choice.reason,
        history_digest=request.history.digest if request.history else None,
        software=request.software,
    )
    return fixed, choice.guide


def guide_named(name: str, *, suite: Suite, history: History | None) -> guides.Guide:
    """The guide that a stored plan names, fitted again.

    A history that has lost its files since leaves the constant guide: any guide is valid.
    """
    if history is not None and history.guide.name == name:
        return history.guide
    unlearnt = _unlearnt(suite)
    return unlearnt if unlearnt.name == name else _constant(len(suite.items))


def _inference(choice: _Choice, level: float) -> Inference:
    return Inference(
        design=choice.design,
        guide=choice.guide.name,
        guide_digest=Digest(guides.digest(choice.guide)),
        estimator=choice.estimator,
        interval=choice.interval,
        dispersion=choice.guide.dispersion,
        level=level,
        floor=choice.floor,
    )


def _choose(request: PlanRequest, draws: int) -> _Choice:
    population, policy = len(request.suite.items), request.policy
    blind = _constant(population)
    if rounds.is_census(draws, population):
        reason = f"Every item is asked: the budget covers {draws} of {population}."
        return _simple(blind, reason, interval="census")
    exact = "hypergeometric" if _is_binary(request.suite) else "betting"
    obstacle = _obstacle(request, draws)
    if obstacle is not None:
        return _simple(blind, obstacle, interval=exact)
    if policy.method is Method.FAQ_PUBLISHED:
        return _published(request.history, blind)
    if request.history is None:
        because = "as asked: there is no history"
        if policy.method is Method.AUTO:
            because = "which set item groups apart: there is no history of other models"
        return _active(_unlearnt(request.suite), f"Drawn by the answers so far alone, {because}.")
    reason = "Drawn where earlier models disagree, as history allows."
    if policy.method is Method.FAQ:
        reason = "Drawn where earlier models disagree, as asked."
    fit = request.history.fit
    return replace(_active(fit.guide, reason), floor=fit.floor, profile=fit.profile)


def _obstacle(request: PlanRequest, draws: int) -> str | None:
    """Why plain random sampling it is, or None."""
    policy, baseline = request.policy, request.baseline
    if policy.method is Method.SIMPLE:
        return "Plain random sampling, as asked."
    if policy.method is Method.AUTO:
        if request.history is None and not _may_learn_alone(request, draws):
            return "Plain random sampling: there is no history of other models."
        if request.history is not None and not request.history.fit.is_worth(draws):
            return _no_gain(request.history.fit, draws)
    if isinstance(baseline, Baseline) and baseline.overconfident_guide:
        return "Plain random sampling: the guide misled the evaluation before this one."
    failures, successes = _expected_counts(request, draws)
    if min(failures, successes) < forecasts.FEWEST_EXPECTED:
        rare = "failures" if failures < successes else "successes"
        count = min(failures, successes)
        return f"Plain random sampling with an exact interval: only {count:.1f} {rare} expected."
    return None


def _no_gain(fit: selection.Fit, draws: int) -> str:
    ratio = fit.ess_ratio(draws)
    if ratio is None:
        return "Plain random sampling: there is too little history to try out what it is worth."
    return (
        "Plain random sampling: on earlier models that were left out, a draw by history was worth "
        f"{ratio:.2f} plain ones at {draws} draws: too little, or on too few models, to rely on."
    )


def _expected_counts(request: PlanRequest, draws: int) -> tuple[float, float]:
    """Failures and successes among the draws, by history and the version before."""
    guide = request.history.guide if request.history else _unlearnt(request.suite)
    baseline = request.baseline
    return forecasts.expected_counts(
        guide.predict(answers.Answers.from_columns(items=[], scores=[])),
        size=draws,
        mean=baseline.value if isinstance(baseline, Baseline) else None,
    )


def _weights(choice: _Choice, draws: int, population: int) -> tuple[float, ...]:
    if choice.design == designs.WithoutReplacement.name:
        return weights.term_weights(draws, population, profile=choice.profile)
    return weights.normalised([1.0] * draws)


def _simple(guide: guides.Guide, reason: str, *, interval: str) -> _Choice:
    return _Choice(
        design=designs.Simple.name,
        guide=guide,
        estimator="sample_mean",
        interval=interval,
        reason=reason,
    )


def _active(guide: guides.Guide, reason: str) -> _Choice:
    return _Choice(
        design=designs.WithoutReplacement.name,
        guide=guide,
        estimator="active_mean",
        interval="mixed_t",
        reason=reason,
    )


def _published(history: History | None, blind: guides.Guide) -> _Choice:
    """FAQ as published, but for its draws one by one: a service cannot wait for each answer."""
    by = "where earlier models disagree" if history else "by the answers so far alone"
    return _Choice(
        design=designs.WithReplacement.name,
        guide=history.guide if history else blind,
        estimator="proactive_mean",
        interval="wald",
        reason=f"Drawn {by}, with replacement as published but in lagged rounds, as asked.",
        floor=history.fit.floor if history else USUAL_FLOOR,
    )


def _unlearnt(suite: Suite) -> guides.Guide:
    """A guide that has seen no model: it begins with plain draws and learns from the answers."""
    if not _has_groups(suite):
        return _constant(len(suite.items))
    known = answers.History.empty(len(suite.items), groups=suite.group_labels)
    return guides.GUIDES["item_groups"].fit(known)


def _has_groups(suite: Suite) -> bool:
    """Whether groups may tell anything: how far fractional scores scatter only history tells."""
    return _is_binary(suite) and len(set(suite.group_labels)) > 1


def _may_learn_alone(request: PlanRequest, draws: int) -> bool:
    """Whether an evaluation without history gains from its own answers.

    Only an estimate of the version before can tell how few failures there will be; where they are
    few, a guided interval is far wider than the exact one.
    """
    knows_level = isinstance(request.baseline, Baseline)
    return knows_level and draws >= FEWEST_TO_LEARN and _has_groups(request.suite)


def _constant(population: int) -> guides.Guide:
    return guides.GUIDES["constant"].fit(answers.History.empty(population))


def _is_binary(suite: Suite) -> bool:
    kinds = {suite.grader_of(item).kind for item in suite.items}
    return all(graders.GRADERS[kind].is_binary for kind in kinds)
