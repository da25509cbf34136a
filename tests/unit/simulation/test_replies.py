import json
from typing import Any

import pytest

from monitor.simulation import replies, texts
from monitor.simulation.knobs import Fault

SAYING = replies.Saying(id="chatcmpl-1", model="m", text="The answer is 42.", prompt_tokens=9)


def faulty(fault: Fault) -> replies.Reply:
    return replies.faulty(SAYING, fault, retry_after=0.25)


def choice(reply: replies.Reply) -> Any:  # noqa: ANN401 - JSON
    return json.loads(reply.body)["choices"][0]


def test_a_completion_has_the_form_of_the_api() -> None:
    assert json.loads(replies.completion(SAYING).body) == {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": replies.CREATED,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "The answer is 42."},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14},
    }


@pytest.mark.parametrize(
    ("fault", "status", "kind", "code"),
    [
        (Fault.RATE_LIMIT, 429, "requests", "rate_limit_exceeded"),
        (Fault.QUOTA, 429, "insufficient_quota", "insufficient_quota"),
        (Fault.SERVER_ERROR, 500, "server_error", None),
        (Fault.CONTEXT_LENGTH, 400, "invalid_request_error", "context_length_exceeded"),
        (Fault.CONTENT_FILTER, 400, "invalid_request_error", "content_filter"),
        (Fault.HANG, 504, "server_error", None),
    ],
)
def test_errors(fault: Fault, status: int, kind: str, code: str | None) -> None:
    reply = faulty(fault)
    body = json.loads(reply.body)["error"]
    assert (reply.status, body["type"], body["code"]) == (status, kind, code)
    assert not reply.completes


@pytest.mark.parametrize(
    ("fault", "message", "finish_reason"),
    [
        (Fault.EMPTY_CONTENT, {"content": ""}, "stop"),
        (Fault.REASONING_ONLY, {"content": None, "reasoning_content": SAYING.text}, "stop"),
        (Fault.TRUNCATED, {"content": replies.CUT_OFF}, "length"),
        (Fault.REFUSAL, {"content": None, "refusal": replies.REFUSAL}, "stop"),
        (Fault.NO_ANSWER, {"content": texts.NO_ANSWER}, "stop"),
    ],
)
def test_odd_completions(fault: Fault, message: dict[str, str | None], finish_reason: str) -> None:
    reply = faulty(fault)
    assert (reply.status, reply.completes) == (200, True)
    assert choice(reply)["message"] == {"role": "assistant", **message}
    assert choice(reply)["finish_reason"] == finish_reason


def test_what_breaks_the_rules_completes_nothing() -> None:
    malformed, cut, none = map(faulty, (Fault.MALFORMED, Fault.DISCONNECT, Fault.NO_CHOICES))
    with pytest.raises(json.JSONDecodeError):
        json.loads(malformed.body)
    assert cut.cut
    assert json.loads(none.body)["choices"] == []
    assert [reply.completes for reply in (malformed, cut, none)] == [False] * 3


def test_every_fault_has_a_reply() -> None:
    assert {fault for fault in Fault if faulty(fault) != replies.completion(SAYING)} == set(Fault)


def test_seconds_to_wait_go_out_whole_and_exact() -> None:
    assert faulty(Fault.RATE_LIMIT).headers == {"retry-after": "1", "retry-after-ms": "250"}
    assert replies.rate_limited(None).headers == {}
