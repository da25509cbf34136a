"""Seam Interval: the range of pool means that a sample is compatible with, at a stated level.

Each implementation says for which samples it is valid, and refuses with a reason rather than give
a range it cannot stand for. Short of a census no interval has zero width.
"""

import dataclasses
import enum
import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Protocol

from monitor.stats import arrays, betting, hypergeometric, quantiles, stratified, variances
from monitor.stats.estimators import PointEstimate
from monitor.stats.samples import Sample
from monitor.stats.variances import Gate

FEW: Final = 3


class RefusalReason(enum.StrEnum):
    """Why there is no interval."""

    NO_ANSWER = "no_answer"
    TOO_FEW_DRAWS = "too_few_draws"
    TOO_FEW_FAILURES = "too_few_failures"
    TOO_FEW_SUCCESSES = "too_few_successes"
    NO_SPREAD = "no_spread"
    OUTSIDE_RANGE = "outside_range"
    NOT_BINARY = "not_binary"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """The sample does not support an interval of this kind."""

    reason: RefusalReason


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """An interval inside [0, 1].

    lower, upper: from the answers there are.
    worst_lower, worst_upper: whatever the missing answers would have been; equal to the former
        where nothing is missing.
    quantile, degrees: the quantile used and the degrees of freedom of Student's t, None for the
        normal distribution; both None where the interval needs none. A replay passes the stored
        quantile in.
    gate: whether the guide proved overconfident; None where the interval uses no guide.
    """

    lower: float
    upper: float
    worst_lower: float
    worst_upper: float
    quantile: float | None = None
    degrees: float | None = None
    gate: Gate | None = None


class Interval(Protocol):
    """A pure function of the sample and its estimate.

    Contract:
        - 0 <= worst_lower <= lower <= upper <= worst_upper <= 1, the outer two equal to the inner
          where nothing is missing.
        - lower < upper short of a census.
        - the stored quantile gives the stored bounds to the bit.
    """

    def __call__(
        self,
        sample: Sample,
        estimate: PointEstimate,
        *,
        level: float,
        quantile: float | None = None,
    ) -> Bounds | Refusal:
        """Return the interval.

        Args:
            sample: all draws of the evaluation.
            estimate: by the estimator that goes with the design.
            level: in (0, 1).
            quantile: stored earlier; computed where None, ignored where unused.
        """
        ...


def hypergeometric_exact(
    sample: Sample,
    estimate: PointEstimate,  # noqa: ARG001 - of the seam
    *,
    level: float,
    quantile: float | None = None,  # noqa: ARG001 - of the seam
) -> Bounds | Refusal:
    """Return the exact interval: 0/1 scores, plain random sampling; coverage at least `level`."""
    if not sample.is_binary:
        return Refusal(reason=RefusalReason.NOT_BINARY)
    answers = sample.answers
    if not len(answers):
        return Refusal(reason=RefusalReason.NO_ANSWER)
    right, population = round(arrays.exact_sum(answers)), sample.population

    def bounds(successes: int, draws: int) -> tuple[float, float]:
        low, high = hypergeometric.success_bounds(successes, draws, population, level=level)
        return low / population, high / population

    lower, upper = bounds(right, len(answers))
    if not sample.missing:
        return _unshifted(lower, upper)
    return Bounds(
        lower=lower,
        upper=upper,
        worst_lower=min(lower, bounds(right, sample.size)[0]),
        worst_upper=max(upper, bounds(right + sample.missing, sample.size)[1]),
    )


def betting_bounds(
    sample: Sample,
    estimate: PointEstimate,
    *,
    level: float,
    quantile: float | None = None,  # noqa: ARG001 - of the seam
) -> Bounds | Refusal:
    """Return a guaranteed interval: scores in [0, 1], plain random sampling."""
    if sample.missing == sample.size:
        return Refusal(reason=RefusalReason.NO_ANSWER)
    population = sample.population
    lower, upper = betting.mean_bounds(sample.answers, population, level=level)
    # The mean of the answers always belongs to what they are compatible with.
    lower, upper = min(lower, estimate.value), max(upper, estimate.value)
    if not sample.missing:
        return _unshifted(lower, upper)
    if_wrong = betting.mean_bounds(sample.with_missing_as(0.0), population, level=level)
    if_right = betting.mean_bounds(sample.with_missing_as(1.0), population, level=level)
    return Bounds(
        lower=lower,
        upper=upper,
        worst_lower=min(lower, if_wrong[0]),
        worst_upper=max(upper, if_right[1]),
    )


def mixed_t(
    sample: Sample, estimate: PointEstimate, *, level: float, quantile: float | None = None
) -> Bounds | Refusal:
    """Return Student's t interval on the mixed variance: `active_mean`, draws by a guide.

    Where fewer than `FEW` failures (or successes) were seen among 0/1 answers, they are bounded
    from above by the floor bound (see `_floor_bound`) and from below by those seen alone, since
    only the guide says that there are more; fractional scores are refused then.
    """
    spread = variances.mixed(sample)
    if spread.variance is None:
        return Refusal(reason=RefusalReason.TOO_FEW_DRAWS)
    if spread.variance == 0.0:
        return Refusal(reason=RefusalReason.NO_SPREAD)
    right = arrays.exact_sum(sample.answers)
    wrong = arrays.exact_sum(1.0 - sample.answers)
    if not sample.is_binary and min(right, wrong) < FEW:
        failing = RefusalReason.TOO_FEW_FAILURES
        return Refusal(reason=failing if wrong < FEW else RefusalReason.TOO_FEW_SUCCESSES)
    used = quantiles.student_quantile(spread.degrees, level=level) if quantile is None else quantile
    reach = used * math.sqrt(spread.variance)
    low, worst_low = _lower_side(sample, estimate, reach=reach, level=level)
    high, worst_high = _upper_side(sample, estimate, reach=reach, level=level)
    if low >= 1.0 or high <= 0.0:
        return Refusal(reason=RefusalReason.OUTSIDE_RANGE)
    return Bounds(
        lower=_clip(low),
        upper=_clip(high),
        worst_lower=_clip(worst_low),
        worst_upper=_clip(worst_high),
        quantile=used,
        degrees=spread.degrees,
        gate=spread.gate,
    )


def wald(
    sample: Sample,  # noqa: ARG001 - of the seam
    estimate: PointEstimate,
    *,
    level: float,
    quantile: float | None = None,
) -> Bounds | Refusal:
    """Return the normal interval on the estimate's own variance: `proactive_mean`, as published.

    It is the published baseline, ends clipped to [0, 1]; on real pools it covers too rarely.
    """
    if estimate.variance is None:
        return Refusal(reason=RefusalReason.TOO_FEW_DRAWS)
    if estimate.variance == 0.0:
        return Refusal(reason=RefusalReason.NO_SPREAD)
    used = quantiles.normal_quantile(level=level) if quantile is None else quantile
    reach = used * math.sqrt(estimate.variance)
    low, high = estimate.value - reach, estimate.value + reach
    if low >= 1.0 or high <= 0.0:
        return Refusal(reason=RefusalReason.OUTSIDE_RANGE)
    return Bounds(
        lower=_clip(low),
        upper=_clip(high),
        worst_lower=_clip(low + estimate.lower_shift),
        worst_upper=_clip(high + estimate.upper_shift),
        quantile=used,
    )


def stratified_wilson(
    sample: Sample, estimate: PointEstimate, *, level: float, quantile: float | None = None
) -> Bounds | Refusal:
    """Return Wilson's interval at the effective sample size: `stratified_mean`, draws from strata.

    The variance at each mean p asked about is per_product p (1 - p), see `stratified.Spread`
    (Wilson 1927; for samples of other designs: Dean and Pagano 2015), the quantile Student's.
    """
    spread = stratified.spread(sample)
    if not spread.degrees:
        return Refusal(reason=RefusalReason.TOO_FEW_DRAWS)
    used = quantiles.student_quantile(spread.degrees, level=level) if quantile is None else quantile
    lower, upper = _wilson(estimate.value, used**2 * spread.per_product)
    # Filled in, the answers scatter otherwise too; where none is missing nothing changes.
    if_wrong, if_right = (stratified.spread(sample.filled(score)) for score in (0.0, 1.0))
    lowest = _wilson(estimate.value + estimate.lower_shift, used**2 * if_wrong.per_product)[0]
    highest = _wilson(estimate.value + estimate.upper_shift, used**2 * if_right.per_product)[1]
    return Bounds(
        lower=lower,
        upper=upper,
        worst_lower=min(lower, lowest),
        worst_upper=max(upper, highest),
        quantile=used,
        degrees=spread.degrees,
    )


def census(
    sample: Sample,
    estimate: PointEstimate,  # noqa: ARG001 - of the seam
    *,
    level: float,  # noqa: ARG001 - of the seam
    quantile: float | None = None,  # noqa: ARG001 - of the seam
) -> Bounds | Refusal:
    """Return the exact mean of a pool asked in full, as wide as its missing answers leave it.

    Raises:
        ValueError: not every item was drawn.
    """
    if sample.size != sample.population:
        raise ValueError(f"census: {sample.size} draws of {sample.population} items")
    total = arrays.exact_sum(sample.answers)
    lower = total / sample.population
    upper = (total + sample.missing) / sample.population
    return _unshifted(lower, upper)


INTERVALS: Final[Mapping[str, Interval]] = MappingProxyType(
    {
        "hypergeometric": hypergeometric_exact,
        "betting": betting_bounds,
        "mixed_t": mixed_t,
        "wald": wald,
        "stratified_wilson": stratified_wilson,
        "census": census,
    }
)


def _unshifted(lower: float, upper: float) -> Bounds:
    return Bounds(lower=lower, upper=upper, worst_lower=lower, worst_upper=upper)


def _wilson(value: float, squared: float) -> tuple[float, float]:
    """Return the p with (value - p)^2 <= squared p (1 - p).

    Args:
        value: estimated mean.
        squared: squared quantile over the effective sample size.
    """
    known = _clip(value)
    centre = known + squared / 2.0
    reach = math.sqrt(squared * (known * (1.0 - known) + squared / 4.0))
    return _clip((centre - reach) / (1.0 + squared)), _clip((centre + reach) / (1.0 + squared))


def _lower_side(
    sample: Sample, estimate: PointEstimate, *, reach: float, level: float
) -> tuple[float, float]:
    """Return the lower bound, plain and if every missing answer were wrong."""
    right, wrong = arrays.exact_sum(sample.answers), arrays.exact_sum(1.0 - sample.answers)
    plain = estimate.value - reach
    if right < FEW:
        plain = min(plain, right / sample.population)
    worst = plain + estimate.lower_shift
    if wrong >= FEW:
        return plain, worst
    plain_floor, worst_floor = _floor_bounds(sample, round(wrong), level=level)
    return min(plain, 1.0 - plain_floor), min(worst, 1.0 - worst_floor)


def _upper_side(
    sample: Sample, estimate: PointEstimate, *, reach: float, level: float
) -> tuple[float, float]:
    """Return the upper bound, plain and if every missing answer were right."""
    right, wrong = arrays.exact_sum(sample.answers), arrays.exact_sum(1.0 - sample.answers)
    plain = estimate.value + reach
    if wrong < FEW:
        plain = max(plain, 1.0 - wrong / sample.population)
    worst = plain + estimate.upper_shift
    if right >= FEW:
        return plain, worst
    plain_floor, worst_floor = _floor_bounds(sample, round(right), level=level)
    return max(plain, plain_floor), max(worst, worst_floor)


def _floor_bounds(sample: Sample, seen: int, *, level: float) -> tuple[float, float]:
    """Return `_floor_bound` over the answers, and if every missing answer were of that kind."""
    answered = sample.size - sample.missing
    plain = _floor_bound(sample, seen, answered, level=level)
    worst = _floor_bound(sample, seen + sample.missing, sample.size, level=level)
    return plain, max(plain, worst)


def _floor_bound(sample: Sample, seen: int, draws: int, *, level: float) -> float:
    """Return the largest share of a kind of item of which `draws` found only `seen`.

    While at most x of K were found at least K - x remain, and the floor gives each draw a chance
    of at least floor (K - x)/N of one; so the count found is above a binomial one up to x, and
    Clopper-Pearson bounds floor (K - x)/N.
    """
    chance = quantiles.binomial_upper_bound(seen, draws, tail=(1.0 - level) / 2.0)
    return min(1.0, seen / sample.population + chance / sample.floor)


def _clip(value: float) -> float:
    return min(max(value, 0.0), 1.0)
