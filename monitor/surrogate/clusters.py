"""Answers put together by what they mean.

Greedy, as in Farquhar et al., "Detecting hallucinations in large language models using semantic
entropy" (Nature 630, 2024): the first answer that is in no cluster opens one, and takes every later
one that is in none and means the same as it.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from itertools import count


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampled:
    """One answer of a surrogate to one item.

    text: as it came, empty where the model refused or said nothing that is text.
    meaning: what it is compared by; None where nothing could be taken out of it.
    score: in [0, 1], None where it has to be paid for.
    mean_logprob: mean log-probability of its tokens in nats, None where it is not known.
    """

    text: str
    meaning: str | None
    score: float | None = None
    mean_logprob: float | None = None


Alike = Callable[[Sampled, Sequence[Sampled]], Awaitable[Sequence[bool]]]
"""Whether each of several answers means the same as a first one."""


async def cluster(samples: Sequence[Sampled], alike: Alike) -> tuple[int, ...]:
    """Number of each answer's cluster, from 0.

    An answer without a meaning is a cluster of its own. Answers of equal meaning are together, and
    `alike` is asked about one of them only.

    Args:
        samples: K answers to one item.
        alike: compares answers of different meaning.
    """
    labels: dict[int, int] = {}
    numbers = count()
    for head, opening in enumerate(samples):
        if head in labels:
            continue
        labels[head] = number = next(numbers)
        if opening.meaning is None:
            continue
        rest = [place for place in range(head + 1, len(samples)) if place not in labels]
        others: dict[str, Sampled] = {}
        for place in rest:
            meaning = samples[place].meaning
            if meaning is not None and meaning != opening.meaning:
                others.setdefault(meaning, samples[place])
        verdicts = await alike(opening, tuple(others.values())) if others else ()
        taken = {each for each, same in zip(others, verdicts, strict=True) if same}
        taken.add(opening.meaning)
        labels |= {place: number for place in rest if samples[place].meaning in taken}
    return tuple(labels[place] for place in range(len(samples)))
