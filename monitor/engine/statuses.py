"""What an exchange with the endpoint is worth: one table, first row that fits.

The table decides what a version is charged with (wrong), what it is spared (missing), what is
worth another attempt, and what means that nothing more should be bought.
"""

import re
from dataclasses import dataclass
from typing import assert_never

from monitor.domain.answers import (
    MISSING,
    Breakdown,
    Broken,
    Completed,
    Exchange,
    Fault,
    Grade,
    Refused,
    Status,
    Ungraded,
)
from monitor.domain.suites import AnswerRules

SAME_REJECTIONS = 3

# Servers word these in their own ways, and many send no code that would tell them apart.
_CONTEXT = re.compile(
    r"context.?(length|window|size)|(prompt|input) is too long|`inputs`? (tokens|must have less)",
    re.IGNORECASE,
)
_FILTER = re.compile(r"content.?(filter|policy)|responsible.?ai.?policy", re.IGNORECASE)
_UNKNOWN_MODEL = re.compile(
    r"model_not_found|unknown model|invalid model|server is pinned to"
    r"|model\b.{0,100}\b(does not exist|not found|is not available)",
    re.IGNORECASE | re.DOTALL,
)
_QUOTA_LABEL = re.compile(
    r"insufficient.?(quota|balance|funds|credit)|quota.?exhausted|billing|exceeded_current_quota",
    re.IGNORECASE,
)
# Rate limits too speak of billing and quota in their messages, so the message must be plainer.
_QUOTA_WORDS = re.compile(r"insufficient.?(quota|balance|funds|credit)", re.IGNORECASE)
_FAULTS = {
    401: Fault.UNAUTHORIZED,
    402: Fault.QUOTA_EXHAUSTED,
    403: Fault.FORBIDDEN,
    404: Fault.NOT_FOUND,
    410: Fault.NOT_FOUND,
    429: Fault.QUOTA_EXHAUSTED,
}
_CUT_SHORT_BY_SERVER = frozenset({"abort", "error", "insufficient_system_resource"})
_REQUEST_ITSELF = frozenset({400, 413, 422})


@dataclass(frozen=True, slots=True, kw_only=True)
class Gradable:
    """There is a text to grade; `truncated` when the token limit cut it off."""

    text: str
    truncated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """The final status of an item, with its score in [0, 1], or None where it is missing.

    rejection: equal for two items that were rejected in the same way, empty for any other.
    """

    status: Status
    score: float | None = None
    detail: str = ""
    rejection: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """Another attempt may help; if there is none, the item is missing with `status`.

    wait: seconds the server asks for, None where it does not say.
    """

    status: Status
    wait: float | None = None
    detail: str = ""

    def give_up(self) -> Settled:
        """What the item comes to when nothing more is tried."""
        return Settled(status=self.status, detail=self.detail)


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointFault:
    """The endpoint cannot be evaluated: nothing more is bought."""

    fault: Fault
    detail: str


Reading = Gradable | Settled | Retry | EndpointFault


def read_exchange(exchange: Exchange, rules: AnswerRules, *, full_time: bool = True) -> Reading:
    """What an exchange means for its item, by the first row of the table that fits.

    Args:
        exchange: what came back for one attempt.
        rules: what the suite decides.
        full_time: the attempt had its whole time limit, so that being too slow is the
            version's doing; False where earlier attempts had used up the item's time.
    """
    match exchange:
        case Completed():
            return _read_completed(exchange, rules)
        case Refused():
            return _read_refused(exchange, rules)
        case Broken():
            return _read_broken(exchange, slow_is_wrong=rules.latency_objective and full_time)
        case _:
            assert_never(exchange)


def settle_grade(gradable: Gradable, grade: Grade) -> Settled:
    """Final status of a text that was given to its grader."""
    match grade.ungraded:
        case None:
            return Settled(status=Status.GRADED, score=grade.score)
        case Ungraded.NO_ANSWER:
            status = Status.TRUNCATED if gradable.truncated else Status.NO_ANSWER
            return Settled(status=status, score=0.0)
        case Ungraded.FAILED | Ungraded.TIME_LIMIT:
            return Settled(status=Status.GRADER, detail=f"grader: {grade.ungraded}")
        case _:
            assert_never(grade.ungraded)


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstItems:
    """Whether the endpoint rejects whatever it is asked; judged on the first three items.

    rejections: item and rejection of the items so far, as they come in.
    answers: an item was not rejected, or differently, which ends the watch.
    """

    rejections: tuple[tuple[int, str], ...] = ()
    answers: bool = False

    def absorb(self, item: int, reading: Gradable | Settled) -> "FirstItems":
        """Take note of what came of an item; one that failed in another way says nothing."""
        if self.answers or self.fault:
            return self
        match reading:
            case Settled(rejection="", status=status) if status in MISSING:
                return self
            case Settled(rejection=rejection) if rejection:
                seen = {**dict(self.rejections), item: rejection}
                if len(set(seen.values())) == 1:
                    return FirstItems(rejections=tuple(seen.items()))
        return FirstItems(answers=True)

    @property
    def fault(self) -> EndpointFault | None:
        """The fault, once the first three different items were rejected in the same way."""
        if len(self.rejections) < SAME_REJECTIONS:
            return None
        detail = f"the first {SAME_REJECTIONS} items were all rejected: {self.rejections[0][1]}"
        return EndpointFault(fault=Fault.REJECTS_EVERYTHING, detail=detail)


def _read_completed(completed: Completed, rules: AnswerRules) -> Reading:
    if completed.finish_reason in _CUT_SHORT_BY_SERVER:
        detail = f"finish_reason {completed.finish_reason}"
        return Retry(status=Status.SERVER_ERROR, detail=detail)
    if completed.refusal:
        return Settled(status=Status.REFUSAL, score=rules.refusal_score)
    if completed.finish_reason == "content_filter":
        return Settled(status=Status.CONTENT_FILTER, score=rules.refusal_score)
    return _read_text(completed, rules)


def _read_text(completed: Completed, rules: AnswerRules) -> Gradable | Settled:
    truncated = completed.finish_reason == "length"
    content, reasoning = completed.content or "", completed.reasoning or ""
    if content.strip():
        return Gradable(text=content, truncated=truncated)
    if rules.grade_reasoning and reasoning.strip():
        return Gradable(text=reasoning, truncated=truncated)
    if truncated:
        return Settled(status=Status.TRUNCATED, score=0.0)
    where = "text in a reasoning field only" if reasoning.strip() else "no text at all"
    return Settled(status=Status.EMPTY_CONTENT, detail=where)


def _read_refused(refused: Refused, rules: AnswerRules) -> Reading:
    fault = _fault_of(refused)
    if fault is not None:
        return EndpointFault(fault=fault, detail=_describe(refused))
    match refused.http_status:
        case 408:
            status = Status.TIMEOUT
        case 429:
            status = Status.RATE_LIMITED
        case http_status if http_status >= 500:  # noqa: PLR2004 - server errors by RFC 9110
            status = Status.SERVER_ERROR
        case _:
            return _settle_rejected(refused, rules)
    return Retry(status=status, wait=refused.retry_after, detail=_describe(refused))


def _fault_of(refused: Refused) -> Fault | None:
    match refused.http_status:
        case 400 | 404 | 410 | 422 if _UNKNOWN_MODEL.search(f"{refused.code} {refused.message}"):
            return Fault.UNKNOWN_MODEL
        case 429 if not _quota_exhausted(refused):
            return None
        case http_status:
            return _FAULTS.get(http_status)


def _quota_exhausted(refused: Refused) -> bool:
    label = f"{refused.code} {refused.kind}"
    return bool(_QUOTA_LABEL.search(label) or _QUOTA_WORDS.search(refused.message))


def _settle_rejected(refused: Refused, rules: AnswerRules) -> Settled:
    words = f"{refused.code} {refused.kind} {refused.message}"
    about_request = refused.http_status in _REQUEST_ITSELF
    status, score = Status.REJECTED, None
    if about_request and _CONTEXT.search(words):
        status, score = Status.CONTEXT_LENGTH, 0.0
    elif about_request and _FILTER.search(words):
        status, score = Status.CONTENT_FILTER, rules.refusal_score
    detail = _describe(refused)
    rejection = f"{status}, HTTP {refused.http_status} {refused.code} {refused.kind}".rstrip()
    return Settled(status=status, score=score, detail=detail, rejection=rejection)


def _read_broken(broken: Broken, *, slow_is_wrong: bool) -> Reading:
    match broken.cause:
        case Breakdown.TIMEOUT if slow_is_wrong:
            return Settled(status=Status.TOO_SLOW, score=0.0, detail=broken.detail)
        case Breakdown.TIMEOUT:
            status = Status.TIMEOUT
        case Breakdown.CONNECT:
            status = Status.CONNECT
        case Breakdown.MALFORMED | Breakdown.NO_CHOICES:
            status = Status.MALFORMED
        case Breakdown.IMAGE:
            return Settled(status=Status.IMAGE, detail=broken.detail)
        case _:
            assert_never(broken.cause)
    return Retry(status=status, detail=broken.detail)


def _describe(refused: Refused) -> str:
    label = refused.code or refused.kind
    parts = [f"HTTP {refused.http_status}", label, refused.message]
    return ": ".join(part for part in parts if part)
