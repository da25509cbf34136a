import pytest

from monitor.app import forecasts
from monitor.domain.policies import Budget, Policy
from monitor.domain.results import Money, Price
from tests.unit.app.installations import SUITE

PRICE = Price(input_per_million=1.0, output_per_million=2.0, currency="EUR")


def test_a_share_of_all_items_is_forecast() -> None:
    found = forecasts.of_version(SUITE, Policy(budget=Budget(count=30)), price=PRICE)
    every = forecasts.of_version(SUITE, Policy(budget=Budget(count=60)), price=PRICE)
    assert (found.queries, every.queries) == (30, 60)
    assert found.prompt_tokens == pytest.approx(every.prompt_tokens / 2, abs=1)
    assert every.completion_tokens == sum(
        SUITE.generation_of(item).max_tokens for item in SUITE.items
    )
    assert found.cost == Money(
        amount=(found.prompt_tokens + 2 * found.completion_tokens) / 1e6, currency="EUR"
    )


def test_a_budget_for_nearly_all_items_asks_all() -> None:
    assert forecasts.of_version(SUITE, Policy(budget=Budget(count=58)), price=None).queries == 60


def test_without_a_price_the_cost_is_unknown() -> None:
    assert forecasts.of_version(SUITE, Policy(), price=None).cost is None
