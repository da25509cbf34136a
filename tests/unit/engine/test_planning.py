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
from monitor.domain.policies import AtLeast, Budget, Method, Policy
from monitor.engine import planning
from monitor.engine.planning import History
from monitor.grading import graders
from monitor.stats import answers, guides
from tests.unit.engine.examples import HISTORY, SUBJECT, SUITE, baseline, request, suite

AUTO, FAQ, SIMPLE = Method.AUTO, Method.FAQ, Method.SIMPLE


def planned(**changes: object) -> Plan:
    return planning.plan(request(**changes))[0]


def policy(method: Method = AUTO, count: int = 30) -> Policy:
    return Policy(method=method, budget=Budget(count=count))


def easy_history(accuracy: float) -> History:
    """Models that all do equally well on every question."""
    outcomes = np.full((40, 60), accuracy)
    guide = guides.GUIDES["item_mean"].fit(answers.History.from_matrix(outcomes))
    return History(guide=guide, digest=digest("easy"))


def design(inference: Inference) -> tuple[str, str, str, str]:
    return inference.design, inference.guide, inference.estimator, inference.interval


BLIND_EXACT = ("simple", "constant", "sample_mean", "hypergeometric")
CENSUS = ("simple", "constant", "sample_mean", "census")
BY_HISTORY = ("without_replacement", "item_mean", "active_mean", "mixed_t")
BY_ANSWERS = ("without_replacement", "constant", "active_mean", "mixed_t")


@pytest.mark.parametrize(
    ("changes", "expected", "sentence"),
    [
        ({}, BY_HISTORY, "where earlier models disagree, as history allows"),
        ({"policy": policy(FAQ)}, BY_HISTORY, "where earlier models disagree, as asked"),
        ({"policy": policy(FAQ), "history": None}, BY_ANSWERS, "as asked: there is no history"),
        ({"history": None}, BLIND_EXACT, "no history to draw by"),
        ({"policy": policy(SIMPLE)}, BLIND_EXACT, "Plain random sampling, as asked"),
        ({"policy": policy(FAQ, 58)}, CENSUS, "the budget covers 58 of 60"),
        ({"policy": policy(AUTO, 600)}, CENSUS, "the budget covers 60 of 60"),
        ({"policy": policy(SIMPLE, 60)}, CENSUS, "Every item is asked"),
        ({"policy": policy(FAQ, 57)}, BY_HISTORY, "as asked"),
        ({"baseline": baseline(overconfident_guide=True)}, BLIND_EXACT, "history misled"),
        ({"baseline": baseline(0.6)}, BY_HISTORY, "as history allows"),
        ({"baseline": baseline(0.99)}, BLIND_EXACT, "failures expected"),
        ({"baseline": baseline(0.01)}, BLIND_EXACT, "successes expected"),
        ({"history": easy_history(0.995)}, BLIND_EXACT, "failures expected"),
        ({"history": easy_history(0.005)}, BLIND_EXACT, "successes expected"),
        ({"policy": policy(AUTO, 8)}, BLIND_EXACT, "expected"),
    ],
)
def test_the_design_and_its_reason(
    changes: dict[str, Any], expected: tuple[str, str, str, str], sentence: str
) -> None:
    plan = planned(**changes)
    assert design(plan.inference) == expected
    assert sentence in plan.reason
    assert plan.reason.endswith(".")


def test_fractional_scores_get_a_bounded_mean_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    fractional = replace(graders.GRADERS["exact"], is_binary=False)
    monkeypatch.setitem(graders.GRADERS, "exact", fractional)
    assert planned(policy=policy(SIMPLE)).inference.interval == "betting"


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


def test_guided_rounds_start_small_and_late_terms_weigh_more() -> None:
    plan = planned()
    assert plan.round_sizes[:3] == (4, 4, 4)
    assert plan.weights[-1] > plan.weights[0]


@pytest.mark.parametrize(("margin", "allowed"), [(0.0, 30), (0.1, 33), (0.11, 34)])
def test_retries_have_an_allowance_beside_the_draws(margin: float, allowed: int) -> None:
    plan = planned(policy=replace(policy(), attempt_margin=margin))
    assert (plan.draws, plan.attempts_allowed) == (30, allowed)


def test_a_census_has_the_allowance_of_all_its_draws() -> None:
    assert planned(policy=policy(count=58)).attempts_allowed == 66


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


def wanted(**wishes: object) -> EvaluationWanted:
    usual = EvaluationWanted(
        identity=EventIdentity(source="/registry", id="2"),
        variant=VariantName("chat"),
        version=VersionName("2"),
        endpoint=EndpointName("prod"),
    )
    return replace(usual, **wishes)  # type: ignore[arg-type]


def test_an_event_without_wishes_leaves_the_policy() -> None:
    usual = replace(policy(), level=0.9, missing_limit=0.01, attempt_margin=0.5)
    assert planning.apply_wishes(usual, wanted()) == usual


def test_an_events_wishes_go_over_the_policy() -> None:
    objective = AtLeast(threshold=0.7)
    event = wanted(method=SIMPLE, objective=objective, budget=Budget(share=0.5))
    usual = Policy(budget=Budget(count=30, minimum=7), level=0.9)
    changed = planning.apply_wishes(usual, event)
    assert (changed.method, changed.objective, changed.level) == (SIMPLE, objective, 0.9)
    assert changed.budget == Budget(share=0.5, minimum=7)
