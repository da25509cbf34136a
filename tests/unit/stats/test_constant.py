import numpy as np
import pytest

from monitor.stats.answers import Answers, History
from monitor.stats.constant import Constant

NO_HISTORY = History.from_matrix(np.empty((0, 3)))
NO_ANSWER = Answers.from_columns(items=[], scores=[])


def test_without_anything_known_it_expects_one_half() -> None:
    assert Constant.fit(NO_HISTORY).predict(NO_ANSWER).tolist() == [0.5, 0.5, 0.5]


def test_history_counts_as_four_answers() -> None:
    guide = Constant.fit(History.from_matrix(np.array([[1.0, 1.0, np.nan, 0.0]])))
    answers = Answers.from_columns(items=[0, 1], scores=[0.0, 0.0])
    assert guide.predict(NO_ANSWER) == pytest.approx(2 / 3)
    assert guide.predict(answers) == pytest.approx(4 * (2 / 3) / 6)


def test_pass_rates_scatter_less_than_single_answers() -> None:
    history = np.random.default_rng(0).binomial(5, 0.6, (10, 200)) / 5
    guide = Constant.fit(History.from_matrix(history))
    assert guide.dispersion == pytest.approx(1 / 5, rel=0.1)
