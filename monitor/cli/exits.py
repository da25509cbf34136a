"""Exit codes, for gates in scripts and pipelines."""

from enum import IntEnum

from monitor.domain.errors import MonitorError, ReplayMismatch
from monitor.domain.results import Outcome


class ExitCode(IntEnum):
    """What a command's exit code says."""

    MET = 0
    NOT_MET = 1
    USAGE = 2
    INCONCLUSIVE = 3
    FAULTED = 4
    CANCELLED = 5
    REPLAY_DISAGREES = 6
    INTERRUPTED = 130


def code_for(outcome: Outcome) -> ExitCode:
    """The exit code that stands for a verdict."""
    return ExitCode[outcome.name]


def code_of(error: MonitorError) -> ExitCode:
    """The exit code of a command that ended with an error."""
    return ExitCode.REPLAY_DISAGREES if isinstance(error, ReplayMismatch) else ExitCode.USAGE
