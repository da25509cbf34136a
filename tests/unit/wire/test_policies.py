from dataclasses import replace

import pytest
from pydantic import TypeAdapter

from monitor.domain.policies import (
    AtLeast,
    Budget,
    EstimateOnly,
    KeepAnswers,
    NotWorse,
    Objective,
    Policy,
)
from monitor.wire import policies

OBJECTIVES: list[tuple[dict[str, object], Objective]] = [
    ({"kind": "not_worse"}, NotWorse(tolerance=0.02)),
    ({"kind": "not_worse", "tolerance": 0.1}, NotWorse(tolerance=0.1)),
    ({"kind": "at_least", "threshold": 0.9}, AtLeast(threshold=0.9)),
    ({"kind": "estimate"}, EstimateOnly()),
]


@pytest.mark.parametrize(("written", "objective"), OBJECTIVES)
def test_objectives(written: dict[str, object], objective: Objective) -> None:
    adapter: TypeAdapter[policies.ObjectiveModel] = TypeAdapter(policies.ObjectiveModel)
    assert adapter.validate_python(written).objective() == objective


BUDGETS = [
    (200, Budget(count=200)),
    ("200", Budget(count=200)),
    ("10%", Budget(share=0.1)),
    (" 2.5 % ", Budget(share=0.025)),
    ("100%", Budget(share=1.0)),
    (Budget(count=7), Budget(count=7)),
]


@pytest.mark.parametrize(("written", "budget"), BUDGETS)
def test_budgets(written: object, budget: Budget) -> None:
    assert policies.budget(written) == budget


@pytest.mark.parametrize("written", [0, -1, "00", "0%", "101%", "-5%", "ten", "", 0.1, True, None])
def test_what_is_no_budget(written: object) -> None:
    with pytest.raises(ValueError, match="must be a count such as 200"):
        policies.budget(written)


@pytest.mark.parametrize("written", KeepAnswers)
def test_what_is_kept(written: str) -> None:
    settings = policies.PolicySettings.model_validate({"keep_answers": written})
    assert settings.policy() == replace(Policy(), keep_answers=KeepAnswers(written))


def test_the_doubtful_are_kept_where_nothing_is_said() -> None:
    assert policies.PolicySettings().policy().keep_answers is KeepAnswers.DOUBTFUL
