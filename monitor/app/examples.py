"""Outcomes of made-up earlier models as a file, for the demo and for an example to start from."""

from pathlib import Path

from monitor.domain.errors import UsageError
from monitor.domain.suites import Suite
from monitor.history import outcomes
from monitor.simulation import suites

HISTORY = "history.npz"


def write_history(suite: Suite, file: Path, *, seed: int) -> None:
    """Write outcomes for which items are as hard as for simulated models of the same seed.

    Raises:
        UsageError: the file cannot be written.
    """
    earlier = suites.synthetic_history([item.id for item in suite.items], seed=seed)
    matrix = outcomes.OutcomeMatrix(
        outcomes=earlier.outcomes,
        models=earlier.models,
        items=earlier.items,
        dates=earlier.dates,
        groups=None,
    )
    try:
        outcomes.write_outcomes(file, matrix)
    except OSError as error:
        raise UsageError(f"{file}: cannot be written: {error.strerror}; name another") from error
