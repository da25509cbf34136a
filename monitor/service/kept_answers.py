"""Keeps texts of answers for people to look at, as the policy says; no evaluation fails for it.

The texts go to the local store alone: not to the bus, not into metrics, not into logs.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import assert_never

from monitor.domain.answers import CAME, UNGRADED, Completed, Status
from monitor.domain.errors import StateError
from monitor.domain.facts import AnswersNotKept
from monitor.domain.identifiers import ItemId, SuiteName, VariantName
from monitor.domain.kept_answers import KeptAnswer
from monitor.domain.plans import Subject
from monitor.domain.policies import KeepAnswers
from monitor.ports import Clock, KeptAnswers, Telemetry

LONGEST = 100_000
PURGE_SECONDS = 3600.0
CUT_SHORT = "length"
# A pattern that runs for ever holds a place among the questions until it is killed.
FAILED_REDACTIONS = 3
WITHHELD = (
    "kept_answers.redact fails or takes too long: the text is withheld; after"
    f" {FAILED_REDACTIONS} failures in a row all texts are, until the next start"
)

Wanted = Callable[[VariantName, SuiteName], KeepAnswers]
Redact = Callable[[Sequence[str]], Awaitable[Sequence[str] | None]]
"""Texts with what must not be kept taken out; None where that could not be done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What came of one item, to be kept or not.

    completed: None where no completion came.
    """

    subject: Subject
    item: ItemId
    status: Status
    extracted: str | None
    completed: Completed | None


class Keeper:
    """Keeps what policies want kept; what cannot be is told of, once for each reason."""

    def __init__(
        self,
        store: KeptAnswers | None,
        *,
        wanted: Wanted,
        redact: Redact,
        clock: Clock,
        telemetry: Telemetry,
    ) -> None:
        """Keep nothing yet.

        Args:
            store: where to; None keeps nothing.
            wanted: what is kept of a variant's answers on a suite.
            redact: is shown every text before it is kept.
            clock: dates answers, and tells when to delete.
            telemetry: is told why answers are not kept.
        """
        self._store = store
        self._wanted = wanted
        self._redact = redact
        self._clock = clock
        self._telemetry = telemetry
        self._told: set[str] = set()
        self._failed_redactions = 0

    async def take(self, said: Said) -> None:
        """Keep an answer that is wanted: redacted, and of a very long one the end."""
        wanted = self._wanted(said.subject.variant, said.subject.suite)
        if self._store is None or not _is_wanted(said, wanted):
            return
        text, extracted = await self._redacted(_text(said.completed), said.extracted)
        answer = KeptAnswer(
            evaluation_id=said.subject.evaluation_id,
            item=said.item,
            status=said.status,
            extracted=None if extracted is None else extracted[-LONGEST:],
            text=None if text is None else text[-LONGEST:],
            at=self._clock.now(),
        )
        try:
            await self._store.keep(answer)
        except StateError as error:
            self._tell(str(error))

    async def _redacted(self, text: str, extracted: str | None) -> tuple[str | None, str | None]:
        """Both as they may be kept.

        A pattern may need what stands around a secret, or its spelling, to know it; so what was
        extracted stays only where the text was left as it was, or still has it.
        """
        if self._failed_redactions == FAILED_REDACTIONS:
            return None, None
        redacted = await self._redact([text, extracted or ""])
        if redacted is None:
            self._failed_redactions += 1
            self._tell(WITHHELD)
            return None, None
        self._failed_redactions = 0
        shown, taken = redacted
        hides = extracted is None or (shown != text and taken not in shown)
        return shown, None if hides else taken

    async def purge_regularly(self, age: timedelta) -> None:
        """Delete what is older, now and every hour from now on; runs until it is cancelled."""
        while self._store is not None:
            try:
                await self._store.purge(self._clock.now() - age)
            except StateError as error:
                self._tell(str(error))
            await self._clock.sleep(PURGE_SECONDS)

    def _tell(self, detail: str) -> None:
        if detail not in self._told:
            self._told.add(detail)
            self._telemetry.record(AnswersNotKept(detail=detail))


def _is_wanted(said: Said, wanted: KeepAnswers) -> bool:
    match wanted:
        case KeepAnswers.NONE:
            return False
        case KeepAnswers.DOUBTFUL:
            return said.status in UNGRADED or _is_cut_short(said.completed)
        case KeepAnswers.ALL:
            return said.status in CAME
        case _:
            assert_never(wanted)


def _is_cut_short(completed: Completed | None) -> bool:
    return completed is not None and completed.finish_reason == CUT_SHORT


def _text(completed: Completed | None) -> str:
    """What was said: the answer, or what stood in its place."""
    if completed is None:
        return ""
    candidates = (completed.content, completed.refusal, completed.reasoning)
    return next((text for text in candidates if text and text.strip()), "")
