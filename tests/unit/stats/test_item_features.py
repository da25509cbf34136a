import numpy as np

from monitor.stats import item_features
from monitor.stats.answers import History
from tests.unit.stats import histories

INDICATORS = np.eye(3)[np.arange(200) % 3]


def test_columns_stand_in_their_order() -> None:
    features, layout = item_features.item_features(histories.informative(), INDICATORS)
    assert (layout.scale, layout.groups) == (3, 3)
    assert features.shape == (200, 3 + 3 + len(layout.ratios))
    assert (features[:, 0] == 1.0).all()
    assert (features[:, 3:6] == INDICATORS).all()


def test_without_models_only_groups_are_known() -> None:
    features, layout = item_features.item_features(History.empty(200), INDICATORS)
    assert layout.ratios == ()
    assert not features[:, 1:3].any()


def test_few_families_tell_no_components() -> None:
    history = History.from_matrix(histories.informative(8).outcomes, families=[0, 0, 1, 1] * 2)
    _, layout = item_features.item_features(history, INDICATORS)
    assert layout.ratios == ()


def test_what_items_are_called_does_not_matter() -> None:
    history = histories.informative()
    order = np.random.default_rng(0).permutation(200)
    features, _ = item_features.item_features(history, INDICATORS)
    shuffled, _ = item_features.item_features(history.of_items(order), INDICATORS[order])
    assert np.allclose(shuffled, features[order])
