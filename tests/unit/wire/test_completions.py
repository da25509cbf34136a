import json
from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st

from monitor.domain.answers import Breakdown, Broken, ChatRequest, Completed, Refused
from monitor.domain.identifiers import Digest
from monitor.domain.suites import Generation, ImageFile, ImagePart, Message, TextPart
from monitor.wire import completions
from monitor.wire.completions import decode_completion, decode_error, decode_models, encode_request

QUESTION = Message(role="user", content="2 + 2?")


def completion(message: object, **choice: object) -> bytes:
    return json.dumps({"choices": [{"index": 0, "message": message, **choice}]}).encode()


def test_a_request_says_what_is_set() -> None:
    generation = Generation(temperature=0.0, top_p=0.9, max_tokens=8, seed=0, stop=("\n",))
    request = ChatRequest(model="tiny", messages=(QUESTION,), generation=generation)
    assert encode_request(request) == {
        "model": "tiny",
        "messages": [{"role": "user", "content": "2 + 2?"}],
        "temperature": 0.0,
        "top_p": 0.9,
        "max_tokens": 8,
        "seed": 0,
        "stop": ["\n"],
    }


def test_a_request_may_ask_for_log_probabilities() -> None:
    request = ChatRequest(model="m", messages=(), generation=Generation(), logprobs=True)
    assert encode_request(request)["logprobs"] is True


def test_a_request_leaves_out_what_is_left_to_the_endpoint() -> None:
    generation = Generation(temperature=None)
    request = ChatRequest(model="tiny", messages=(), generation=generation)
    body = encode_request(request, limit_field="max_completion_tokens")
    assert body == {"model": "tiny", "messages": [], "max_completion_tokens": 512}


def test_parts_are_encoded_each() -> None:
    parts = (
        TextPart(text="What is this?"),
        ImagePart(url="https://example.com/cat.png"),
        ImagePart(url="https://example.com/dog.png", detail="high"),
        ImageFile(name="p.png", folder="/suite", digest=Digest("d"), size=1),
    )
    request = ChatRequest(
        model="m", messages=(Message(role="user", content=parts),), generation=Generation()
    )
    assert encode_request(request)["messages"][0]["content"] == [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": "https://example.com/cat.png"}},
        {
            "type": "image_url",
            "image_url": {"url": "https://example.com/dog.png", "detail": "high"},
        },
        {"type": "image_url", "image_url": {"url": "sha256:d"}},
    ]


def test_a_completion_is_read() -> None:
    body = (
        b'{"id":"1","choices":[{"finish_reason":"length","index":0,"logprobs":null,'
        b'"message":{"content":"may>M@>M@q","role":"assistant"}}],"object":"chat.completion",'
        b'"usage":{"completion_tokens":8,"prompt_tokens":11,"total_tokens":19}}'
    )
    assert decode_completion(body) == Completed(
        content="may>M@>M@q", finish_reason="length", prompt_tokens=11, completion_tokens=8
    )


def test_a_completion_says_what_was_run() -> None:
    body = (
        b'{"model":"tiny-2026","system_fingerprint":"fp_1","choices":[{"finish_reason":"stop",'
        b'"message":{"content":"B"},"logprobs":{"content":[{"token":"B","logprob":-0.5},'
        b'{"token":".","logprob":-1.5}]}}]}'
    )
    assert decode_completion(body) == Completed(
        content="B",
        finish_reason="stop",
        served_model="tiny-2026",
        fingerprint="fp_1",
        mean_logprob=-1.0,
    )


LOGPROBS = [
    [],
    {},
    {"content": None},
    {"content": []},
    {"content": [None]},
    {"content": [{}]},
    {"content": [{"logprob": "-1"}]},
    {"content": [{"logprob": 0.5}]},
    {"content": [{"logprob": -(10**400)}, {"logprob": -1.0}]},
    {"content": [{"logprob": -1.0}, {"logprob": None}]},
]


@pytest.mark.parametrize("logprobs", LOGPROBS)
def test_odd_log_probabilities_are_unknown(logprobs: object) -> None:
    exchange = decode_completion(completion({"content": "B"}, logprobs=logprobs))
    assert exchange == Completed(content="B", finish_reason=None)


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_is_kept_apart(field: str) -> None:
    body = completion({"content": None, field: "Let me see."}, finish_reason="stop")
    assert decode_completion(body) == Completed(
        content=None, finish_reason="stop", reasoning="Let me see."
    )


CONTENTS = [
    ({}, None),
    ({"content": ""}, ""),
    ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "ab"),
    ({"content": [{"type": "thinking", "thinking": []}, {"type": "text", "text": "b"}]}, "b"),
    ({"content": "lone \ud800 surrogate"}, "lone ? surrogate"),
]


@pytest.mark.parametrize(("message", "content"), CONTENTS)
def test_contents(message: dict[str, Any], content: str | None) -> None:
    assert decode_completion(completion(message)) == Completed(content=content, finish_reason=None)


@pytest.mark.parametrize("count", [-1, 1.5, True, "8", None, [1], 2**31 + 1, 10**400])
def test_a_token_count_that_is_none_is_unknown(count: object) -> None:
    body = {"choices": [{"message": {}}], "usage": {"prompt_tokens": count}}
    read = decode_completion(json.dumps(body).encode())
    assert isinstance(read, Completed)
    assert read.prompt_tokens is None


MALFORMED = [
    b"",
    b"<html>Bad Gateway</html>",
    b'{"choices": [{"message": {"content": "B',
    b"\xff\xfe\x00",
    b"null",
    b'"text"',
    b"[]",
    b"[" * 100_000,
    b'{"choices": [7]}',
    b'{"choices": [{}]}',
    b'{"choices": [{"message": "B"}]}',
    b'{"choices": [{"message": {"content": 7}}]}',
    b'{"choices": [{"message": {"content": ["B"]}}]}',
]


@pytest.mark.parametrize("body", MALFORMED, ids=range(len(MALFORMED)))
def test_a_body_of_another_shape_is_malformed(body: bytes) -> None:
    read = decode_completion(body)
    assert isinstance(read, Broken)
    assert read.cause == Breakdown.MALFORMED
    assert read.detail
    assert len(read.detail) <= completions.LONGEST_MESSAGE


@pytest.mark.parametrize("body", [b"{}", b'{"choices": []}', b'{"choices": null}'])
def test_no_choices(body: bytes) -> None:
    expected = Broken(cause=Breakdown.NO_CHOICES, detail="the response has no choices")
    assert decode_completion(body) == expected


def test_an_error_with_a_status_of_its_own_is_refused() -> None:
    body = b'{"error": {"message": "Provider returned error", "code": 502}}'
    assert decode_completion(body) == Refused(http_status=502, message="Provider returned error")


def test_an_error_without_one_leaves_no_choices() -> None:
    body = b'{"error": {"message": "Overloaded", "code": "busy"}}'
    assert decode_completion(body) == Broken(cause=Breakdown.NO_CHOICES, detail="Overloaded")


ERRORS = [
    (
        b'{"error":{"message":"m","type":"t","param":null,"code":"c"}}',
        Refused(http_status=400, code="c", kind="t", message="m"),
    ),
    (
        b'{"error":{"message":"m","type":"throttling_error","code":"429"}}',
        Refused(http_status=400, kind="throttling_error", message="m"),
    ),
    (
        b'{"object":"error","message":"m","type":"BadRequestError","param":null,"code":400}',
        Refused(http_status=400, kind="BadRequestError", message="m"),
    ),
    (
        b'{"error":"`inputs` must have less","error_type":"validation"}',
        Refused(http_status=400, kind="validation", message="`inputs` must have less"),
    ),
    (b'[{"error":{"code":400,"message":"m"}}]', Refused(http_status=400, message="m")),
    (b'{"detail":"Invalid API key"}', Refused(http_status=400, message="Invalid API key")),
    (
        b'{"detail":[{"loc":["body","n"],"msg":"too big","input":"private"},{"msg":"bad"},"x"]}',
        Refused(http_status=400, message="body.n: too big; bad; x"),
    ),
    (b'{"detail":{"code":"c","message":"m"}}', Refused(http_status=400, code="c", message="m")),
    (b'{"message":"m"}', Refused(http_status=400, message="m")),
    (b'"words"', Refused(http_status=400, message="words")),
    (b"Internal  Server\nError", Refused(http_status=400, message="Internal Server Error")),
    (b"", Refused(http_status=400)),
    (b"[]", Refused(http_status=400, message="[]")),
    (b'{"error":null}', Refused(http_status=400, message='{"error":null}')),
]


@pytest.mark.parametrize(("body", "refused"), ERRORS)
def test_errors_are_read_in_every_shape(body: bytes, refused: Refused) -> None:
    assert decode_error(400, {}, body) == refused


def test_a_long_message_is_cut() -> None:
    assert len(decode_error(500, {}, b"x" * 10_000).message) == completions.LONGEST_MESSAGE


@pytest.mark.parametrize("http_status", [301, 307, 308])
def test_a_redirect_says_what_to_do(http_status: int) -> None:
    refused = decode_error(http_status, {"location": "https://evil.test"}, b"Moved")
    assert refused.http_status == http_status
    assert "base URL" in refused.message


DATE = "Sun, 29 Nov 2026 12:00:00 GMT"
WAITS = [
    ({}, None),
    ({"retry-after": "2"}, 2.0),
    ({"retry-after": "0.5"}, 0.5),
    ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
    ({"llm_provider-retry-after": "60"}, 60.0),
    ({"retry-after": "soon", "llm_provider-retry-after": "60"}, 60.0),
    ({"retry-after": "Sun, 29 Nov 2026 12:01:30 GMT", "date": DATE}, 90.0),
    ({"retry-after": "Sun, 29 Nov 2026 11:00:00 GMT", "date": DATE}, 0.0),
    ({"retry-after": "Sun, 29 Nov 2026 12:01:30 GMT"}, None),
    ({"retry-after": "Sun, 29 Nov 2026 12:01:30", "date": DATE}, None),
    ({"retry-after": "Sun, 29 Nov 99999 12:01:30 GMT", "date": DATE}, None),
    ({"retry-after": "Sun, 29 Nov 2026 12:01:30 -99999999999999", "date": DATE}, None),
    ({"retry-after": "nan"}, None),
    ({"retry-after": "inf"}, None),
    ({"retry-after": "-1"}, None),
]


@pytest.mark.parametrize(("headers", "wait"), WAITS)
def test_how_long_to_wait(headers: dict[str, str], wait: float | None) -> None:
    assert decode_error(429, headers, b"").retry_after == wait


def test_models_are_named() -> None:
    body = b'{"object":"list","data":[{"id":"a"},{"id":7},"b",{"id":"c"}]}'
    assert decode_models(body) == ("a", "c")
    assert decode_models(b'{"data":[]}') == ()


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"data":{}}', b"<html>"])
def test_what_is_no_list_of_models_is_malformed(body: bytes) -> None:
    read = decode_models(body)
    assert isinstance(read, Broken)
    assert read.cause == Breakdown.MALFORMED


KEYS = st.sampled_from(["choices", "message", "content", "error", "detail", "code", "usage", "loc"])
documents = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
)


@hypothesis.given(documents)
def test_no_document_is_too_odd(document: object) -> None:
    body = json.dumps(document).encode()
    assert isinstance(decode_completion(body), Completed | Refused | Broken)
    assert isinstance(decode_error(500, {}, body), Refused)
    assert isinstance(decode_models(body), tuple | Broken)


@hypothesis.given(st.binary())
def test_nor_any_bytes(body: bytes) -> None:
    assert isinstance(decode_completion(body), Refused | Broken)
    assert isinstance(decode_error(500, {}, body), Refused)
