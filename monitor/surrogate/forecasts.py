"""What a surrogate's answers will cost, before anything is spent."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from monitor.domain.results import Money, Price
from monitor.domain.suites import Message, Suite, TextPart
from monitor.domain.surrogates import Clustering, SurrogateSettings
from monitor.surrogate import questions

CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What is still to be bought.

    queries: answers of the surrogate.
    prompt_tokens: one for four characters of text; pictures are not counted.
    completion_tokens: the most there can be, with every answer as long as it may be.
    comparisons: questions to the judge of meanings at most, 0 where none is asked.
    cost: of the surrogate's answers, None where no price is configured.
    """

    queries: int
    prompt_tokens: int
    completion_tokens: int
    comparisons: int
    cost: Money | None


def forecast(
    suite: Suite,
    settings: SurrogateSettings,
    *,
    price: Price | None,
    missing: Sequence[int] | None = None,
) -> Forecast:
    """Count what a pass over a suite will ask for, retries left aside.

    Args:
        suite: every item of it is asked.
        settings: how.
        price: of the surrogate's tokens.
        missing: (N,) answers that an item still lacks; None where nothing is bought yet.

    Raises:
        SuiteError: a template is not valid for an item.
    """
    wanted = [settings.samples] * len(suite.items) if missing is None else missing
    prompt_tokens = completion_tokens = 0
    for item, count in zip(suite.items, wanted, strict=True):
        asked, *_ = questions.requests(suite, item, settings, model="")
        prompt_tokens += count * ceil(sum(map(_characters, asked.messages)) / CHARACTERS_PER_TOKEN)
        completion_tokens += count * asked.generation.max_tokens
    pairs = settings.samples * (settings.samples - 1) // 2 * len(suite.items)
    cost = None
    if price is not None:
        cost = price.cost(prompt_tokens=prompt_tokens, completion_tokens=completion_tokens)
    return Forecast(
        queries=sum(wanted),
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens,
        comparisons=pairs if settings.clustering is Clustering.JUDGE else 0,
        cost=cost,
    )


def _characters(message: Message) -> int:
    if isinstance(message.content, str):
        return len(message.content)
    return sum(len(part.text) for part in message.content if isinstance(part, TextPart))
