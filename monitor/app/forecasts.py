"""What an evaluation will cost, before anything is asked."""

from dataclasses import replace
from math import ceil

from monitor.domain.policies import Policy
from monitor.domain.results import Price
from monitor.domain.suites import Suite
from monitor.domain.surrogates import SurrogateSettings
from monitor.stats import rounds
from monitor.surrogate import forecasts
from monitor.surrogate.forecasts import Forecast


def of_version(suite: Suite, policy: Policy, *, price: Price | None) -> Forecast:
    """What a version is asked, retries left aside; an average, since the draws are not known yet.

    Raises:
        SuiteError: a template is not valid for an item.
    """
    population = len(suite.items)
    draws = policy.budget.draws(population)
    draws = population if rounds.is_census(draws, population) else draws
    every = forecasts.forecast(suite, SurrogateSettings(samples=1), price=None)
    share = draws / population
    prompt_tokens = ceil(share * every.prompt_tokens)
    completion_tokens = ceil(share * every.completion_tokens)
    cost = None
    if price is not None:
        cost = price.cost(prompt_tokens=prompt_tokens, completion_tokens=completion_tokens)
    return replace(
        every,
        queries=draws,
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens,
        cost=cost,
    )
