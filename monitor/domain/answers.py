"""What came back for a question, and what it is worth.

Failing to get an answer is a value here, never an exception: it must be counted.
"""

from dataclasses import dataclass
from enum import StrEnum

from monitor.domain.suites import Generation, Message


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """One question to an endpoint; `logprobs` asks for each token's log-probability too."""

    model: str
    messages: tuple[Message, ...]
    generation: Generation
    logprobs: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """A well-formed chat completion with at least one choice.

    served_model, fingerprint: what the server says it ran, None where it does not say.
    mean_logprob: mean log-probability of the answer's tokens in nats, None where it did not come.
    """

    content: str | None
    finish_reason: str | None
    refusal: str | None = None
    reasoning: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    served_model: str | None = None
    fingerprint: str | None = None
    mean_logprob: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """An HTTP status of 400 or more.

    code, kind: the body's error code and type, empty where there is none.
    retry_after: seconds the server asks to wait, None where it does not say.
    """

    http_status: int
    code: str = ""
    kind: str = ""
    message: str = ""
    retry_after: float | None = None


class Breakdown(StrEnum):
    """Ways in which no usable response came; at `image` nothing was sent."""

    CONNECT = "connect"
    TIMEOUT = "timeout"
    MALFORMED = "malformed"
    NO_CHOICES = "no_choices"
    IMAGE = "image"


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """No usable response: the connection, its time limit, or the body failed."""

    cause: Breakdown
    detail: str = ""


Exchange = Completed | Refused | Broken


class Status(StrEnum):
    """Status of a drawn item's answer; a closed list, also a metric label."""

    GRADED = "graded"
    REFUSAL = "refusal"
    CONTENT_FILTER = "content_filter"
    CONTEXT_LENGTH = "context_length"
    TRUNCATED = "truncated"
    NO_ANSWER = "no_answer"
    TOO_SLOW = "too_slow"
    CONNECT = "connect"
    RATE_LIMITED = "rate_limited"
    SERVER_ERROR = "server_error"
    MALFORMED = "malformed"
    REJECTED = "rejected"
    TIMEOUT = "timeout"
    EMPTY_CONTENT = "empty_content"
    IMAGE = "image"
    GRADER = "grader"


WRONG = frozenset(
    {
        Status.REFUSAL,
        Status.CONTENT_FILTER,
        Status.CONTEXT_LENGTH,
        Status.TRUNCATED,
        Status.NO_ANSWER,
        Status.TOO_SLOW,
    }
)
MISSING = frozenset(Status) - WRONG - {Status.GRADED}
# Something came that reads as no answer at all: so may any answer, once its form has changed.
UNREADABLE = frozenset({Status.EMPTY_CONTENT, Status.NO_ANSWER, Status.TRUNCATED})
# Something came, and its grader gave it no score.
UNGRADED = UNREADABLE | {Status.CONTENT_FILTER, Status.GRADER, Status.REFUSAL}
CAME = UNGRADED | {Status.GRADED}


class Fault(StrEnum):
    """Why an endpoint cannot be evaluated at all."""

    UNAUTHORIZED = "unauthorized"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not_found"
    UNKNOWN_MODEL = "unknown_model"
    QUOTA_EXHAUSTED = "quota_exhausted"
    REJECTS_EVERYTHING = "rejects_everything"
    UNREACHABLE = "unreachable"


class Ungraded(StrEnum):
    """Why a text got no score."""

    NO_ANSWER = "no_answer"
    FAILED = "failed"
    TIME_LIMIT = "time_limit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Grade:
    """Score in [0, 1] of one text, or the reason why there is none."""

    score: float | None = None
    ungraded: Ungraded | None = None
    extracted: str | None = None

    def __post_init__(self) -> None:
        """Exactly one of score and reason, and a score inside [0, 1]."""
        if (self.score is None) == (self.ungraded is None):
            raise ValueError("a grade has either a score or a reason for having none")
        if self.score is not None and not 0.0 <= self.score <= 1.0:
            raise ValueError(f"score {self.score} is outside [0, 1]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What asking for one answer took: attempts sent and tokens reported."""

    attempts: int = 1
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        """Sum of two usages."""
        return Usage(
            attempts=self.attempts + other.attempts,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What one judge was asked about an answer.

    calls: questions that it was asked, or had answered before; unusable: its replies that decide
    nothing. flipped: its verdict turned with the order of the two answers; None where it gave none.
    usage: what was newly bought.
    """

    judge: str
    calls: int
    unusable: int
    flipped: bool | None
    usage: Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer of one draw.

    step: position of the draw in the evaluation, from 0.
    score: in [0, 1]; None exactly where the status is a missing one.
    usage: nothing where an earlier draw had asked for the item already.
    judged: by each judge that was asked about it.
    """

    step: int
    status: Status
    score: float | None
    usage: Usage = Usage()
    judged: tuple[Judged, ...] = ()

    def __post_init__(self) -> None:
        """A missing answer has no score, any other has one."""
        if (self.score is None) != (self.status in MISSING):
            raise ValueError(f"status {self.status} does not go with score {self.score}")
