import pytest

from monitor.domain.policies import Budget, Policy
from monitor.engine import concluding, rehearsal
from tests.unit.engine.examples import (
    SUITE,
    begun,
    complete,
    in_order,
    published_policy,
    replies,
    scores,
    simple_policy,
)

KNOWN = [None if item % 9 == 0 else score for item, score in enumerate(scores())]


@pytest.mark.parametrize(
    "policy", [Policy(budget=Budget(count=30)), simple_policy(30), published_policy(30)]
)
def test_a_rehearsal_finds_what_the_evaluation_finds(policy: Policy) -> None:
    end = complete(begun(policy=policy), replies(KNOWN))
    expected = concluding.conclude(end.plan, end.draws, in_order(end))
    found = rehearsal.rehearse(end.plan, suite=SUITE, guide=end.guide, scores=KNOWN)
    assert found.estimate == expected.estimate
    assert (found.answered, found.missing) == (expected.answered, expected.missing)
