"""Chat completions as JSON: strict in what is sent, forgiving in what servers send back."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from email.utils import parsedate_to_datetime
from math import isfinite
from statistics import fmean
from typing import Any, assert_never

from monitor.domain.answers import (
    Breakdown,
    Broken,
    ChatRequest,
    Completed,
    Exchange,
    Refused,
)
from monitor.domain.suites import ImageFile, ImagePart, Message, Part, TextPart

LONGEST_MESSAGE = 300
LOWEST_LOGPROB = -1e6  # servers write -9999 and the like for minus infinity
MOST_TOKENS = 2**31  # of one answer; sums of these still fit into the integers of every reader


def encode_request(request: ChatRequest, *, limit_field: str = "max_tokens") -> dict[str, Any]:
    """Body of a request; settings that are left to the endpoint are left out.

    A picture that is still in its file stands there by its digest, which is enough to tell requests
    apart: what is to be sent must have its bytes in it.

    Args:
        request: what is asked.
        limit_field: name of the token limit, `max_completion_tokens` for servers that insist.
    """
    generation = request.generation
    settings = {
        "temperature": generation.temperature,
        "top_p": generation.top_p,
        limit_field: generation.max_tokens,
        "seed": generation.seed,
        "stop": list(generation.stop) or None,
        "logprobs": request.logprobs or None,
    }
    return {
        "model": request.model,
        "messages": [_encode_message(message) for message in request.messages],
        **{name: value for name, value in settings.items() if value is not None},
    }


def decode_completion(body: bytes) -> Exchange:
    """Read the body of a successful response; whatever is wrong with it is a value.

    An error that came with HTTP 200 is refused by its own code where it has one.
    """
    document = _parse(body)
    if not isinstance(document, dict):
        return _broken(Breakdown.MALFORMED, f"not a JSON object: {plain_text(body)}")
    choices = document.get("choices")
    if not isinstance(choices, list) or not choices:
        return _decode_disguised_error(document)
    choice = choices[0]
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict):
        return _broken(Breakdown.MALFORMED, "the first choice has no message")
    content = _text(message.get("content"))
    if content is None and message.get("content") is not None:
        return _broken(Breakdown.MALFORMED, "the message's content is neither text nor parts")
    return Completed(
        content=content,
        finish_reason=_text(choice.get("finish_reason")),
        refusal=_text(message.get("refusal")),
        reasoning=_text(message.get("reasoning_content")) or _text(message.get("reasoning")),
        prompt_tokens=_tokens(document, "prompt_tokens"),
        completion_tokens=_tokens(document, "completion_tokens"),
        served_model=_text(document.get("model")) or None,
        fingerprint=_text(document.get("system_fingerprint")) or None,
        mean_logprob=_mean_logprob(choice.get("logprobs")),
    )


def decode_error(http_status: int, headers: Mapping[str, str], body: bytes) -> Refused:
    """Read a response that is not a success.

    Args:
        http_status: 300 or more.
        headers: of the response, with names in lower case.
        body: as it came: any JSON, HTML or plain text.
    """
    refused = _refused(http_status, _parse(body))
    message = refused.message or plain_text(body)
    if 300 <= http_status < 400:  # noqa: PLR2004 - redirects by RFC 9110
        message = "redirected; redirects are not followed: give the final address as base URL"
    return replace(refused, message=message, retry_after=_retry_after(headers))


def decode_models(body: bytes) -> tuple[str, ...] | Broken:
    """Read the names in a list of models."""
    document = _parse(body)
    models = document.get("data") if isinstance(document, dict) else None
    if not isinstance(models, list):
        return _broken(Breakdown.MALFORMED, f"not a list of models: {plain_text(body)}")
    names = (_text(model.get("id")) for model in models if isinstance(model, dict))
    return tuple(name for name in names if name)


def plain_text(body: bytes) -> str:
    """The beginning of a body on one line, for a person to read."""
    return _shorten(body[: 4 * LONGEST_MESSAGE].decode(errors="replace"))


def _encode_message(message: Message) -> dict[str, Any]:
    content = message.content
    if not isinstance(content, str):
        return {"role": message.role, "content": [_encode_part(part) for part in content]}
    return {"role": message.role, "content": content}


def _encode_part(part: Part) -> dict[str, Any]:
    match part:
        case TextPart():
            return {"type": "text", "text": part.text}
        case ImagePart(detail=detail):
            url = part.url
        case ImageFile(detail=detail):
            url = f"sha256:{part.digest}"
        case _:
            assert_never(part)
    return {"type": "image_url", "image_url": {"url": url} | ({"detail": detail} if detail else {})}


def _parse(body: bytes) -> object:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _text(value: object) -> str | None:
    """Text, or the text parts of a list of parts; lone surrogates do not survive."""
    if isinstance(value, list) and all(isinstance(part, dict) for part in value):
        value = "".join(part["text"] for part in value if isinstance(part.get("text"), str))
    return value.encode(errors="replace").decode() if isinstance(value, str) else None


def _tokens(document: dict[str, Any], field: str) -> int | None:
    usage = document.get("usage")
    count = usage.get(field) if isinstance(usage, dict) else None
    return count if type(count) is int and 0 <= count <= MOST_TOKENS else None


def _mean_logprob(logprobs: object) -> float | None:
    """Mean over the answer's tokens; a list with anything odd in it says nothing at all."""
    tokens = logprobs.get("content") if isinstance(logprobs, dict) else None
    if not isinstance(tokens, list) or not tokens:
        return None
    values = [token.get("logprob") if isinstance(token, dict) else None for token in tokens]
    numbers = [
        value for value in values if isinstance(value, int | float) and LOWEST_LOGPROB <= value <= 0
    ]
    return fmean(numbers) if len(numbers) == len(values) else None


def _decode_disguised_error(document: dict[str, Any]) -> Refused | Broken:
    error = document.get("error")
    code = str(error.get("code")) if isinstance(error, dict) else ""
    refused = _refused(int(code) if re.fullmatch("[45][0-9]{2}", code) else 0, document)
    if refused.http_status:
        return refused
    return _broken(Breakdown.NO_CHOICES, refused.message or "the response has no choices")


def _refused(http_status: int, document: object) -> Refused:
    """Code, type and message, from the shapes in which servers put them."""
    if isinstance(document, list) and document:
        document = document[0]
    fields = document if isinstance(document, dict) else {"message": document}
    error = fields.get("error") or fields.get("detail")
    if isinstance(error, dict):
        fields = error
    elif isinstance(error, list):
        fields = {"message": "; ".join(_finding(finding) for finding in error)}
    elif error:
        fields = {"message": error, "type": fields.get("error_type")}
    return Refused(
        http_status=http_status,
        code=_label(fields.get("code")),
        kind=_label(fields.get("type")),
        message=_shorten(_text(fields.get("message")) or ""),
    )


def _finding(finding: object) -> str:
    """One finding of a validating server, without the input that it repeats."""
    if not isinstance(finding, dict):
        return str(finding)
    place = finding.get("loc")
    path = ".".join(str(step) for step in place) if isinstance(place, list) else ""
    return f"{path}: {finding.get('msg')}" if path else str(finding.get("msg"))


def _label(value: object) -> str:
    """A code or type in words; codes that only repeat the HTTP status say nothing."""
    return _shorten(value) if isinstance(value, str) and not value.isdecimal() else ""


def _shorten(text: str) -> str:
    return " ".join(text.encode(errors="replace").decode().split())[:LONGEST_MESSAGE]


def _broken(cause: Breakdown, detail: str) -> Broken:
    return Broken(cause=cause, detail=_shorten(detail))


def _retry_after(headers: Mapping[str, str]) -> float | None:
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    for name in ("retry-after", "llm_provider-retry-after"):
        value = headers.get(name, "")
        seconds = _number(value)
        if seconds is None:
            seconds = _seconds_between(headers.get("date", ""), value)
        if seconds is not None:
            return seconds
    return None


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if isfinite(number) and number >= 0 else None


def _seconds_between(date: str, later: str) -> float | None:
    """From the server's own `Date` to the moment it names, so that our clock plays no part."""
    try:
        wait = parsedate_to_datetime(later) - parsedate_to_datetime(date)
    except (TypeError, ValueError, OverflowError):
        return None
    return max(0.0, wait.total_seconds())
