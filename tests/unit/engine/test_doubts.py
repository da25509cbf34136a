from dataclasses import replace

import pytest

from monitor.domain.answers import MISSING, UNGRADED, UNREADABLE, Answer, Status
from monitor.domain.plans import Draw, Plan
from monitor.domain.results import Baseline, Doubt, NoBaseline, Unreadable
from monitor.engine import doubts
from tests.unit.engine.examples import FIRST, baseline, begun

PLAN = begun().plan
BEFORE = Unreadable(found=2.0, answers=100.0)


def draw(step: int, item: int) -> Draw:
    return Draw(
        step=step,
        round=0,
        item=item,
        probability=0.5,
        prediction=0.5,
        rest_prediction_sum=1.0,
        model_variance=0.0,
        group_mass=1.0,
        group_rest_prediction_sum=1.0,
        group_model_variance=0.0,
    )


def answer(step: int, status: Status) -> Answer:
    return Answer(step=step, status=status, score=None if status in MISSING else 0.0)


def assess(
    statuses: list[Status],
    *,
    weights: list[float] | None = None,
    items: list[int] | None = None,
    plan: Plan = PLAN,
) -> Doubt:
    steps = range(len(statuses))
    return doubts.assess(
        plan,
        [draw(step, item) for step, item in zip(steps, items or steps, strict=True)],
        [answer(step, status) for step, status in zip(steps, statuses, strict=True)],
        weights=weights or [1.0] * len(statuses),
    )


def against(before: Baseline | NoBaseline) -> Plan:
    return replace(PLAN, baseline=before)


def mostly_graded(unreadable: int, *, of: int = 100) -> list[Status]:
    return [Status.NO_ANSWER] * unreadable + [Status.GRADED] * (of - unreadable)


@pytest.mark.parametrize("status", sorted(UNGRADED))
def test_what_came_without_a_score_is_counted_by_its_status(status: Status) -> None:
    found = assess([status, Status.GRADED, Status.GRADED, Status.GRADED])
    assert found.ungraded == {status: 0.25}
    assert found.unreadable == Unreadable(found=float(status in UNREADABLE), answers=4.0)


def test_what_did_not_come_says_nothing_about_the_form() -> None:
    absent = sorted(set(Status) - UNGRADED - {Status.GRADED})
    found = assess([*absent, Status.TRUNCATED, Status.GRADED])
    assert found.ungraded == {"truncated": 0.5}
    assert found.unreadable == Unreadable(found=1.0, answers=2.0)


def test_shares_are_those_of_the_pool() -> None:
    """A draw of weight 3 stands for three times as many items."""
    found = assess([Status.REFUSAL, Status.NO_ANSWER, Status.GRADED], weights=[3.0, 1.0, 1.0])
    assert found.ungraded == {"no_answer": pytest.approx(0.2), "refusal": pytest.approx(0.6)}
    assert found.unreadable.share == pytest.approx(0.2)
    assert found.unreadable.answers < 3.0


def test_an_item_drawn_again_is_one_answer() -> None:
    found = assess([Status.NO_ANSWER, Status.GRADED, Status.NO_ANSWER], items=[7, 8, 7])
    assert found.unreadable.share == pytest.approx(2 / 3)
    assert found.unreadable.answers < 2.0


def test_more_unreadable_answers_than_chance_brings_are_a_change_of_format() -> None:
    change = assess(mostly_graded(24), plan=against(baseline(unreadable=BEFORE))).format_change
    assert change is not None
    assert (change.share, change.previous_share, change.previous_version) == (0.24, 0.02, "1")
    assert 0.0 < change.p_value < doubts.LEVEL


def test_fewer_are_one_as_well() -> None:
    plan = against(baseline(unreadable=Unreadable(found=30.0, answers=100.0)))
    assert assess(mostly_graded(1), plan=plan).format_change is not None


@pytest.mark.parametrize(
    "before",
    [
        FIRST,
        baseline(),
        baseline(unreadable=Unreadable(found=15.0, answers=100.0)),
        baseline(unreadable=Unreadable(found=0.0, answers=4.0)),
    ],
    ids=["first version", "unknown", "alike", "too few"],
)
def test_nothing_is_suspected_without_evidence(before: Baseline | NoBaseline) -> None:
    assert assess(mostly_graded(24), plan=against(before)).format_change is None


def test_the_level_of_the_plan_decides() -> None:
    plan = against(baseline(unreadable=Unreadable(found=10.0, answers=100.0)))
    assert assess(mostly_graded(28), plan=plan).format_change is None
    assert assess(mostly_graded(28), plan=replace(plan, format_level=0.05)).format_change
