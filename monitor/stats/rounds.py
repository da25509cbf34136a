"""How many draws each round makes, and when drawing a part makes no sense.

Small rounds at first, because the guide learns most from the first answers; then rounds that grow
with what is known, so that the endpoint stays busy.
"""


def round_sizes(n: int, *, first: int = 2, growth: float = 1 / 8) -> tuple[int, ...]:
    """Return the sizes of all rounds; they sum to `n`.

    Args:
        n: number of draws, at least 1.
        first: size of the first round and least size of the others, at least 1.
        growth: size of a later round as a share of the draws before it.

    Raises:
        ValueError: `n` or `first` is below 1.
    """
    if n < 1 or first < 1:
        raise ValueError(f"rounds: n and first must be at least 1, not {n} and {first}")
    sizes: list[int] = []
    drawn = 0
    while drawn < n:
        size = min(max(first, int(drawn * growth)), n - drawn)
        sizes.append(size)
        drawn += size
    return tuple(sizes)


def is_census(n: int, population: int) -> bool:
    """Whether `n` draws of `population` items are better spent on asking all: n > .95 N."""
    return 20 * n > 19 * population
