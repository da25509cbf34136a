import numpy as np
from scipy import special

from monitor.stats.answers import History
from monitor.stats.item_tally import ItemTally

OUTCOMES = np.array([[1.0, 0.0, np.nan], [1.0, 1.0, np.nan]])


def test_the_feature_is_the_standardised_smoothed_logit() -> None:
    feature = ItemTally.of(History.from_matrix(OUTCOMES)).feature()
    mean = 3.5 / 5
    logits = special.logit((np.array([2.0, 1.0, 0.0]) + mean + 0.25) / np.array([3.5, 3.5, 1.5]))
    assert np.allclose(feature, (logits - logits.mean()) / logits.std())


def test_items_all_alike_have_no_feature() -> None:
    features = ItemTally.of(History.from_matrix(np.ones((3, 4)))).features()
    assert features.tolist() == [[1.0, 0.0]] * 4


def test_rows_can_be_left_out() -> None:
    left = ItemTally.of(History.from_matrix(OUTCOMES)).without(OUTCOMES[:1])
    assert left.sums.tolist() == [1.0, 1.0, 0.0]
    assert left.counts.tolist() == [1.0, 1.0, 0.0]
