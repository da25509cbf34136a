import numpy as np

from monitor.stats import item_groups
from monitor.stats.answers import Answers, History
from monitor.stats.item_groups import ItemGroups

GROUPS = [0] * 20 + [1] * 20 + [2] * 10


def guide(groups: list[int]) -> ItemGroups:
    return ItemGroups.fit(History.from_matrix(np.empty((0, len(groups))), groups=groups))


def test_it_begins_as_plain_random_sampling() -> None:
    assert np.ptp(guide(GROUPS).predict(Answers.from_columns(items=[], scores=[]))) == 0.0


def test_a_group_learns_from_its_own_answers() -> None:
    answers = Answers.from_columns(items=range(10, 30), scores=[1.0] * 10 + [0.0] * 10)
    predicted = guide(GROUPS).predict(answers)
    assert predicted[0] > predicted[49] > predicted[39]
    assert np.ptp(predicted[:20]) == 0.0


def test_what_groups_are_called_does_not_matter() -> None:
    answers = Answers.from_columns(items=[3, 25, 45], scores=[1.0, 0.0, 1.0])
    renamed = guide([{0: 7, 1: 2, 2: 5}[label] for label in GROUPS])
    assert np.allclose(renamed.predict(answers), guide(GROUPS).predict(answers))


def test_one_group_is_no_group() -> None:
    assert item_groups.indicators(np.zeros(5, dtype=np.int64)).shape == (5, 0)


def test_of_many_groups_only_the_largest_count() -> None:
    groups = np.concatenate([np.arange(80), np.full(5, 79)])
    found = item_groups.indicators(groups)
    assert found.shape == (85, item_groups.MOST_GROUPS)
    assert found[:, -1].sum() == 6
