"""A back-test as work that can be spread out: what to learn, then whom to evaluate how."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from monitor.domain.errors import UsageError
from monitor.domain.policies import Budget
from monitor.history import masks, paper_designs, stratified_designs, surrogates, trials
from monitor.history.lessons import Lesson, Study
from monitor.history.masks import Mask
from monitor.history.outcomes import OutcomeMatrix
from monitor.history.pools import STRATA, PaperSettings, Trial
from monitor.history.splits import Split
from monitor.history.surrogates import Surrogate
from monitor.stats import designs, stratification

# Evaluations of one trial: enough to keep a block of the paper's draws full, few enough to show
# how far the work has come.
CHUNK: Final = 16
FEWEST_ITEMS: Final = 2
PAPER: Final = PaperSettings()
LEARNING: Final = frozenset({designs.WithoutReplacement.name, stratified_designs.HISTORY})
NOTHING_LEARNT: Final = Lesson(fit=None, factors=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a back-test is asked for.

    designs: names in `trials.DESIGNS`.
    budgets: by the text they were given as; a share is one of the file's items, so that all
        targets get the same number of draws.
    runs: evaluations of each target by each design. seed: of everything.
    observed: what is left of the history; None leaves it whole.
    same_prefix: see `surrogates.unrelated`.
    is_complete: whether targets that lack an outcome are left out.
    """

    designs: tuple[str, ...]
    budgets: Mapping[str, Budget]
    runs: int
    seed: int
    level: float = 0.95
    observed: Mask | None = None
    paper: PaperSettings = PAPER
    strata: stratification.Settings = STRATA
    same_prefix: int = 0
    is_complete: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Backtest:
    """A file of outcomes, divided.

    surrogates: to choose each target's from.
    first: (M, N) score of each first answer, which targets are then evaluated on; None where they
        are on the outcomes, as history always is.
    """

    matrix: OutcomeMatrix
    split: Split
    wanted: Wanted
    surrogates: tuple[Surrogate, ...] = ()
    first: npt.NDArray[np.float64] | None = None

    @property
    def scores(self) -> npt.NDArray[np.float64]:
        """What targets are evaluated on, (M, N), NaN where missing."""
        return self.matrix.outcomes if self.first is None else self.first

    @property
    def is_binary(self) -> bool:
        """Whether every score that may be drawn is 0 or 1."""
        seen = self.scores[~np.isnan(self.scores)]
        return bool(((seen == 0.0) | (seen == 1.0)).all())

    @property
    def sizes(self) -> dict[str, int]:
        """Number of draws by budget."""
        items = len(self.matrix.items)
        return {text: budget.draws(items) for text, budget in self.wanted.budgets.items()}

    @property
    def targets(self) -> tuple[int, ...]:
        """Rows that are evaluated: those of the folds with enough outcomes."""
        counts = self.counts
        fewest = len(self.matrix.items) if self.wanted.is_complete else FEWEST_ITEMS
        rows = (row for fold in self.split.folds for row in fold.targets)
        return tuple(row for row in rows if counts[row] >= fewest)

    @property
    def counts(self) -> tuple[int, ...]:
        """Number of outcomes in each row of the file."""
        return tuple((~np.isnan(self.scores)).sum(axis=1).tolist())

    def surrogates_of(self, target: int) -> tuple[Surrogate, ...]:
        """Return the surrogates of a target: none that was made from its own family."""
        return surrogates.unrelated(
            self.surrogates,
            target,
            families=self.split.families,
            models=self.matrix.models,
            same_prefix=self.wanted.same_prefix,
        )


def check(backtest: Backtest) -> tuple[str, ...]:
    """Check that every design is known and every target can be evaluated.

    Returns:
        What the user should know of budgets that some targets have too few items for.

    Raises:
        UsageError: something cannot be done.
    """
    wanted = backtest.wanted
    unknown = [name for name in wanted.designs if name not in trials.DESIGNS]
    if unknown:
        known = ", ".join(trials.DESIGNS)
        raise UsageError(f"--designs: there is no design {unknown[0]!r}; there are {known}")
    if not wanted.designs or not wanted.budgets:
        raise UsageError("--designs and --budgets must name at least one each")
    blind = [name for name in wanted.designs if name in trials.BY_SURROGATE]
    if blind and not backtest.surrogates:
        raise UsageError(f"--designs {blind[0]}: name a surrogate, such as --surrogate auto")
    if backtest.surrogates and not blind:
        known = ", ".join(sorted(trials.BY_SURROGATE))
        raise UsageError(f"--surrogate: none of the designs goes by one; these do: {known}")
    return tuple(_check_targets(backtest))


def _check_targets(backtest: Backtest) -> Iterator[str]:
    targets, counts, models = backtest.targets, backtest.counts, backtest.matrix.models
    rows = {row for fold in backtest.split.folds for row in fold.targets}
    fewest = "all" if backtest.wanted.is_complete else str(FEWEST_ITEMS)
    if not targets:
        raise UsageError(f"no target has {fewest} outcomes, which is the least it needs")
    if empty := sorted(rows - set(targets)):
        named = ", ".join(repr(models[row]) for row in empty)
        yield f"fewer than {fewest} outcomes: {named}: left out"
    if backtest.surrogates and not any(map(backtest.surrogates_of, targets)):
        raise UsageError("--surrogate: every target is of the family of every surrogate")
    most = max(counts[row] for row in targets)
    for text, budget in backtest.wanted.budgets.items():
        n = budget.count or backtest.sizes[text]
        short = [models[row] for row in targets if n > counts[row]]
        if n > most:
            raise UsageError(
                f"--budgets {text}: {n} draws, but no target has more than {most} items"
            )
        if short:
            named = ", ".join(map(repr, short))
            yield f"{text}: {n} draws are more than the items of {named}: left out there"


def studies(backtest: Backtest) -> Iterator[Study]:
    """Yield what is to be learnt for each fold."""
    wanted = backtest.wanted
    groups = _labels(backtest.matrix)
    for fold in backtest.split.folds:
        outcomes = backtest.matrix.outcomes[list(fold.history)]
        if wanted.observed is not None:
            outcomes = masks.apply_mask(outcomes, wanted.observed, seed=wanted.seed)
        yield Study(
            outcomes=outcomes,
            families=tuple(backtest.split.families[row] for row in fold.history),
            groups=groups,
            wants_fit=not LEARNING.isdisjoint(wanted.designs),
            wants_factors=not paper_designs.VARIANTS.keys().isdisjoint(wanted.designs),
            seed=wanted.seed,
        )


def all_trials(backtest: Backtest, lessons: Sequence[Lesson]) -> Iterator[Trial]:
    """Yield the trials of every target by every design.

    Args:
        backtest: what is wanted of which file.
        lessons: one for each fold.
    """
    wanted, sizes, is_binary = backtest.wanted, backtest.sizes, backtest.is_binary
    evaluated = set(backtest.targets)
    every = tuple(range(wanted.seed, wanted.seed + wanted.runs))
    seeds = [every[start : start + CHUNK] for start in range(0, wanted.runs, CHUNK)]
    for fold, lesson in zip(backtest.split.folds, lessons, strict=True):
        targets = [row for row in fold.targets if row in evaluated]
        for target, design in itertools.product(targets, wanted.designs):
            by_surrogate = design in trials.BY_SURROGATE
            asked = backtest.surrogates_of(target) if by_surrogate else (None,)
            for surrogate, chunk in itertools.product(asked, seeds):
                yield Trial(
                    target=target,
                    scores=backtest.scores[target],
                    is_binary=is_binary,
                    lesson=NOTHING_LEARNT if by_surrogate else lesson,
                    design=design,
                    sizes=sizes,
                    seeds=chunk,
                    level=wanted.level,
                    paper=wanted.paper,
                    strata=wanted.strata,
                    surrogate=surrogate,
                )


def _labels(matrix: OutcomeMatrix) -> tuple[int, ...]:
    """Number the item groups; one group where the file has none."""
    if matrix.groups is None:
        return (0,) * len(matrix.items)
    numbers: dict[str, int] = {}
    return tuple(numbers.setdefault(name, len(numbers)) for name in matrix.groups)
