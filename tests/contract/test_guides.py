"""What every guide keeps, whatever the history."""

import numpy as np
import pytest

from monitor.stats import guides, predictions
from monitor.stats.answers import Answers, History
from monitor.stats.guides import GUIDES, Guide
from monitor.stats.surrogate_guide import SurrogateGuide

ITEMS = 50


def history(kind: str) -> History:
    rng = np.random.default_rng(0)
    rates = rng.binomial(3, rng.uniform(0.1, 0.9, ITEMS), (12, ITEMS)) / 3
    sparse = np.where(rng.random((12, ITEMS)) < 0.7, np.nan, rates)
    sparse[:, 7] = np.nan
    sparse[3] = np.nan
    matrices = {
        "none": np.empty((0, ITEMS)),
        "one model": np.round(rates[:1]),
        "binary": np.round(rates),
        "fractional": rates,
        "sparse": sparse,
        "all right": np.ones((12, ITEMS)),
    }
    return History.from_matrix(matrices[kind])


KINDS = ["none", "one model", "binary", "fractional", "sparse", "all right"]


# The guide of strata comes from a signal, and is no choice beside those that learn.
EVERY_GUIDE: dict[str, type[Guide]] = {**GUIDES, SurrogateGuide.name: SurrogateGuide}


@pytest.fixture(
    name="guide", params=[(name, kind) for name in sorted(EVERY_GUIDE) for kind in KINDS]
)
def _guide(request: pytest.FixtureRequest) -> Guide:
    name, kind = request.param
    return EVERY_GUIDE[name].fit(history(kind))


def answers(count: int, *, score: float | None = None, seed: int = 1) -> Answers:
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 5, count) / 4 if score is None else np.full(count, score)
    return Answers.from_columns(
        items=rng.integers(0, ITEMS, count).tolist(), scores=scores.tolist()
    )


@pytest.mark.parametrize("count", [0, 1, 40])
def test_predictions_are_finite_and_never_certain(guide: Guide, count: int) -> None:
    for score in (0.0, 1.0, None):
        predicted = guide.predict(answers(count, score=score))
        low, high = predictions.LIMITS
        assert predicted.shape == (ITEMS,)
        assert predicted.dtype == np.float64
        assert ((predicted >= low) & (predicted <= high)).all()


def test_the_order_of_answers_does_not_matter_to_the_bit(guide: Guide) -> None:
    known = answers(40)
    order = np.random.default_rng(2).permutation(40)
    shuffled = Answers(items=known.items[order], scores=known.scores[order])
    assert guide.predict(shuffled).tobytes() == guide.predict(known).tobytes()


def test_predicting_changes_nothing(guide: Guide) -> None:
    before, digest = guide.predict(answers(5)), guides.digest(guide)
    guide.predict(answers(40, seed=3))
    assert guide.predict(answers(5)).tobytes() == before.tobytes()
    assert guides.digest(guide) == digest


@pytest.mark.parametrize("name", sorted(GUIDES))
@pytest.mark.parametrize("kind", KINDS)
def test_answers_move_predictions_their_way(name: str, kind: str) -> None:
    guide = GUIDES[name].fit(history(kind))
    low = guide.predict(answers(40, score=0.0))
    high = guide.predict(answers(40, score=1.0))
    assert (low < high).all()


def test_a_stored_guide_is_the_guide(guide: Guide) -> None:
    again = EVERY_GUIDE[guide.name].from_columns(guide.columns())
    assert again.predict(answers(9)).tobytes() == guide.predict(answers(9)).tobytes()
    assert again.dispersion == guide.dispersion
    assert guides.digest(again) == guides.digest(guide)


def test_columns_are_flat_numbers(guide: Guide) -> None:
    for column in guide.columns().values():
        assert column.ndim == 1
        assert column.dtype == np.float64


@pytest.mark.parametrize("name", sorted(EVERY_GUIDE))
def test_a_column_that_is_not_there_is_missed(name: str) -> None:
    with pytest.raises(ValueError, match="no such column"):
        EVERY_GUIDE[name].from_columns({})


@pytest.mark.parametrize("name", sorted(EVERY_GUIDE))
@pytest.mark.parametrize("kind", KINDS)
def test_dispersion_is_one_unless_scores_are_fractional(name: str, kind: str) -> None:
    dispersion = EVERY_GUIDE[name].fit(history(kind)).dispersion
    assert 0.0 < dispersion <= 1.0
    assert (dispersion == 1.0) is (kind not in {"fractional", "sparse"})


@pytest.mark.parametrize("name", sorted(EVERY_GUIDE))
def test_fitting_is_repeatable_and_uses_the_history(name: str) -> None:
    digests = [guides.digest(EVERY_GUIDE[name].fit(history(kind))) for kind in ("sparse", "binary")]
    assert digests[0] == guides.digest(EVERY_GUIDE[name].fit(history("sparse")))
    assert digests[0] != digests[1]


def test_the_table_knows_guides_by_their_names() -> None:
    assert {kind.name for kind in GUIDES.values()} == set(GUIDES)
