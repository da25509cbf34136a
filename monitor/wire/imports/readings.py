"""What comes of reading files made for another tool: items to be, and all that was not understood.

Nothing is dropped silently: a record becomes an item, repeats one, or is left out with a reason.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from monitor.domain.errors import Problem

SAME_REMARK_AT_MOST = 10


class Format(StrEnum):
    """Formats of files that are read."""

    INSPECT = "inspect"
    LM_EVAL = "lm-eval"
    PROMPTFOO = "promptfoo"
    TABLE = "table"


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One entry of a file.

    place: file and line, or file and path. spare_id: for an item that brings none.
    """

    place: str
    content: Any
    spare_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """What is to be said of a field of a record; the field is empty where it is all of it."""

    field: str = ""
    what: str
    todo: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A remark and its place."""

    place: str
    remark: Remark


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """An item to be: a line of items.jsonl as plain data, and where it came from.

    verbatim and grader: as of the file that it came from, see `Reading`.
    """

    place: str
    document: dict[str, Any]
    verbatim: bool = False
    grader: dict[str, Any] | None = None


@dataclass(slots=True, kw_only=True)
class Reading:
    """What was read so far.

    left_out: one finding for each record that did not become an item.
    changed: what items have lost or gained on the way.
    notes: how the files were understood.
    verbatim: questions of the file being read are whole prompts; nothing is to be put around them.
    grader: that which the file being read names, for items without their own.
    """

    drafts: list[Draft] = field(default_factory=list)
    left_out: list[Finding] = field(default_factory=list)
    changed: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    verbatim: bool = False
    grader: dict[str, Any] | None = None

    def leave_out(self, place: str, remark: Remark) -> None:
        self.left_out.append(Finding(place=place, remark=remark))

    def change(self, place: str, remark: Remark) -> None:
        self.changed.append(Finding(place=place, remark=remark))

    def draft(self, record: Record, document: dict[str, Any]) -> None:
        """Take an item; what is None or empty is left out of its document, a missing id made up."""
        given = {name: value for name, value in document.items() if value not in (None, [], {})}
        given.setdefault("id", record.spare_id)
        self.drafts.append(
            Draft(place=record.place, document=given, verbatim=self.verbatim, grader=self.grader)
        )


def problems(findings: Iterable[Finding]) -> list[Problem]:
    """Findings as lines for the reader; of those that say the same, the first ones and a count."""
    told: Counter[tuple[str, str]] = Counter()
    shown = []
    for finding in findings:
        remark = finding.remark
        told[remark.field, remark.what] += 1
        if told[remark.field, remark.what] <= SAME_REMARK_AT_MOST:
            where = f"{finding.place}: {remark.field}" if remark.field else finding.place
            shown.append(Problem(where=where, what=remark.what, todo=remark.todo))
    return shown + [
        Problem(where=f"{count - SAME_REMARK_AT_MOST} more records", what=f"{name} {what}".strip())
        for (name, what), count in told.items()
        if count > SAME_REMARK_AT_MOST
    ]
