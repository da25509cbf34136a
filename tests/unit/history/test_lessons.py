from pathlib import Path

import numpy as np
import pytest

from monitor.domain.errors import HistoryError
from monitor.history import lessons
from monitor.history.lessons import Study
from monitor.stats.answers import Answers
from monitor.stats.factor_models import Factors
from tests.unit.history import recorded

U, V = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]), np.ones((400, 2))


def study(outcomes: np.ndarray, *, wants_fit: bool, wants_factors: bool) -> Study:
    return Study(
        outcomes=outcomes,
        families=tuple(range(len(outcomes))),
        groups=(0,) * outcomes.shape[1],
        wants_fit=wants_fit,
        wants_factors=wants_factors,
        seed=0,
    )


def test_a_history_of_nothing_promises_nothing() -> None:
    lesson = lessons.learn(study(np.empty((0, 400)), wants_fit=True, wants_factors=True))
    assert lesson.fit is not None
    assert not lesson.fit.is_worth(60)
    assert lesson.factors is not None
    assert lesson.factors.population == 400
    assert lesson.factors.prior[1] == pytest.approx(1.5**2, rel=0.01)


def test_only_what_is_wanted_is_learnt() -> None:
    lesson = lessons.learn(study(recorded.scores(), wants_fit=False, wants_factors=False))
    assert (lesson.fit, lesson.factors, lesson.is_asked) == (None, None, False)


def test_given_factors_are_drawn_by_unasked() -> None:
    generator = np.random.default_rng(1)
    factors = Factors.from_arrays(generator.normal(size=(30, 2)), generator.normal(size=(400, 2)))
    lesson = lessons.given(factors, seed=2)
    assert lesson.is_asked
    assert lesson.fit is not None
    assert lesson.fit.profile is not None
    assert lesson.fit.figures[-1].ess_ratio > 1.0
    predicted = lesson.fit.guide.predict(Answers.from_columns(items=[], scores=[]))
    assert predicted.shape == (400,)


def test_factors_are_read(tmp_path: Path) -> None:
    np.savez(tmp_path / "factors.npz", U=U, V=V)
    found = lessons.read_factors(tmp_path / "factors.npz", 400)
    np.testing.assert_array_equal(found.models, U)
    np.testing.assert_array_equal(found.items, V)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"U": U}, "holds of the arrays U and V only U"),
        ({"X": U}, "holds of the arrays U and V only neither"),
        ({"U": U, "V": V[:, :1]}, "U has 2 factors, V has 1"),
        ({"U": U, "V": V[:399]}, "V has 399 rows for 400 items"),
        ({"U": U, "V": np.full((400, 2), np.nan)}, "V: every value must be a finite number"),
    ],
)
def test_factors_that_do_not_fit_are_refused(
    tmp_path: Path, arrays: dict[str, np.ndarray], message: str
) -> None:
    np.savez(tmp_path / "factors.npz", **arrays)  # type: ignore[arg-type]  # numpy's own keywords
    with pytest.raises(HistoryError, match=rf"factors\.npz: {message} \(U: \(models, k\)"):
        lessons.read_factors(tmp_path / "factors.npz", 400)
