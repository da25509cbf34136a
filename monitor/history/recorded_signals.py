"""What recorded answers would have told of the items, had they been a surrogate's.

A record knows right from wrong, not what a wrong answer said. Right answers are one cluster; wrong
ones are spread by chance over as many clusters as `WRONG` has shares, the likeliest of which is
another one for each item.
"""

from pathlib import Path
from typing import Final

import numpy as np

from monitor.domain import errors
from monitor.history import outcomes
from monitor.stats import arrays
from monitor.stats.arrays import BoolArray, FloatArray, IntArray
from monitor.stats.signals import Signal

WRONG: Final = (0.5, 0.25, 0.15, 0.1)
COLUMNS: Final = ("entropy", "consistency", "single")
RATE: Final = "pass_rate"
UNKNOWN_RATE: Final = 0.5


def of_items(signal: Signal, items: IntArray) -> Signal:
    """Return the signal of a pool that holds these items only, in this order."""
    rates = signal.pass_rate
    return Signal.from_columns(
        entropy=signal.entropy[items],
        consistency=signal.consistency[items],
        single=signal.single[items],
        pass_rate=None if rates is None else rates[items],
    )


def of_pass_rates(rates: FloatArray) -> Signal:
    """Return the signal of what is expected of right and wrong as the only two clusters.

    Args:
        rates: (N,) chance of a right answer, NaN where unknown.
    """
    known = ~np.isnan(rates)
    right = _filled(rates, known)
    return _signal(np.column_stack([right, 1.0 - right]), right=right, known=known, answers=2)


def of_answers(right: IntArray, asked: IntArray, generator: np.random.Generator) -> Signal:
    """Return the signal of recorded answers.

    Args:
        right: (N,) number of right answers.
        asked: (N,) number of answers.
        generator: where wrong answers go.
    """
    shares = generator.permuted(np.tile(WRONG, (len(asked), 1)), axis=1)
    wrong = generator.multinomial(asked - right, shares)
    known = asked > 0
    counts = np.column_stack([right, wrong]) / np.maximum(asked, 1)[:, np.newaxis]
    rates = _filled(counts[:, 0], known)
    return _signal(counts, right=rates, known=known, answers=max(1, int(asked.max())))


def read_signal(path: Path, population: int) -> Signal:
    """Read a stored signal of a pool of `population` items.

    Raises:
        HistoryError: the file cannot be read, or does not hold one.
    """
    todo = f"needed are {', '.join(COLUMNS)} and perhaps {RATE}, one value for each item"
    found = outcomes.read_arrays(path, (*COLUMNS, RATE))
    if missing := [name for name in COLUMNS if name not in found]:
        what = f"has no array {', '.join(missing)}"
        raise errors.HistoryError([errors.Problem(where=str(path), what=what, todo=todo)])
    try:
        columns = {
            name: arrays.floats(found[name].astype(np.float64), name=name, size=population)
            for name in found
        }
        return Signal.from_columns(
            entropy=columns["entropy"],
            consistency=columns["consistency"],
            single=columns["single"].astype(np.bool_),
            pass_rate=columns.get(RATE),
        )
    except ValueError as error:
        problem = errors.Problem(where=str(path), what=f"does not fit: {error}", todo=todo)
        raise errors.HistoryError([problem]) from None


def _signal(
    shares: FloatArray,
    *,
    right: FloatArray,
    known: BoolArray,
    answers: int,
) -> Signal:
    """Return the signal of cluster shares; an item without an answer is as uncertain as can be.

    Args:
        shares: (N, clusters).
        right: (N,) pass rate.
        known: (N,) whether there is an answer.
        answers: K.
    """
    logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0.0)
    return Signal.from_columns(
        entropy=np.where(known, np.maximum(-(shares * logs).sum(axis=1), 0.0), np.log(answers)),
        consistency=np.where(known, shares.max(axis=1), 1.0 / answers),
        single=known & (np.count_nonzero(shares, axis=1) == 1),
        pass_rate=right,
    )


def _filled(rates: FloatArray, known: BoolArray) -> FloatArray:
    """Return the rates with the mean of the known ones for the others."""
    return np.where(known, rates, rates[known].mean() if known.any() else UNKNOWN_RATE)
