import numpy as np

from monitor.stats.answers import Answers, History
from monitor.stats.signals import Signal
from monitor.stats.surrogate_guide import SurrogateGuide

NO_ANSWER = Answers.from_columns(items=[], scores=[])


def signal(pass_rate: list[float] | None = None) -> Signal:
    return Signal.from_columns(
        entropy=[0.0, 0.6], consistency=[1.0, 0.7], single=[True, False], pass_rate=pass_rate
    )


def test_it_predicts_the_surrogates_own_score() -> None:
    guide = SurrogateGuide.of(signal([0.0, 0.3]))
    assert guide.predict(NO_ANSWER).tolist() == [0.005, 0.3]


def test_without_a_score_it_predicts_the_consistency() -> None:
    assert SurrogateGuide.of(signal()).predict(NO_ANSWER).tolist() == [0.995, 0.7]


def test_it_learns_nothing_from_answers() -> None:
    guide = SurrogateGuide.of(signal())
    wrong = Answers.from_columns(items=[0, 0, 1], scores=[0.0, 0.0, 0.0])
    assert guide.predict(wrong).tolist() == guide.predict(NO_ANSWER).tolist()


def test_the_models_of_a_history_can_be_surrogates() -> None:
    guide = SurrogateGuide.fit(History.from_matrix(np.array([[1.0, 0.0], [1.0, np.nan]])))
    easy, hard = guide.predict(NO_ANSWER)
    assert hard < 0.5 < easy
