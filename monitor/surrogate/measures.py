"""How a surrogate's answers scatter over clusters of one meaning, in numbers."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, fsum, log
from statistics import fmean

from monitor.domain.surrogates import SurrogateSignal
from monitor.stats import signals
from monitor.surrogate.clusters import Sampled


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """Of one item: the fields of a signal (see `SurrogateSignal`)."""

    entropy: float
    consistency: float
    single: bool
    pass_rate: float | None


def measure(samples: Sequence[Sampled], labels: Sequence[int], *, likelihood: bool) -> Measure:
    """Measure the answers to one item.

    Entropy is -sum P(c) ln P(c) over the clusters c (Farquhar et al., Nature 630, 2024): discrete,
    with P(c) the share of the answers in c, or, with `likelihood` and where every answer has log-
    probabilities, P(c) = sum of e^a over the answers in c / sum of e^a over all of them, a being
    an answer's mean log-probability a token.

    Args:
        samples: K answers, at least one.
        labels: number of each one's cluster.
        likelihood: weigh answers by their likelihood.
    """
    masses = defaultdict[int, list[float]](list)
    for label, weight in zip(labels, _weights(samples, likelihood=likelihood), strict=True):
        masses[label].append(weight)
    total = fsum(weight for weights in masses.values() for weight in weights)
    shares = [fsum(weights) / total for weights in masses.values()]
    scores = [sample.score for sample in samples if sample.score is not None]
    return Measure(
        entropy=max(0.0, -fsum(share * log(share) for share in shares if share > 0)),
        consistency=max(Counter(labels).values()) / len(labels),
        single=len(masses) == 1,
        pass_rate=fmean(scores) if len(scores) == len(samples) else None,
    )


def pass_rates(measures: Sequence[Measure | None]) -> tuple[float, ...] | None:
    """Pass rates of all items; one that was not answered has the mean of the others.

    Returns:
        (N,), or None where an answered item has none.
    """
    answered = [each.pass_rate for each in measures if each is not None]
    rates = [rate for rate in answered if rate is not None]
    if len(rates) < len(answered) or not rates:
        return None
    mean = fmean(rates)
    own = (mean if each is None else each.pass_rate for each in measures)
    return tuple(mean if rate is None else rate for rate in own)


def unanswered(samples: int) -> Measure:
    """What an item counts as that was not answered: K answers of K meanings.

    Args:
        samples: answers that were wanted, K.
    """
    return Measure(entropy=log(samples), consistency=1 / samples, single=False, pass_rate=None)


def to_signal(signal: SurrogateSignal) -> signals.Signal:
    """Return the numbers as strata are made from them.

    Raises:
        ValueError: they are of different lengths, or out of their ranges.
    """
    return signals.Signal.from_columns(
        entropy=signal.entropy,
        consistency=signal.consistency,
        single=signal.single,
        pass_rate=signal.pass_rate,
    )


def _weights(samples: Sequence[Sampled], *, likelihood: bool) -> list[float]:
    logprobs = [sample.mean_logprob for sample in samples if sample.mean_logprob is not None]
    if not likelihood or len(logprobs) < len(samples):
        return [1.0] * len(samples)
    # The largest is taken out, lest all of them vanish.
    return [exp(logprob - max(logprobs)) for logprob in logprobs]
