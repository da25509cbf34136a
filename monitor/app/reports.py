"""What a check found, in three kinds."""

from dataclasses import dataclass, field

from monitor.domain.errors import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What is wrong, what works but may surprise, what is fine."""

    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, other: "Report") -> None:
        """Take over what another check found."""
        self.problems.extend(other.problems)
        self.warnings.extend(other.warnings)
        self.notes.extend(other.notes)


def count(number: int, noun: str) -> str:
    """`1 item`, `2 items`."""
    return f"{number} {noun}" + ("" if number == 1 else "s")
