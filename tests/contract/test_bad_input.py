"""What comes in at the seams of the statistics: a clear error, or a result that makes sense."""

import numpy as np
import pytest

from monitor.stats import estimators, forecasts, intervals, rehearsals, rounds, weights
from monitor.stats.answers import Answers, History
from monitor.stats.arrays import FloatArray
from monitor.stats.designs import WithoutReplacement
from monitor.stats.guides import GUIDES
from monitor.stats.rehearsals import Pool, Rehearsal

NAMES = pytest.mark.parametrize("name", sorted(GUIDES))
RNG = np.random.default_rng(0)
ONE_CELL = np.full((4, 5), np.nan)
ONE_CELL[1, 2] = 1.0
ODD = {
    "no model": np.empty((0, 5)),
    "no model, one item": np.empty((0, 1)),
    "one model": RNG.integers(0, 2, (1, 5)),
    "one item": RNG.integers(0, 2, (12, 1)),
    "one model, one item": np.ones((1, 1)),
    "constant columns": np.tile([0.0, 1.0, 1.0, 0.0, 1.0], (12, 1)),
    "nothing right": np.zeros((12, 5)),
    "all one half": np.full((12, 5), 0.5),
    "an item never seen": np.where(np.arange(5) == 2, np.nan, RNG.random((12, 5))),
    "nothing seen": np.full((4, 5), np.nan),
    "one cell": ONE_CELL,
}


def rehearsed(scores: FloatArray, *, name: str, history: History, size: int) -> Rehearsal:
    bits = np.random.default_rng(1).integers(0, 2**53, len(scores))
    guide, design = GUIDES[name].fit(history), WithoutReplacement()
    return rehearsals.rehearse(Pool.of(scores), guide, design=design, bits=bits, size=size)


@NAMES
@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("is_one_family", [False, True])
def test_any_history_makes_a_guide_for_a_whole_pool(
    name: str, kind: str, *, is_one_family: bool
) -> None:
    models, population = ODD[kind].shape
    families = [0] * models if is_one_family else None
    groups = np.arange(population) % 2
    history = History.from_matrix(ODD[kind].astype(float), families=families, groups=groups)
    run = rehearsed(np.ones(population), name=name, history=history, size=population)
    sample = run.sample(weights.term_weights(population, population))
    estimate = estimators.active_mean(sample)
    assert isinstance(estimate, estimators.PointEstimate)
    found = intervals.mixed_t(sample, estimate, level=0.95)
    if population == 1:
        refused = intervals.RefusalReason.TOO_FEW_DRAWS
        assert found == intervals.Refusal(reason=refused)
    else:
        assert isinstance(found, intervals.Bounds)
        assert found.upper == 1.0


@pytest.mark.parametrize("cell", [np.inf, -np.inf, -0.1, 1.1])
def test_a_history_holds_scores(cell: float) -> None:
    with pytest.raises(ValueError, match=r"every cell must lie in \[0, 1\] or be NaN"):
        History.from_matrix(np.array([[0.5, cell]]))


@pytest.mark.parametrize("shape", [(3, 0), (3,), (1, 2, 3)])
def test_a_history_is_a_matrix_with_items(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"shape must be \(models, items\)"):
        History.from_matrix(np.ones(shape))


@pytest.mark.parametrize("labels", [[0], [0, 0, 0, 0], [0, -1, 0]])
def test_labels_fit_the_history(labels: list[int]) -> None:
    with pytest.raises(ValueError, match="groups: "):
        History.from_matrix(np.ones((2, 3)), groups=labels)
    with pytest.raises(ValueError, match="families: "):
        History.from_matrix(np.ones((3, 3)), families=labels)


@pytest.mark.parametrize("score", [np.nan, np.inf, -0.1, 1.1])
def test_a_pool_and_answers_hold_scores(score: float) -> None:
    with pytest.raises(ValueError, match="scores: "):
        Pool.of(np.array([0.5, score]))
    with pytest.raises(ValueError, match="scores: "):
        Answers.from_columns(items=[0], scores=[score])


@pytest.mark.parametrize("size", [-1, 0])
def test_something_is_drawn(size: int) -> None:
    history = History.empty(5)
    for refused in (
        lambda: rehearsed(np.ones(5), name="constant", history=history, size=size),
        lambda: weights.term_weights(size, 5),
        lambda: rounds.round_sizes(size),
        lambda: forecasts.expected_counts(np.full(5, 0.5), size=size),
    ):
        with pytest.raises(ValueError, match=f"{size}"):
            refused()


@NAMES
def test_no_more_is_drawn_than_there_is(name: str) -> None:
    with pytest.raises(ValueError, match="undrawn items"):
        rehearsed(np.ones(5), name=name, history=History.empty(5), size=6)
    with pytest.raises(ValueError, match="6 draws of 5 items"):
        weights.term_weights(6, 5)


@NAMES
def test_a_guide_of_another_pool_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="guide: 4 items, the pool has 5"):
        rehearsed(np.ones(5), name=name, history=History.empty(4), size=2)


def test_every_item_has_its_clock() -> None:
    guide = GUIDES["constant"].fit(History.empty(5))
    with pytest.raises(ValueError, match="bits: 2 numbers for 5 items"):
        rehearsals.rehearse(
            Pool.of(np.ones(5)), guide, design=WithoutReplacement(), bits=[1, 2], size=2
        )
