import dataclasses

import numpy as np
import pytest

from monitor.stats import signals
from monitor.stats.signals import Signal

SIGNAL = Signal.from_columns(
    entropy=[0.0, 0.5, 1.2],
    consistency=[1.0, 0.8, 0.4],
    single=[True, False, False],
    pass_rate=[1.0, 0.8, 0.0],
)
OTHER = Signal.from_columns(
    entropy=[0.0, 0.0, 0.6],
    consistency=[1.0, 1.0, 0.6],
    single=[True, True, False],
    pass_rate=[0.0, 1.0, 0.4],
)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"entropy": [0.0, -0.1, 1.0]}, "entropy: values"),
        ({"consistency": [1.0, 0.0, 0.5]}, "consistency: values"),
        ({"consistency": [1.0]}, "consistency: shape"),
        ({"single": [True]}, "single: shape"),
        ({"pass_rate": [1.0, 1.1, 0.0]}, "pass_rate: values"),
        ({"entropy": []}, "at least one item"),
    ],
)
def test_columns_that_do_not_fit_are_refused(change: dict[str, list[float]], message: str) -> None:
    columns = {"entropy": [0.0] * 3, "consistency": [1.0] * 3, "single": [True] * 3, **change}
    with pytest.raises(ValueError, match=message):
        Signal.from_columns(**columns)  # type: ignore[arg-type] # as read from outside


def test_surrogates_are_averaged() -> None:
    mean = signals.average([SIGNAL, OTHER])
    assert mean.pass_rate is not None
    assert mean.entropy == pytest.approx([0.0, 0.25, 0.9])
    assert mean.consistency == pytest.approx([1.0, 0.9, 0.5])
    assert mean.pass_rate == pytest.approx([0.5, 0.9, 0.2])


def test_an_item_is_single_where_it_is_for_every_surrogate() -> None:
    assert signals.average([SIGNAL, OTHER]).single.tolist() == [True, False, False]


def test_pass_rates_count_where_every_surrogate_has_them() -> None:
    ungraded = dataclasses.replace(OTHER, pass_rate=None)
    assert signals.average([SIGNAL, ungraded]).pass_rate is None


def test_signals_of_different_pools_have_no_mean() -> None:
    short = Signal.from_columns(entropy=[0.0], consistency=[1.0], single=[True])
    with pytest.raises(ValueError, match="one pool"):
        signals.average([SIGNAL, short])
    with pytest.raises(ValueError, match="at least one"):
        signals.average([])


def test_the_digest_is_that_of_every_column() -> None:
    changed = [
        dataclasses.replace(SIGNAL, entropy=SIGNAL.entropy + 0.1),
        dataclasses.replace(SIGNAL, consistency=SIGNAL.consistency / 2),
        dataclasses.replace(SIGNAL, single=~SIGNAL.single),
        dataclasses.replace(SIGNAL, pass_rate=np.zeros(3)),
        dataclasses.replace(SIGNAL, pass_rate=None),
    ]
    assert len({signals.digest(each) for each in (SIGNAL, *changed)}) == 6
    assert signals.digest(signals.average([SIGNAL])) == signals.digest(SIGNAL)
