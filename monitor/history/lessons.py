"""What a back-test learns from the history of a fold, before any target of it is evaluated."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from monitor.domain import errors
from monitor.history import outcomes
from monitor.stats import factor_models, sampling, selection
from monitor.stats.answers import History
from monitor.stats.factor_models import Factors
from monitor.stats.factor_posterior import FactorPosterior
from monitor.stats.rehearsals import Pool
from monitor.stats.replays import Case, Fold
from monitor.stats.selection import Fit

FEWEST_MODELS: Final = 2
FEWEST_OUTCOMES: Final = 5
MADE_UP: Final = 8
# Where the factors are right, as they are for what they make up, a lower one does.
FLOORS: Final = (sampling.FLOOR, 0.05)
# The one factor of two models whose variance is 1.5^2: accuracies from .05 to .95 are likely.
LEVELS: Final = ((-1.06,), (1.06,))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lesson:
    """Learnt by `without_replacement`, and by the designs of the paper; None where not wanted.

    is_asked: whether draws go by the guide even where no replay has shown what it is worth.
    """

    fit: Fit | None
    factors: Factors | None
    is_asked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Study:
    """What there is to learn from, and for whom.

    outcomes: (M', N), oldest model first, NaN where missing. families: (M',). groups: (N,).
    wants_fit, wants_factors: which part of the lesson is wanted.
    seed: of replays and fits.
    """

    outcomes: npt.NDArray[np.float64]
    families: tuple[int, ...]
    groups: tuple[int, ...]
    wants_fit: bool
    wants_factors: bool
    seed: int


def learn(study: Study) -> Lesson:
    """Fit what is wanted.

    Raises:
        ModuleNotFoundError: factors are wanted and torch is not installed.
    """
    history = History.from_matrix(study.outcomes, families=study.families, groups=study.groups)
    return Lesson(
        fit=selection.fit(history, seed=study.seed) if study.wants_fit else None,
        factors=_fit_factors(history, seed=study.seed) if study.wants_factors else None,
    )


def given(factors: Factors, *, seed: int) -> Lesson:
    """The lesson of a factor model that was fitted elsewhere, which draws are asked to go by.

    There are no outcomes to replay, so models that the factors make up are replayed instead.

    Args:
        factors: a fitted model.
        seed: of what is made up.
    """
    guides = {FactorPosterior.name: FactorPosterior.of(factors)}
    folds = [(_made_up(factors, seed=seed), guides)]
    fit = selection.choose(guides, folds, floors=FLOORS)
    return Lesson(fit=fit, factors=factors, is_asked=True)


def _made_up(factors: Factors, *, seed: int) -> Fold:
    """Models whose factors are those of rows of U, drawn by chance, and so are their outcomes."""
    generator = np.random.default_rng(seed)
    models = generator.choice(factors.models, MADE_UP).astype(np.float64)
    chances = 1.0 / (1.0 + np.exp(-models @ factors.items.T))
    cases = [
        Case(
            items=np.arange(factors.population),
            pool=Pool.of((generator.random(len(row)) < row).astype(np.float64)),
            bits=generator.integers(0, 2**sampling.CLOCK_BITS, len(row)),
        )
        for row in chances
    ]
    return Fold(history=History.empty(factors.population), cases=tuple(cases))


def read_factors(path: Path, population: int) -> Factors:
    """Read arrays U (models, k) and V (items, k) of a factor model.

    Args:
        path: an archive of NumPy arrays.
        population: number of items that V must have.

    Raises:
        HistoryError: the file cannot be read, or does not hold them.
    """
    arrays = outcomes.read_arrays(path, ("U", "V"))
    if len(arrays) < len(("U", "V")):
        raise _unfit(path, f"holds of the arrays U and V only {', '.join(arrays) or 'neither'}")
    try:
        factors = Factors.from_arrays(arrays["U"], arrays["V"])
    except ValueError as error:
        raise _unfit(path, str(error)) from None
    if factors.population != population:
        raise _unfit(path, f"V has {factors.population} rows for {population} items")
    return factors


def _unfit(path: Path, what: str) -> errors.HistoryError:
    todo = "U: (models, k), V: (items, k), one row of V for each column of the outcomes"
    return errors.HistoryError([errors.Problem(where=str(path), what=what, todo=todo)])


def _fit_factors(history: History, *, seed: int) -> Factors:
    """Fit as published; where there is next to nothing to fit, one constant factor."""
    models, cells = len(history.outcomes), np.count_nonzero(history.observed)
    if models < FEWEST_MODELS or cells < FEWEST_OUTCOMES:
        return Factors.from_arrays(LEVELS, np.ones((history.population, 1)))
    best, *_ = factor_models.cross_validate(history, seed=seed)
    return factor_models.fit(history, best.settings)
