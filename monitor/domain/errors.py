"""Every error this package raises on purpose, each saying what to do about it.

MonitorError
├── UsageError             a command was given arguments that do not fit
├── ProblemsFound          several findings about files, each with its place
│   ├── ConfigError        monitor.yaml or the environment
│   ├── SuiteError         suite.yaml or items.jsonl
│   └── HistoryError       a file of earlier outcomes
├── InvalidEvent           an event that can never be processed: dead letter
├── InvalidPlan            an evaluation that cannot be planned as asked
├── SurrogateError         a surrogate that cannot be used, or is another one than before
├── StateError
│   ├── StateLocked        another process owns the state directory
│   ├── StateTooNew        written by a newer version of this package
│   ├── StateCorrupt       stored bytes that cannot be read back
│   └── OwnershipLost      somebody else now owns this partition
└── ReplayMismatch         a recomputed result differs from the published one
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class MonitorError(Exception):
    """Root of the tree; its text is fit to be shown to a user as it is."""


class UsageError(MonitorError):
    """The arguments of a command contradict each other or name nothing that exists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One finding: where it is, what is wrong, what to do."""

    where: str
    what: str
    todo: str = ""

    def __str__(self) -> str:
        """One line a person can act on."""
        return f"{self.where}: {self.what}" + (f" ({self.todo})" if self.todo else "")


class ProblemsFound(MonitorError):
    """One or more findings about the files or settings a user wrote."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class ConfigError(ProblemsFound):
    """The configuration cannot be used."""


class SuiteError(ProblemsFound):
    """A suite cannot be used."""


class HistoryError(ProblemsFound):
    """A file of earlier outcomes cannot be used."""


class DeadLetterReason(StrEnum):
    """Why an event was put aside; also a metric label, so the list is closed."""

    NOT_JSON = "not_json"
    NOT_CLOUDEVENT = "not_cloudevent"
    UNKNOWN_TYPE = "unknown_type"
    NEWER_SCHEMA = "newer_schema"
    INVALID_DATA = "invalid_data"
    TOO_LARGE = "too_large"
    UNKNOWN_SUITE = "unknown_suite"
    UNKNOWN_ENDPOINT = "unknown_endpoint"
    HOST_NOT_ALLOWED = "host_not_allowed"
    UNKNOWN_CREDENTIAL = "unknown_credential"


class InvalidEvent(MonitorError):
    """An event that no retry can make valid."""

    def __init__(self, reason: DeadLetterReason, detail: str) -> None:
        self.reason = reason
        self.detail = detail
        super().__init__(f"{reason}: {detail}")


class InvalidPlan(MonitorError):
    """What was asked for cannot be planned on this suite."""


class SurrogateError(MonitorError):
    """A surrogate's answers cannot be bought, or would be mixed with those of another model."""


class StateError(MonitorError):
    """The stored state cannot be used."""


class StateLocked(StateError):
    """Another process owns the state."""


class StateTooNew(StateError):
    """The state was written by a newer version; nothing is changed."""


class StateCorrupt(StateError):
    """Stored bytes do not decode to what they must be."""


class OwnershipLost(StateError):
    """Another process has taken over the partition; whatever was under way stops here."""


class ReplayMismatch(MonitorError):
    """A result recomputed from its record differs from what was published."""
