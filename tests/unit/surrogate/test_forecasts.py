from dataclasses import replace

import pytest

from monitor.domain.results import Money, Price
from monitor.domain.suites import Generation, Prompt
from monitor.domain.surrogates import Clustering, SurrogateSettings
from monitor.surrogate.forecasts import Forecast, forecast
from tests.unit.engine import examples

# Each question is of 8 characters, which counts as 2 tokens.
SUITE = replace(
    examples.suite(10),
    prompt=Prompt(user="What: {{ input }}?"),
    generation=Generation(max_tokens=50),
)
PRICE = Price(input_per_million=1e6, output_per_million=1e4, currency="EUR")
SETTINGS = SurrogateSettings(samples=4)


def test_everything_is_still_to_be_bought() -> None:
    assert forecast(SUITE, SETTINGS, price=PRICE) == Forecast(
        queries=40,
        prompt_tokens=80,
        completion_tokens=2000,
        comparisons=0,
        cost=Money(amount=80 + 20.0, currency="EUR"),
    )


def test_a_part_of_a_token_counts_as_one() -> None:
    longer = replace(SUITE, prompt=Prompt(user="What: {{ input }}??"))
    assert forecast(longer, SETTINGS, price=None).prompt_tokens == 120


def test_what_is_kept_costs_nothing_more() -> None:
    expected = forecast(SUITE, SETTINGS, price=PRICE, missing=[0] * 9 + [4])
    assert (expected.queries, expected.prompt_tokens, expected.completion_tokens) == (4, 8, 200)


def test_without_a_price_no_cost_is_known() -> None:
    assert forecast(SUITE, SETTINGS, price=None).cost is None


def test_a_shorter_limit_costs_less() -> None:
    short = replace(SETTINGS, max_tokens=5)
    assert forecast(SUITE, short, price=None).completion_tokens == 200


def test_a_judge_is_asked_for_each_pair_at_most() -> None:
    judged = replace(SETTINGS, clustering=Clustering.JUDGE)
    assert forecast(SUITE, judged, price=None).comparisons == 60


def test_there_is_one_count_for_each_item() -> None:
    with pytest.raises(ValueError, match="zip"):
        forecast(SUITE, SETTINGS, price=None, missing=[1])
