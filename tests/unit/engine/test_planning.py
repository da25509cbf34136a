from dataclasses import replace
from math import fsum
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from monitor.domain.errors import InvalidPlan
from monitor.domain.events import EvaluationWanted, EventIdentity
from monitor.domain.identifiers import EndpointName, VariantName, VersionName, clock_seed, digest
from monitor.domain.plans import Inference, Plan
from monitor.domain.policies import AtLeast, Budget, KeepAnswers, Method, Policy
from monitor.domain.results import Baseline
from monitor.domain.suites import Suite
from monitor.engine import planning, strata
from monitor.engine.planning import History, Surrogate
from monitor.stats import answers, guides, stratification, weights
from monitor.stats.profiles import Profile
from tests.unit.engine.examples import (
    FIRST,
    HISTORY,
    SUBJECT,
    SUITE,
    SURROGATE,
    baseline,
    learnt,
    request,
    suite,
    surrogate,
)

AUTO, FAQ, SIMPLE, PUBLISHED = Method.AUTO, Method.FAQ, Method.SIMPLE, Method.FAQ_PUBLISHED
NEYMAN = Method.NEYMAN


def planned(**changes: object) -> Plan:
    return planning.plan(request(**changes))[0]


def policy(method: Method = AUTO, count: int = 30) -> Policy:
    return Policy(method=method, budget=Budget(count=count))


def known(signal: Surrogate = SURROGATE, **changes: object) -> Surrogate:
    """A surrogate of which something is changed in its signal."""
    columns = replace(signal.signal, **changes)  # type: ignore[arg-type]
    return replace(signal, signal=columns)


def flat() -> Surrogate:
    """A surrogate that never gave an answer."""
    every = np.full(60, 0.1)
    return known(entropy=every, consistency=every, single=every > 1.0, pass_rate=None)


def easy_history(accuracy: float) -> History:
    """Models that all do equally well on every question."""
    outcomes = np.full((40, 60), accuracy)
    guide = guides.GUIDES["item_mean"].fit(answers.History.from_matrix(outcomes))
    return learnt(guide, digest("easy"))


def worth(ess_ratio: float | None) -> History:
    """As `HISTORY`, but for what its replays have shown."""
    return learnt(HISTORY.guide, HISTORY.digest, ess_ratio=ess_ratio)


def design(inference: Inference) -> tuple[str, str, str, str]:
    return inference.design, inference.guide, inference.estimator, inference.interval


def ungrouped(suite: Suite) -> Suite:
    return replace(suite, items=tuple(replace(item, group=None) for item in suite.items))


LARGE = suite(200)
LONE = {
    "suite": LARGE,
    "history": None,
    "policy": policy(AUTO, 60),
    "baseline": baseline(0.7),
}
BLIND_EXACT = ("simple", "constant", "sample_mean", "hypergeometric")
CENSUS = ("simple", "constant", "sample_mean", "census")
BY_HISTORY = ("without_replacement", "item_mean", "active_mean", "mixed_t")
REPEATING = ("with_replacement", "item_mean", "proactive_mean", "wald")
REPEATING_BLIND = ("with_replacement", "constant", "proactive_mean", "wald")
BY_GROUPS = ("without_replacement", "item_groups", "active_mean", "mixed_t")
BY_STRATA = ("stratified", "surrogate", "stratified_mean", "stratified_wilson")
BY_ANSWERS = ("without_replacement", "constant", "active_mean", "mixed_t")


@pytest.mark.parametrize(
    ("changes", "expected", "sentence"),
    [
        ({}, BY_HISTORY, "where earlier models disagree, as history allows"),
        ({"policy": policy(FAQ)}, BY_HISTORY, "where earlier models disagree, as asked"),
        ({"policy": policy(FAQ), "history": None}, BY_GROUPS, "as asked: there is no history"),
        (LONE, BY_GROUPS, "which set item groups apart: there is no history of other models"),
        (LONE | {"suite": ungrouped(LARGE)}, BLIND_EXACT, "there is no history"),
        (LONE | {"baseline": FIRST}, BLIND_EXACT, "there is no history"),
        (LONE | {"baseline": baseline(0.97)}, BLIND_EXACT, "failures expected"),
        (LONE | {"policy": policy(AUTO, 59)}, BLIND_EXACT, "there is no history"),
        (
            {"history": None, "suite": ungrouped(SUITE), "policy": policy(FAQ)},
            BY_ANSWERS,
            "as asked: there is no history",
        ),
        ({"policy": policy(SIMPLE)}, BLIND_EXACT, "Plain random sampling, as asked"),
        ({"policy": policy(PUBLISHED)}, REPEATING, "disagree, with replacement as published"),
        ({"policy": policy(PUBLISHED)}, REPEATING, "but in lagged rounds, as asked"),
        ({"policy": policy(PUBLISHED), "history": None}, REPEATING_BLIND, "answers so far alone"),
        ({"policy": policy(PUBLISHED, 58)}, CENSUS, "the budget covers 58 of 60"),
        ({"policy": policy(PUBLISHED, 8)}, BLIND_EXACT, "expected"),
        ({"policy": policy(FAQ, 58)}, CENSUS, "the budget covers 58 of 60"),
        ({"policy": policy(AUTO, 600)}, CENSUS, "the budget covers 60 of 60"),
        ({"policy": policy(SIMPLE, 60)}, CENSUS, "Every item is asked"),
        ({"policy": policy(FAQ, 57)}, BY_HISTORY, "as asked"),
        ({"baseline": baseline(overconfident_guide=True)}, BLIND_EXACT, "the guide misled"),
        ({"baseline": baseline(0.6)}, BY_HISTORY, "as history allows"),
        ({"baseline": baseline(0.99)}, BLIND_EXACT, "failures expected"),
        ({"baseline": baseline(0.01)}, BLIND_EXACT, "successes expected"),
        ({"history": easy_history(0.995)}, BLIND_EXACT, "failures expected"),
        ({"history": easy_history(0.005)}, BLIND_EXACT, "successes expected"),
        ({"policy": policy(AUTO, 8)}, BLIND_EXACT, "expected"),
        (
            {"history": worth(1.01)},
            BLIND_EXACT,
            "a draw by history was worth 1.01 plain ones at 30",
        ),
        ({"history": worth(None)}, BLIND_EXACT, "too little history to try out"),
        ({"history": worth(1.01), "policy": policy(FAQ)}, BY_HISTORY, "as asked"),
        ({"history": worth(None), "policy": policy(FAQ)}, BY_HISTORY, "as asked"),
    ],
)
def test_the_design_and_its_reason(
    changes: dict[str, Any], expected: tuple[str, str, str, str], sentence: str
) -> None:
    plan = planned(**changes)
    assert design(plan.inference) == expected
    assert sentence in plan.reason
    assert plan.reason.endswith(".")


ASKED = {"policy": policy(NEYMAN), "signal": SURROGATE}
ALONE = {"history": None, "signal": SURROGATE}
MISLED = baseline(0.7, overconfident_guide=True)


@pytest.mark.parametrize(
    ("changes", "expected", "sentence"),
    [
        ({}, BY_HISTORY, "where earlier models disagree, as history allows."),
        (ALONE, BY_STRATA, "about equally hard for surrogate small: there is no history of other"),
        ({"signal": SURROGATE}, BY_HISTORY, r"worth 1.50 plain ones, by the strata of surrogate s"),
        (
            {"signal": SURROGATE, "history": worth(1.1)},
            BY_STRATA,
            "plain ones, by history it was 1.10.",
        ),
        (
            {"history": None},
            BLIND_EXACT,
            "Plain random sampling: there is no history of other models.",
        ),
    ],
    ids=["history", "surrogate", "both", "both, history weaker", "neither"],
)
def test_auto_goes_by_what_is_there(
    changes: dict[str, Any], expected: tuple[str, str, str, str], sentence: str
) -> None:
    plan = planned(**changes)
    assert design(plan.inference) == expected
    assert sentence in plan.reason


@pytest.mark.parametrize(
    ("changes", "expected", "sentence"),
    [
        (ASKED, BY_STRATA, "about equally hard for surrogate small, as asked."),
        (ASKED | {"history": None}, BY_STRATA, "as asked"),
        (ASKED | {"baseline": MISLED}, BY_STRATA, "as asked"),
        (
            ASKED | {"signal": None},
            BLIND_EXACT,
            "neyman needs a surrogate's answers; configure one",
        ),
        (ASKED | {"signal": flat()}, BLIND_EXACT, "surrogate small promise no gain at 30 draws."),
        (ASKED | {"policy": policy(NEYMAN, 3)}, BLIND_EXACT, "promise no gain at 3 draws."),
        (ASKED | {"policy": policy(NEYMAN, 58)}, CENSUS, "the budget covers 58 of 60"),
        (ASKED | {"policy": policy(FAQ)}, BY_HISTORY, "as asked"),
        (ASKED | {"policy": policy(SIMPLE)}, BLIND_EXACT, "as asked"),
        (ALONE | {"policy": policy(FAQ)}, BY_GROUPS, "as asked: there is no history"),
        (ALONE | {"baseline": MISLED}, BY_STRATA, "no history"),
        ({"signal": SURROGATE, "baseline": MISLED}, BY_STRATA, "small: the guide misled the"),
        (
            {"signal": SURROGATE, "history": worth(1.01)},
            BY_STRATA,
            "was worth 1.01 plain ones at 30",
        ),
        (
            {"signal": SURROGATE, "history": worth(None)},
            BY_STRATA,
            "small: there is too little history",
        ),
        ({"signal": flat()}, BY_HISTORY, "as history allows."),
        (
            ALONE | {"signal": flat()},
            BLIND_EXACT,
            "models, and strata by the answers of surrogate small promise too little at 30 draws.",
        ),
        (LONE | {"signal": surrogate(200)}, BY_STRATA, "no history"),
        (ALONE | {"baseline": baseline(0.99)}, BLIND_EXACT, "only 0.3 failures expected"),
        (ALONE | {"baseline": baseline(1.03)}, BLIND_EXACT, "only 0.0 failures expected"),
        (ALONE | {"baseline": baseline(-0.01)}, BLIND_EXACT, "only 0.0 successes expected"),
        (ALONE | {"baseline": baseline(0.7)}, BY_STRATA, "no history"),
        (ALONE | {"signal": known(pass_rate=np.full(60, 0.0))}, BLIND_EXACT, "promise too little"),
    ],
)
def test_strata_and_their_reason(
    changes: dict[str, Any], expected: tuple[str, str, str, str], sentence: str
) -> None:
    plan = planned(**changes)
    assert design(plan.inference) == expected
    assert sentence in plan.reason
    assert plan.reason.endswith(".")


@pytest.mark.parametrize(
    ("budget", "population", "draws"),
    [
        (Budget(count=30), 60, 30),
        (Budget(count=30), 20, 20),
        (Budget(share=0.1), 60, 60),
        (Budget(share=0.1), 400, 100),
        (Budget(share=0.1, minimum=1), 400, 40),
        (Budget(share=0.301, minimum=1), 100, 31),
    ],
)
def test_the_budget_is_a_count_or_a_share_with_a_minimum(
    budget: Budget, population: int, draws: int
) -> None:
    plan = planned(policy=Policy(budget=budget), suite=suite(population), history=None)
    assert (plan.draws, plan.population) == (draws, population)


def test_a_budget_that_buys_nothing_is_refused() -> None:
    with pytest.raises(InvalidPlan, match="0 draws on 60 items"):
        planned(policy=policy(count=0))


@given(st.integers(1, 60), st.sampled_from(Method), st.sampled_from([None, HISTORY]))
def test_rounds_and_weights_make_up_the_plan(
    count: int, method: Method, known: History | None
) -> None:
    plan = planned(policy=policy(method, count), history=known)
    assert sum(plan.round_sizes) == plan.draws == len(plan.weights)
    assert min(plan.round_sizes) > 0
    assert fsum(plan.weights) == pytest.approx(1.0)


def test_plain_random_sampling_is_one_round_of_equal_weights() -> None:
    plan = planned(policy=policy(SIMPLE))
    assert plan.round_sizes == (30,)
    assert plan.weights == (1 / 30,) * 30


def test_with_replacement_rounds_are_the_guided_ones_and_weights_are_equal() -> None:
    plan = planned(policy=policy(PUBLISHED))
    assert plan.round_sizes == planned().round_sizes
    assert plan.weights == (1 / 30,) * 30


def test_guided_rounds_start_small_and_late_terms_weigh_more() -> None:
    plan = planned()
    assert plan.round_sizes[:3] == (2, 2, 2)
    assert plan.weights[-1] > plan.weights[0]


def test_floor_and_weights_are_those_that_replays_chose() -> None:
    profile = Profile(starts=np.array([0.0, 10.0]), levels=np.array([1.0, 0.25]))
    known = learnt(HISTORY.guide, HISTORY.digest, floor=0.25, profile=profile)
    plan, usual = planned(history=known), planned()
    assert (plan.inference.floor, usual.inference.floor) == (0.25, 0.1)
    assert plan.weights == weights.term_weights(30, 60, profile)
    assert planned(history=known, policy=policy(PUBLISHED)).inference.floor == 0.25
    assert plan.weights[9] / usual.weights[9] == pytest.approx(
        plan.weights[10] / usual.weights[10] / 4.0
    )


def test_plain_random_sampling_takes_nothing_from_the_history() -> None:
    known = learnt(HISTORY.guide, HISTORY.digest, floor=0.25)
    assert planned(history=known, policy=policy(SIMPLE)) == planned(policy=policy(SIMPLE))


@pytest.mark.parametrize(("margin", "allowed"), [(0.0, 30), (0.1, 33), (0.11, 34)])
def test_retries_have_an_allowance_beside_the_draws(margin: float, allowed: int) -> None:
    plan = planned(policy=replace(policy(), attempt_margin=margin))
    assert (plan.draws, plan.attempts_allowed) == (30, allowed)


def test_a_census_has_the_allowance_of_all_its_draws() -> None:
    assert planned(policy=policy(count=58)).attempts_allowed == 66


def test_strata_are_drawn_from_in_one_round_of_equal_weights() -> None:
    plan = planned(**ASKED, baseline=baseline(0.7))
    layout = stratification.lay_out(SURROGATE.signal, 30, SURROGATE.settings, mean=0.7)
    assert plan.strata == strata.store(layout)
    assert (plan.round_sizes, plan.weights) == ((30,), (1 / 30,) * 30)
    assert plan.signal_digest == SURROGATE.digest
    assert planned(signal=SURROGATE).strata is None


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (("a",), "hard for surrogate a,"),
        (("a", "b"), "hard for surrogates a and b,"),
        (("a", "b", "c"), "hard for surrogates a, b and c,"),
    ],
)
def test_every_surrogate_is_named(names: tuple[str, ...], text: str) -> None:
    assert text in planned(**ASKED | {"signal": surrogate(names=names)}).reason


@pytest.mark.parametrize(
    ("rate", "before", "expected"),
    [
        (None, FIRST, BY_STRATA),
        (0.9, FIRST, BLIND_EXACT),
        (0.9, baseline(0.7), BY_STRATA),
        (None, baseline(0.9), BLIND_EXACT),
    ],
)
def test_few_failures_are_foreseen_by_the_version_before_or_the_pass_rate(
    rate: float | None, before: Baseline, expected: tuple[str, str, str, str]
) -> None:
    """The agreement of a surrogate's answers alone does not tell."""
    rates = SURROGATE.signal.pass_rate
    assert rates is not None
    mostly_right = (
        None if rate is None else 1.0 - (1.0 - rates) * (1.0 - rate) / (1.0 - rates).mean()
    )
    plan = planned(**ASKED | {"signal": known(pass_rate=mostly_right), "baseline": before})
    assert design(plan.inference) == expected


def test_the_plan_names_everything_it_rests_on() -> None:
    plan, guide = planning.plan(request(baseline=baseline()))
    assert guide is HISTORY.guide
    assert plan.inference.guide_digest == guides.digest(guide)
    assert (plan.history_digest, plan.baseline) == (HISTORY.digest, baseline())
    assert plan.clock_seed == clock_seed(SUBJECT.evaluation_id)
    assert (plan.subject, plan.software) == (SUBJECT, "test")


def test_the_guide_of_a_stored_plan_is_fitted_again() -> None:
    assert planning.guide_named("item_mean", suite=SUITE, history=HISTORY) is HISTORY.guide
    assert planning.guide_named("constant", suite=SUITE, history=HISTORY).name == "constant"
    assert planning.guide_named("item_mean", suite=SUITE, history=None).name == "constant"
    _, unlearnt = planning.plan(request(history=None, policy=policy(FAQ)))
    again = planning.guide_named("item_groups", suite=SUITE, history=None)
    assert guides.digest(again) == guides.digest(unlearnt)
    lone = planning.guide_named("item_groups", suite=ungrouped(SUITE), history=None)
    assert lone.name == "constant"


def test_the_guide_of_strata_is_made_again_of_the_signal_or_is_constant() -> None:
    _, guide = planning.plan(request(**ASKED))
    again = planning.guide_named("surrogate", suite=SUITE, history=HISTORY, signal=SURROGATE)
    lost = planning.guide_named("surrogate", suite=SUITE, history=HISTORY)
    assert guides.digest(again) == guides.digest(guide)
    assert lost.name == "constant"


def wanted(**wishes: object) -> EvaluationWanted:
    usual = EvaluationWanted(
        identity=EventIdentity(source="/registry", id="2"),
        variant=VariantName("chat"),
        version=VersionName("2"),
        endpoint=EndpointName("prod"),
    )
    return replace(usual, **wishes)  # type: ignore[arg-type]


def test_an_event_without_wishes_leaves_the_policy() -> None:
    usual = Policy(level=0.9, missing_limit=0.01, attempt_margin=0.5, keep_answers=KeepAnswers.NONE)
    assert planning.apply_wishes(usual, wanted()) == usual


def test_an_events_wishes_go_over_the_policy() -> None:
    objective = AtLeast(threshold=0.7)
    event = wanted(method=SIMPLE, objective=objective, budget=Budget(share=0.5))
    usual = Policy(budget=Budget(count=30, minimum=7), level=0.9)
    changed = planning.apply_wishes(usual, event)
    assert (changed.method, changed.objective, changed.level) == (SIMPLE, objective, 0.9)
    assert changed.budget == Budget(share=0.5, minimum=7)
