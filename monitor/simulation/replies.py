"""What goes over the wire: chat completions, error bodies, and bodies that break the rules."""

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Any

from monitor.simulation.knobs import Fault
from monitor.simulation.texts import NO_ANSWER

CREATED = 1_735_689_600
CHARACTERS_PER_TOKEN = 4
REFUSAL = "I'm sorry, but I can't help with that."
CUT_OFF = "Let me think about this step by step. First of all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A response with a JSON body, more or less.

    completes: it is a well-formed chat completion. cut: to be broken off in the middle.
    """

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    completes: bool = False
    cut: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Saying:
    """An answer to be sent."""

    id: str
    model: str
    text: str
    prompt_tokens: int


def tokens(text: str) -> int:
    """About as many tokens as a usual tokenizer makes of a text."""
    return ceil(len(text) / CHARACTERS_PER_TOKEN)


def error(
    status: int, message: str, *, kind: str = "invalid_request_error", code: str | None = None
) -> Reply:
    """An error in the words of the OpenAI API."""
    body = {"error": {"message": message, "type": kind, "param": None, "code": code}}
    return Reply(status=status, body=json.dumps(body).encode())


def rate_limited(retry_after: float | None) -> Reply:
    """An error 429 that passes.

    Args:
        retry_after: seconds to wait, sent as whole ones and as milliseconds; None: not said.
    """
    message = "Rate limit reached. Please try again later."
    refused = error(429, message, kind="requests", code="rate_limit_exceeded")
    if retry_after is None:
        return refused
    seconds, milliseconds = str(ceil(retry_after)), str(ceil(retry_after * 1000))
    headers = {"retry-after": seconds, "retry-after-ms": milliseconds}
    return dataclasses.replace(refused, headers=headers)


def not_recorded(model: str) -> Reply:
    """An error 500 for a cell of the outcome matrix that holds nothing."""
    message = f"The simulated model {model!r} has no recorded outcome for this question."
    return error(500, message, kind="server_error", code="not_recorded")


def completion(saying: Saying) -> Reply:
    """The answer as it should be."""
    return _completion(saying, {"content": saying.text})


def faulty(saying: Saying, fault: Fault, *, retry_after: float | None) -> Reply:
    """What a fault makes of the answer."""
    if fault is Fault.RATE_LIMIT:
        return rate_limited(retry_after)
    return FAULTY[fault](saying)


def _malformed(saying: Saying) -> Reply:
    whole = completion(saying).body
    return Reply(status=200, body=whole[: len(whole) // 2])


FAULTY: Mapping[Fault, Callable[[Saying], Reply]] = {
    Fault.QUOTA: lambda _: error(
        429,
        "You exceeded your current quota, please check your plan and billing details.",
        kind="insufficient_quota",
        code="insufficient_quota",
    ),
    Fault.SERVER_ERROR: lambda _: error(
        500, "The server had an error while processing your request.", kind="server_error"
    ),
    Fault.CONTEXT_LENGTH: lambda _: error(
        400,
        "This model's maximum context length is 16 tokens. Please reduce the length.",
        code="context_length_exceeded",
    ),
    Fault.CONTENT_FILTER: lambda _: error(
        400, "The response was filtered by the content policy.", code="content_filter"
    ),
    Fault.HANG: lambda _: error(504, "The model did not answer in time.", kind="server_error"),
    Fault.DISCONNECT: lambda saying: Reply(status=200, body=completion(saying).body, cut=True),
    Fault.MALFORMED: _malformed,
    Fault.NO_CHOICES: lambda saying: Reply(status=200, body=_body(saying, choices=[])),
    Fault.EMPTY_CONTENT: lambda saying: _completion(saying, {"content": ""}),
    Fault.REASONING_ONLY: lambda saying: _completion(
        saying, {"content": None, "reasoning_content": saying.text}
    ),
    Fault.TRUNCATED: lambda saying: _completion(
        saying, {"content": CUT_OFF}, finish_reason="length"
    ),
    Fault.REFUSAL: lambda saying: _completion(saying, {"content": None, "refusal": REFUSAL}),
    Fault.NO_ANSWER: lambda saying: _completion(saying, {"content": NO_ANSWER}),
}


def _completion(
    saying: Saying, message: Mapping[str, str | None], *, finish_reason: str = "stop"
) -> Reply:
    said = {"role": "assistant", **message}
    choice = {"index": 0, "message": said, "finish_reason": finish_reason}
    return Reply(status=200, body=_body(saying, choices=[choice]), completes=True)


def _body(saying: Saying, *, choices: Sequence[Mapping[str, Any]]) -> bytes:
    answer = tokens(saying.text)
    document = {
        "id": saying.id,
        "object": "chat.completion",
        "created": CREATED,
        "model": saying.model,
        "choices": choices,
        "usage": {
            "prompt_tokens": saying.prompt_tokens,
            "completion_tokens": answer,
            "total_tokens": saying.prompt_tokens + answer,
        },
    }
    return json.dumps(document).encode()
