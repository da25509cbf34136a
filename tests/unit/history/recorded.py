"""A made-up file of outcomes, and what may be learnt from it without replays."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from monitor.history import surrogates
from monitor.history.lessons import Lesson
from monitor.history.outcomes import OutcomeMatrix
from monitor.history.pools import Trial
from monitor.history.records import Record
from monitor.history.surrogates import Recorded, Rows, Surrogate
from monitor.stats.answers import History
from monitor.stats.item_mean import ItemMean
from monitor.stats.profiles import Profile
from monitor.stats.replays import Figure
from monitor.stats.selection import Fit

MODELS, ITEMS = 16, 400
# Before draw 40 a term is worth half of what it is afterwards.
PROFILE = Profile(starts=np.array([0.0, 40.0]), levels=np.array([2.0, 1.0]))

HIT = Record(
    target=0,
    design="without_replacement",
    budget="10",
    n=10,
    population=100,
    drawn_by="without_replacement",
    guide="item_mean",
    seed=0,
    estimate=0.6,
    lower=0.4,
    upper=0.8,
    reason=None,
    truth=0.5,
    variance=0.01,
    exact_variance=0.01,
    srs_variance=0.02,
    uniform_variance=0.05,
    queries=10,
)
MISS = replace(HIT, lower=0.55, estimate=0.7)
UNKNOWN = replace(HIT, estimate=None, lower=None, upper=None, variance=None, reason="no_spread")


def scores(*, seed: int = 5) -> npt.NDArray[np.float64]:
    """Outcomes of a Rasch model, (MODELS, ITEMS): abilities rise, difficulties are spread."""
    generator = np.random.default_rng(seed)
    chances = _chances(generator)
    return (generator.random(chances.shape) < chances).astype(np.float64)


def samples(*, count: int = 10) -> npt.NDArray[np.int64]:
    """Repeated answers of the same models as a file has them, (MODELS, ITEMS, count)."""
    generator = np.random.default_rng(5)
    chances = _chances(generator)[:, :, np.newaxis]
    return (generator.random((MODELS, ITEMS, count)) < chances).astype(np.int64)


def _chances(generator: np.random.Generator) -> npt.NDArray[np.float64]:
    logits = np.linspace(-0.5, 1.5, MODELS)[:, np.newaxis] - generator.normal(0.0, 2.0, ITEMS)
    return np.asarray(1.0 / (1.0 + np.exp(-logits)))


def surrogate(*, row: int = 3, number: int = 0) -> Surrogate:
    """An older model, asked ten times an item."""
    found = Recorded(matrix=matrix(), samples=samples(), seed=number)
    (one,) = surrogates.find(found, Rows(names=(f"model-{row}",)))
    return replace(one, number=number)


def matrix(outcomes: npt.NDArray[np.float64] | None = None) -> OutcomeMatrix:
    """Eight months with two models each."""
    found = scores() if outcomes is None else outcomes
    return OutcomeMatrix(
        outcomes=found,
        models=tuple(f"model-{row}" for row in range(len(found))),
        items=tuple(f"item-{column}" for column in range(found.shape[1])),
        dates=tuple(f"2024-{1 + row // 2:02}" for row in range(len(found))),
        groups=None,
    )


def fit(*, ess_ratio: float = 2.0) -> Fit:
    """A guide of the older half, whose replays were worth so much."""
    return Fit(
        guide=ItemMean.fit(History.from_matrix(scores()[: MODELS // 2])),
        candidate="item_mean",
        profile=PROFILE,
        floor=0.2,
        figures=(Figure(n=30, ess_ratio=ess_ratio, error=0.01, share_below=0.0, models=8),),
    )


def trial(
    *budgets: str,
    design: str = "without_replacement",
    row: npt.NDArray[np.float64] | None = None,
    learnt: Fit | None = None,
    seeds: tuple[int, ...] = (3,),
    is_binary: bool = True,
    surrogate: Surrogate | None = None,
) -> Trial:
    """Evaluations of the newest model, budgets being counts."""
    return Trial(
        target=MODELS - 1,
        scores=scores()[-1] if row is None else row,
        is_binary=is_binary,
        lesson=Lesson(fit=learnt or fit(), factors=None),
        design=design,
        sizes={each: int(each) for each in budgets},
        seeds=seeds,
        level=0.95,
        surrogate=surrogate,
    )
