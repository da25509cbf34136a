import math
from pathlib import Path

import numpy as np
import pytest

from monitor.domain.errors import HistoryError
from monitor.history import recorded_signals
from monitor.stats.signals import Signal


def of_answers(right: list[int], asked: list[int], *, seed: int = 0) -> Signal:
    generator = np.random.default_rng(seed)
    return recorded_signals.of_answers(np.array(right), np.array(asked), generator)


def test_right_answers_are_one_cluster() -> None:
    found = of_answers([10, 9], [10, 10])
    assert found.entropy[0] == 0.0
    assert found.entropy[1] == pytest.approx(-0.9 * math.log(0.9) - 0.1 * math.log(0.1))
    np.testing.assert_array_equal(found.consistency, [1.0, 0.9])
    np.testing.assert_array_equal(found.single, [True, False])
    np.testing.assert_array_equal(found.pass_rate, [1.0, 0.9])


def test_wrong_answers_scatter_as_stated() -> None:
    found = of_answers([0] * 4000, [1000] * 4000)
    expected = -sum(share * math.log(share) for share in recorded_signals.WRONG)
    assert found.entropy.mean() == pytest.approx(expected, abs=0.005)
    assert found.consistency.mean() == pytest.approx(0.5, abs=0.005)
    assert not found.single.any()


def test_the_seed_settles_where_wrong_answers_go() -> None:
    first, again, other = (of_answers([3] * 50, [10] * 50, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.entropy, again.entropy)
    assert (first.entropy != other.entropy).any()


def test_an_item_without_answers_is_as_uncertain_as_can_be() -> None:
    found = of_answers([0, 10, 5], [0, 10, 10])
    assert (found.entropy[0], found.consistency[0]) == (pytest.approx(math.log(10)), 0.1)
    assert not found.single[0]
    assert found.pass_rate is not None
    assert found.pass_rate[0] == 0.75


def test_a_pass_rate_alone_knows_right_from_wrong() -> None:
    found = recorded_signals.of_pass_rates(np.array([0.0, 0.5, 1.0, np.nan]))
    np.testing.assert_allclose(found.entropy, [0.0, math.log(2), 0.0, math.log(2)])
    np.testing.assert_array_equal(found.single, [True, False, True, False])
    np.testing.assert_array_equal(found.pass_rate, [0.0, 0.5, 1.0, 0.5])


def test_what_is_not_known_is_never_sure() -> None:
    found = recorded_signals.of_pass_rates(np.array([1.0, np.nan]))
    np.testing.assert_array_equal(found.pass_rate, [1.0, 1.0])
    np.testing.assert_array_equal(found.single, [True, False])


def test_nothing_known_is_no_error() -> None:
    found = recorded_signals.of_pass_rates(np.full(3, np.nan))
    np.testing.assert_array_equal(found.pass_rate, np.full(3, 0.5))


def test_a_part_of_the_items() -> None:
    found = recorded_signals.of_items(of_answers([10, 5, 0], [10, 10, 10]), np.array([2, 0]))
    np.testing.assert_array_equal(found.pass_rate, [0.0, 1.0])
    np.testing.assert_array_equal(found.single[1:], [True])


def test_a_stored_signal_is_read(tmp_path: Path) -> None:
    stored = of_answers([10, 5, 0], [10, 10, 10])
    columns = ("entropy", "consistency", "single")
    np.savez(tmp_path / "signal.npz", **{name: getattr(stored, name) for name in columns})
    found = recorded_signals.read_signal(tmp_path / "signal.npz", 3)
    np.testing.assert_array_equal(found.entropy, stored.entropy)
    np.testing.assert_array_equal(found.single, stored.single)
    assert found.pass_rate is None


USUAL = {name: np.ones(3) for name in recorded_signals.COLUMNS}


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"entropy": np.ones(3)}, r"signal\.npz: has no array consistency, single"),
        (USUAL | {"consistency": np.ones(2)}, r"does not fit: consistency: shape must be \(3,\)"),
        (USUAL | {"pass_rate": np.full(3, 1.5)}, "does not fit: pass_rate: values must lie in"),
        (USUAL | {"entropy": np.array(["a", "b", "c"])}, "does not fit: could not convert string"),
    ],
)
def test_a_stored_signal_that_does_not_fit_is_refused(
    tmp_path: Path, arrays: dict[str, np.ndarray], message: str
) -> None:
    np.savez(tmp_path / "signal.npz", **arrays)  # type: ignore[arg-type]  # numpy's own keywords
    with pytest.raises(HistoryError, match=message):
        recorded_signals.read_signal(tmp_path / "signal.npz", 3)
