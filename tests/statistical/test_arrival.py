"""How answers arrive decides nothing: not which are slow, nor that they went through a journal."""

from collections.abc import Callable

import pytest

from monitor.domain.plans import Answered, Draw, Row
from monitor.domain.policies import Budget, Policy
from monitor.domain.results import Estimate, Findings
from monitor.engine import concluding, evaluations
from monitor.engine.evaluations import Evaluation
from monitor.wire import journal
from tests.unit.engine.examples import answer, begun, in_order, published_policy, scores

POLICIES = pytest.mark.parametrize(
    "policy", [Policy(budget=Budget(count=40)), published_policy(40)], ids=["default", "published"]
)
Delay = Callable[[float], float]


def run(delay: Delay, *, policy: Policy, seed: int) -> tuple[Evaluation, list[Row]]:
    """Whole evaluation in which an answer takes as long as its score says."""
    known, evaluation, rows = scores(seed=seed), begun(policy=policy), list[Row]()
    due: list[tuple[float, Draw]] = []
    now = 0.0
    while not evaluation.is_complete:
        while (drawn := evaluations.draw_round(evaluation)) is not None:
            row, evaluation = drawn
            rows.append(row)
            asked = [each for each in row.draws if each in evaluation.pending]
            due += [(now + delay(known[each.item]), each) for each in asked]
        now, first = min(due, key=lambda pair: (pair[0], pair[1].step))
        due.remove((now, first))
        arrived = Answered(answers=(answer(first, known[first.item]),))
        evaluation = evaluations.absorb(evaluation, arrived)
        rows.append(arrived)
    return evaluation, rows


def concluded(end: Evaluation) -> Findings:
    return concluding.conclude(end.plan, end.draws, in_order(end))


@POLICIES
@pytest.mark.parametrize("seed", range(5))
def test_failures_that_come_late_change_no_draw_and_no_result(policy: Policy, seed: int) -> None:
    even, _ = run(lambda _: 1.0, policy=policy, seed=seed)
    for delay in (lambda score: 50.0 - 49.0 * score, lambda score: 1.0 + 49.0 * score):
        end, _ = run(delay, policy=policy, seed=seed)
        assert end.draws == even.draws
        assert concluded(end) == concluded(even)


@POLICIES
def test_the_estimate_from_the_journal_is_the_estimate_to_the_byte(policy: Policy) -> None:
    end, rows = run(lambda score: 2.0 - score, policy=policy, seed=3)
    stored = [journal.decode(journal.encode(row)) for row in rows]
    replayed = concluded(evaluations.fold(begun(policy=policy), stored))
    assert isinstance(replayed.estimate, Estimate)
    assert replayed == concluded(end)
