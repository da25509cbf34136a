"""What cheap models tell about the items of a pool before anything is paid for the target.

A surrogate answers every item K times; its answers are put into clusters of one meaning. How they
scatter over the clusters says how hard an item is, without knowing a right answer.
"""

import dataclasses
import hashlib
from collections.abc import Sequence
from typing import Self

import numpy as np

from monitor.stats import arrays
from monitor.stats.arrays import BoolArray, FloatArray


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Signal:
    """One surrogate's answers, or several surrogates' averaged.

    entropy: (N,) discrete semantic entropy -sum (c/K) ln(c/K) over the clusters, in nats.
    consistency: (N,) share of the answers that the largest cluster holds, in (0, 1].
    single: (N,) mask of the items with one cluster.
    pass_rate: (N,) mean score of the surrogate's own answers; None where they are not graded.
    """

    entropy: FloatArray
    consistency: FloatArray
    single: BoolArray
    pass_rate: FloatArray | None = None

    @classmethod
    def from_columns(
        cls,
        *,
        entropy: Sequence[float] | FloatArray,
        consistency: Sequence[float] | FloatArray,
        single: Sequence[bool] | BoolArray,
        pass_rate: Sequence[float] | FloatArray | None = None,
    ) -> Self:
        """Check and copy.

        Raises:
            ValueError: no item, lengths differ, or a value is out of its range.
        """
        size = len(entropy)
        if size == 0:
            raise ValueError("signal: a pool needs at least one item")
        mask = np.array(single, dtype=np.bool_)
        if mask.shape != (size,):
            raise ValueError(f"single: shape must be ({size},), not {mask.shape}")
        mask.setflags(write=False)
        return cls(
            entropy=arrays.floats(entropy, name="entropy", within=(0.0, np.inf)),
            consistency=arrays.floats(
                consistency, name="consistency", size=size, within=(np.finfo(float).tiny, 1.0)
            ),
            single=mask,
            pass_rate=None
            if pass_rate is None
            else arrays.floats(pass_rate, name="pass_rate", size=size, within=(0.0, 1.0)),
        )

    @property
    def population(self) -> int:
        """Number of items N."""
        return len(self.entropy)


def average(parts: Sequence[Signal]) -> Signal:
    """Return the mean of several surrogates' signals; an item is single where it is in all.

    Raises:
        ValueError: no signal, or signals of different pools.
    """
    if not parts:
        raise ValueError("signals: at least one is needed")
    populations = sorted({each.population for each in parts})
    if len(populations) > 1:
        raise ValueError(f"signals: of pools of {populations} items, one pool is needed")
    rates = [each.pass_rate for each in parts if each.pass_rate is not None]
    return Signal(
        entropy=np.mean([each.entropy for each in parts], axis=0),
        consistency=np.mean([each.consistency for each in parts], axis=0),
        single=np.all([each.single for each in parts], axis=0),
        pass_rate=np.mean(rates, axis=0) if len(rates) == len(parts) else None,
    )


def digest(signal: Signal) -> str:
    """Return the sha256 (hex) of the signal's columns in little-endian bytes."""
    content = hashlib.sha256(f"signal\0{signal.population}".encode())
    rates = () if signal.pass_rate is None else (signal.pass_rate,)
    for column in (signal.entropy, signal.consistency, signal.single, *rates):
        content.update(column.astype("<f8").tobytes())
    return content.hexdigest()
