"""Everything that is decided about an evaluation before its first draw, and why."""

from dataclasses import dataclass, replace
from math import ceil

from monitor.domain.errors import InvalidPlan
from monitor.domain.events import EvaluationWanted
from monitor.domain.identifiers import Digest, clock_seed
from monitor.domain.plans import Inference, Plan, Subject
from monitor.domain.policies import Budget, Method, Policy
from monitor.domain.results import Baseline, NoBaseline
from monitor.domain.suites import Suite
from monitor.grading import graders
from monitor.stats import answers, designs, forecasts, guides, rounds, weights


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """A guide fitted to earlier outcomes of other models, and the digest of those outcomes."""

    guide: guides.Guide
    digest: Digest


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
    """Names in the four tables, and the sentence that goes with them."""

    design: str
    guide: guides.Guide
    estimator: str
    interval: str
    reason: str


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
        weights=_weights(draws, population, equal=is_simple),
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
    return _constant(len(suite.items))


def _inference(choice: _Choice, level: float) -> Inference:
    return Inference(
        design=choice.design,
        guide=choice.guide.name,
        guide_digest=Digest(guides.digest(choice.guide)),
        estimator=choice.estimator,
        interval=choice.interval,
        dispersion=choice.guide.dispersion,
        level=level,
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
    if request.history is None:
        reason = "Drawn by the answers so far alone, as asked: there is no history."
        return _active(blind, reason)
    reason = "Drawn where earlier models disagree, as history allows."
    if policy.method is Method.FAQ:
        reason = "Drawn where earlier models disagree, as asked."
    return _active(request.history.guide, reason)


def _obstacle(request: PlanRequest, draws: int) -> str | None:
    """Why plain random sampling it is, or None."""
    policy, baseline = request.policy, request.baseline
    if policy.method is Method.SIMPLE:
        return "Plain random sampling, as asked."
    if request.history is None and policy.method is Method.AUTO:
        return "Plain random sampling: there is no history to draw by."
    if isinstance(baseline, Baseline) and baseline.overconfident_guide:
        return "Plain random sampling: history misled the evaluation before this one."
    failures, successes = _expected_counts(request, draws)
    if min(failures, successes) < forecasts.FEWEST_EXPECTED:
        rare = "failures" if failures < successes else "successes"
        count = min(failures, successes)
        return f"Plain random sampling with an exact interval: only {count:.1f} {rare} expected."
    return None


def _expected_counts(request: PlanRequest, draws: int) -> tuple[float, float]:
    """Failures and successes among the draws, by history and the version before."""
    guide = request.history.guide if request.history else _constant(len(request.suite.items))
    baseline = request.baseline
    return forecasts.expected_counts(
        guide.predict(answers.Answers.from_columns(items=[], scores=[])),
        size=draws,
        mean=baseline.value if isinstance(baseline, Baseline) else None,
    )


def _weights(draws: int, population: int, *, equal: bool) -> tuple[float, ...]:
    if equal:
        return weights.normalised([1.0] * draws)
    return weights.term_weights(draws, population)


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


def _constant(population: int) -> guides.Guide:
    return guides.GUIDES["constant"].fit(answers.History.empty(population))


def _is_binary(suite: Suite) -> bool:
    kinds = {suite.grader_of(item).kind for item in suite.items}
    return all(graders.GRADERS[kind].is_binary for kind in kinds)
