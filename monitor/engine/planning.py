"""Everything that is decided about an evaluation before its first draw, and why."""

from dataclasses import dataclass, replace
from math import ceil
from typing import assert_never

from monitor.domain.errors import InvalidPlan
from monitor.domain.events import EvaluationWanted
from monitor.domain.identifiers import Digest, clock_seed
from monitor.domain.plans import Inference, Plan, Subject
from monitor.domain.policies import Budget, Method, Policy
from monitor.domain.results import Baseline, NoBaseline
from monitor.domain.suites import Suite
from monitor.engine import choices, doubts, strata
from monitor.engine.choices import Choice
from monitor.stats import (
    answers,
    designs,
    forecasts,
    guides,
    rounds,
    selection,
    stratification,
    surrogate_guide,
    weights,
)
from monitor.stats.signals import Signal

# Draws from which on item groups, learnt on the way, narrow an interval.
FEWEST_TO_LEARN = 60

# Designs that no answer changes.
AT_ONCE = {designs.Simple.name, designs.Stratified.name}

NO_HISTORY = "there is no history of other models"
NO_SURROGATE = ": method neyman needs a surrogate's answers; configure one, and let it answer first"
MISLED = "the guide misled the evaluation before this one"


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
class Surrogate:
    """What cheap models' answers to the suite's items tell, before the version is asked.

    settings: how strata are made of the signal; names: of the endpoints that answered.
    """

    signal: Signal
    settings: stratification.Settings
    digest: Digest
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRequest:
    """What a plan is made from; `software` names this program and its version.

    surrogates: those that are configured; there is no `signal` of them before they were asked.
    judges: models that judge the answers, sorted.
    """

    subject: Subject
    policy: Policy
    suite: Suite
    history: History | None
    baseline: Baseline | NoBaseline
    software: str
    signal: Surrogate | None = None
    surrogates: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()


def apply_wishes(policy: Policy, event: EvaluationWanted) -> Policy:
    """The policy with what the event asks for put over it."""
    return Policy(
        objective=event.objective or policy.objective,
        level=policy.level,
        method=event.method or policy.method,
        budget=_budget(policy.budget, event.budget),
        missing_limit=policy.missing_limit,
        attempt_margin=policy.attempt_margin,
        keep_answers=policy.keep_answers,
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
    fixed = Plan(
        subject=request.subject,
        method=policy.method,
        objective=policy.objective,
        inference=_inference(choice, policy.level),
        population=population,
        draws=draws,
        round_sizes=(draws,) if choice.design in AT_ONCE else rounds.round_sizes(draws),
        weights=_weights(choice, draws, population),
        clock_seed=clock_seed(request.subject.evaluation_id),
        attempts_allowed=draws + ceil(policy.attempt_margin * draws),
        missing_limit=policy.missing_limit,
        baseline=request.baseline,
        reason=choice.reason,
        history_digest=request.history.digest if request.history else None,
        software=request.software,
        strata=None if choice.layout is None else strata.store(choice.layout),
        signal_digest=request.signal.digest if request.signal else None,
        format_level=doubts.LEVEL,
        judges=request.judges,
    )
    return fixed, choice.guide


def guide_named(
    name: str, *, suite: Suite, history: History | None, signal: Surrogate | None = None
) -> guides.Guide:
    """The guide that a stored plan names, made again.

    A history or a signal that has been lost since leaves the constant guide: any guide is valid.
    """
    if history is not None and history.guide.name == name:
        return history.guide
    if signal is not None and name == surrogate_guide.SurrogateGuide.name:
        return surrogate_guide.SurrogateGuide.of(signal.signal)
    unlearnt = choices.unlearnt(suite)
    return unlearnt if unlearnt.name == name else choices.constant(len(suite.items))


def _inference(choice: Choice, level: float) -> Inference:
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


def _weights(choice: Choice, draws: int, population: int) -> tuple[float, ...]:
    if choice.design == designs.WithoutReplacement.name:
        return weights.term_weights(draws, population, profile=choice.profile)
    return weights.normalised([1.0] * draws)


def _choose(request: PlanRequest, draws: int) -> Choice:
    population = len(request.suite.items)
    if rounds.is_census(draws, population):
        reason = f"Every item is asked: the budget covers {draws} of {population}."
        return choices.census(population, reason)
    wish = _unless_scarce(request, _wish(request, draws), draws)
    if isinstance(wish, str):
        return choices.plain(request.suite, f"Plain random sampling{wish}.")
    return wish


def _wish(request: PlanRequest, draws: int) -> Choice | str:
    """What the method comes to, or how the sentence goes on that says why it is plain sampling."""
    match request.policy.method:
        case Method.SIMPLE:
            return ", as asked"
        case Method.FAQ:
            return _guided_as_asked(request)
        case Method.FAQ_PUBLISHED:
            return _published(request)
        case Method.NEYMAN:
            return _stratified_as_asked(request, draws)
        case Method.AUTO:
            return _automatic(request, draws)
        case _:
            assert_never(request.policy.method)


def _guided_as_asked(request: PlanRequest) -> Choice | str:
    if _was_misled(request):
        return f": {MISLED}"
    if request.history is None:
        reason = "Drawn by the answers so far alone, as asked: there is no history."
        return choices.learning(request.suite, reason)
    reason = "Drawn where earlier models disagree, as asked."
    return choices.by_history(request.history.fit, reason)


def _published(request: PlanRequest) -> Choice | str:
    if _was_misled(request):
        return f": {MISLED}"
    fit = request.history.fit if request.history else None
    return choices.published(fit, len(request.suite.items))


def _stratified_as_asked(request: PlanRequest, draws: int) -> Choice | str:
    surrogate = request.signal
    if surrogate is None:
        return _unasked(request) or NO_SURROGATE
    layout, gain = _forecast(surrogate, draws, mean=_mean_before(request))
    if gain <= 1.0:
        return f": strata by the answers of {_named(surrogate)} promise no gain at {draws} draws"
    return choices.stratified(surrogate.signal, layout, _from_strata(surrogate, ", as asked"))


def _automatic(request: PlanRequest, draws: int) -> Choice | str:
    """History or strata, whichever promises more; without either, what the answers alone allow."""
    guided, surrogate = _guided(request, draws), request.signal
    if surrogate is None:
        unasked = _unasked(request)
        if isinstance(guided, str):
            return guided + unasked
        return replace(guided, reason=f"{guided.reason.removesuffix('.')}{unasked}.")
    layout, gain = _forecast(surrogate, draws, mean=_mean_before(request))
    if gain < selection.WORTHWHILE:
        little = f"strata by the answers of {_named(surrogate)} promise too little at {draws} draws"
        return f"{guided}, and {little}" if isinstance(guided, str) else guided
    ratio = request.history.fit.ess_ratio(draws) if request.history else None
    if isinstance(guided, str):
        because = guided
    elif ratio is None:
        because = f": {NO_HISTORY}"
    elif ratio < gain:
        because = f": a draw should be worth {gain:.2f} plain ones, by history it was {ratio:.2f}"
    else:
        reason = (
            "Drawn where earlier models disagree, as history allows: a draw was worth "
            f"{ratio:.2f} plain ones, by the strata of {_named(surrogate)} it should be {gain:.2f}."
        )
        return replace(guided, reason=reason)
    return choices.stratified(surrogate.signal, layout, _from_strata(surrogate, because))


def _guided(request: PlanRequest, draws: int) -> Choice | str:
    """Draws by other models' outcomes, else by the answers alone; or why neither is worth it."""
    if request.history is None:
        if not _may_learn_alone(request, draws):
            return f": {NO_HISTORY}"
    elif not request.history.fit.is_worth(draws):
        return _no_gain(request.history.fit, draws)
    if _was_misled(request):
        return f": {MISLED}"
    if request.history is None:
        alone = "Drawn by the answers so far alone, which set item groups apart"
        return choices.learning(request.suite, f"{alone}: {NO_HISTORY}.")
    reason = "Drawn where earlier models disagree, as history allows."
    return choices.by_history(request.history.fit, reason)


def _no_gain(fit: selection.Fit, draws: int) -> str:
    ratio = fit.ess_ratio(draws)
    if ratio is None:
        return ": there is too little history to try out what it is worth"
    return (
        ": on earlier models that were left out, a draw by history was worth "
        f"{ratio:.2f} plain ones at {draws} draws: too little, or on too few models, to rely on"
    )


def _may_learn_alone(request: PlanRequest, draws: int) -> bool:
    """Whether an evaluation without history gains from its own answers.

    Only an estimate of the version before can tell how few failures there will be; where they are
    few, a guided interval is far wider than the exact one.
    """
    knows_level = isinstance(request.baseline, Baseline)
    return knows_level and draws >= FEWEST_TO_LEARN and choices.has_groups(request.suite)


def _was_misled(request: PlanRequest) -> bool:
    return isinstance(request.baseline, Baseline) and request.baseline.overconfident_guide


def _mean_before(request: PlanRequest) -> float | None:
    """Of the version before, in [0, 1], which its estimate may leave by chance."""
    before = request.baseline
    return min(max(before.value, 0.0), 1.0) if isinstance(before, Baseline) else None


def _forecast(
    surrogate: Surrogate, draws: int, *, mean: float | None
) -> tuple[stratification.Layout, float]:
    """Strata for so many draws, and how many plain ones each should be worth."""
    layout = stratification.lay_out(surrogate.signal, draws, surrogate.settings, mean=mean)
    return layout, forecasts.expected_gain(surrogate.signal, layout)


def _unasked(request: PlanRequest) -> str:
    """How a sentence goes on where surrogates are configured, but nothing is known from them."""
    if not request.surrogates:
        return ""
    has = "has" if len(request.surrogates) == 1 else "have"
    named = _listed(request.surrogates)
    return f"; {named} {has} not been asked: run variant-monitor surrogate ask"


def _from_strata(surrogate: Surrogate, because: str) -> str:
    name = _named(surrogate)
    return f"Drawn from strata of items that are about equally hard for {name}{because}."


def _named(surrogate: Surrogate) -> str:
    return _listed(surrogate.names)


def _listed(names: tuple[str, ...]) -> str:
    *others, last = names
    return f"surrogates {', '.join(others)} and {last}" if others else f"surrogate {last}"


def _unless_scarce(request: PlanRequest, wish: Choice | str, draws: int) -> Choice | str:
    """The wish where enough failures and successes are expected for its interval to hold."""
    counts = None if isinstance(wish, str) else _expected_counts(request, wish, draws)
    if counts is None or min(counts) >= forecasts.FEWEST_EXPECTED:
        return wish
    failures, successes = counts
    rare = "failures" if failures < successes else "successes"
    return f" with an exact interval: only {min(counts):.1f} {rare} expected"


def _expected_counts(
    request: PlanRequest, choice: Choice, draws: int
) -> tuple[float, float] | None:
    """Failures and successes among the draws, by the guide and the version before."""
    mean = _mean_before(request)
    if choice.layout is None:
        before = choice.guide.predict(answers.Answers.from_columns(items=[], scores=[]))
        return forecasts.expected_counts(before, size=draws, mean=mean, floor=choice.floor)
    rates = request.signal.signal.pass_rate if request.signal else None
    if mean is None and rates is not None:
        mean = float(rates.mean())
    # How often surrogates agree does not say how often a model fails.
    return None if mean is None else forecasts.expected_counts_simple(draws, mean)
