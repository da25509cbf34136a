"""Texts of answers, kept for a while so that people can look at what was not understood."""

from dataclasses import dataclass
from datetime import datetime

from monitor.domain.answers import Status
from monitor.domain.identifiers import EvaluationId, ItemId


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptAnswer:
    """What a version said to one item, and what became of it.

    extracted: what the grader took for the answer, None where it found none, or where redaction
    took it out of the text.
    text: empty where nothing was said; None where it was withheld, since it could not be redacted.
    """

    evaluation_id: EvaluationId
    item: ItemId
    status: Status
    extracted: str | None
    text: str | None
    at: datetime
