"""The choice of a guide by replays: whole models are left out and evaluated as if they were new."""

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, TypeVar

import numpy as np

from monitor.stats import forecasts, item_features, replays, sampling
from monitor.stats.answers import Answers, History
from monitor.stats.arrays import FloatArray, IntArray
from monitor.stats.feature_model import FeatureModel
from monitor.stats.guides import Guide
from monitor.stats.item_groups import ItemGroups
from monitor.stats.profiles import Profile
from monitor.stats.rehearsals import Rehearsal
from monitor.stats.replays import Figure, Fold

FLOORS: Final = (sampling.FLOOR, 0.25)
# Less than that the replays cannot tell from chance, or from the drift to newer models.
CLEARLY_BETTER: Final = 1.01
WORTHWHILE: Final = 1.02

Choice = TypeVar("Choice", str, float)
Piece = TypeVar("Piece")
# Number of principal components by name, the preferred one first.
CANDIDATES: Final[Mapping[str, int]] = MappingProxyType(
    {"6 components": 6, "no component": 0, "32 components": 32}
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fit:
    """What a plan takes over.

    guide: fitted to the whole history.
    candidate: which of `CANDIDATES` it is; "" without history.
    profile: for `weights.term_weights`; None where nothing could be replayed.
    floor: share of every draw that is spread evenly.
    figures: by rising n; empty where nothing could be replayed.
    """

    guide: Guide
    candidate: str
    profile: Profile | None
    floor: float
    figures: tuple[Figure, ...]

    def ess_ratio(self, n: int) -> float | None:
        """Return the replayed `ess_ratio` at `n` draws; None where nothing could be replayed.

        Interpolated in log n; outside of what was replayed, that of the nearest n.
        """
        if not self.figures:
            return None
        return self._at(n, [each.ess_ratio for each in self.figures])

    def is_worth(self, n: int) -> bool:
        """Whether an evaluation of `n` draws gains from the guide; not without a replay.

        Few models that happened to suit the guide do not make it so: one standard error is taken
        off.
        """
        ratio = self.ess_ratio(n)
        if ratio is None:
            return False
        lower = [
            0.0 if each.error is None else each.ess_ratio - each.error for each in self.figures
        ]
        return ratio >= WORTHWHILE and self._at(n, lower) >= 1.0

    @property
    def beforehand(self) -> FloatArray:
        """What the guide predicts before any answer, (N,)."""
        return self.guide.predict(Answers.from_columns(items=[], scores=[]))

    def expected_counts(self, n: int, *, mean: float | None = None) -> tuple[float, float]:
        """Return the expected (failures, successes) among `n` draws by the guide.

        Args:
            n: number of draws.
            mean: earlier estimate of the model's mean; None where there is none.
        """
        return forecasts.expected_counts(self.beforehand, size=n, mean=mean, floor=self.floor)

    def promises(self, n: int, *, mean: float | None = None, is_asked: bool = False) -> bool:
        """Whether `n` draws had better go by the guide than plainly.

        They gain by it, and enough failures and successes are expected for its interval.

        Args:
            n: number of draws.
            mean: see `expected_counts`.
            is_asked: whether the guide is wanted whatever it gains.
        """
        if not (is_asked or self.is_worth(n)):
            return False
        return min(self.expected_counts(n, mean=mean)) >= forecasts.FEWEST_EXPECTED

    def of_items(self, items: IntArray) -> "Fit":
        """Return the fit for a pool that holds these items only, in this order."""
        return dataclasses.replace(self, guide=self.guide.of_items(items))

    def _at(self, n: int, values: Sequence[float]) -> float:
        sizes = [each.n for each in self.figures]
        return float(np.interp(np.log(n), np.log(sizes), values))


def fit(history: History, *, seed: int, pause: Callable[[], None] = lambda: None) -> Fit:
    """Choose guide, floor and weights by replays, then fit the choice to the whole history.

    Args:
        history: oldest model first.
        seed: of the replays; the same seed and history give the same bits.
        pause: called every second or so; what it raises ends the fit.
    """
    if not len(history.outcomes):
        return _unreplayed(ItemGroups.fit(history), "")
    names = _candidates(history)
    fitted = _fitted(history, names)
    found = replays.folds(history, seed=seed)
    folds = [(fold, _fitted(fold.history, names)) for fold in _paced(found, pause)]
    if not folds:
        return _unreplayed(fitted[names[0]], names[0])
    return choose(fitted, folds, pause=pause)


def choose(
    guides: Mapping[str, Guide],
    folds: Sequence[tuple[Fold, Mapping[str, Guide]]],
    *,
    floors: Sequence[float] = FLOORS,
    pause: Callable[[], None] = lambda: None,
) -> Fit:
    """Choose among guides that are fitted already, then floor and weights, by replays.

    Args:
        guides: fitted to all there is, the preferred one first.
        folds: one or more, each with the same guides fitted to what it leaves in.
        floors: the preferred one first.
        pause: see `fit`.
    """
    first, *others = floors
    by_name = {name: _replayed(_paced(folds, pause), name, first) for name in guides}
    chosen = _preferred(by_name)
    by_floor = {first: by_name[chosen]}
    by_floor |= {floor: _replayed(_paced(folds, pause), chosen, floor) for floor in others}
    floor = _preferred(by_floor)
    profile = replays.profile(by_floor[floor])
    return Fit(
        guide=guides[chosen],
        candidate=chosen,
        profile=profile,
        floor=floor,
        figures=replays.figures(by_floor[floor], profile),
    )


def _fitted(history: History, names: Sequence[str]) -> Mapping[str, Guide]:
    by_count = FeatureModel.by_components(history, [CANDIDATES[name] for name in names])
    return {name: by_count[CANDIDATES[name]] for name in names}


def _candidates(history: History) -> list[str]:
    has_many = len(np.unique(history.families)) >= item_features.MANY_FAMILIES
    most = item_features.MANY_COMPONENTS if has_many else item_features.USUAL_COMPONENTS
    return [name for name, components in CANDIDATES.items() if components <= most]


def _unreplayed(guide: Guide, candidate: str) -> Fit:
    return Fit(guide=guide, candidate=candidate, profile=None, floor=sampling.FLOOR, figures=())


def _replayed(
    folds: Iterable[tuple[Fold, Mapping[str, Guide]]], name: str, floor: float
) -> list[Rehearsal]:
    runs = (fold.replay(fitted[name], floor=floor) for fold, fitted in folds)
    return list(itertools.chain.from_iterable(runs))


def _paced(pieces: Iterable[Piece], pause: Callable[[], None]) -> Iterator[Piece]:
    for piece in pieces:
        pause()
        yield piece


def _preferred(replayed: Mapping[Choice, Sequence[Rehearsal]]) -> Choice:
    """Return the first choice, unless another is clearly better on average over the figures."""

    def worth(choice: Choice) -> float:
        ratios = [each.ess_ratio for each in replays.figures(replayed[choice])]
        return float(np.prod(ratios) ** (1.0 / len(ratios)))

    default, best = next(iter(replayed)), max(replayed, key=worth)
    return best if worth(best) > CLEARLY_BETTER * worth(default) else default
