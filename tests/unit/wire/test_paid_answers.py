from dataclasses import replace

import pytest

from monitor.domain.answers import ChatRequest, Completed
from monitor.domain.errors import StateCorrupt, StateTooNew
from monitor.domain.identifiers import Digest
from monitor.domain.suites import Generation, Message
from monitor.wire import paid_answers

KEY = Digest("k" * 64)
BASE_URL = "http://tiny/v1"
REQUEST = ChatRequest(
    model="tiny", messages=(Message(role="user", content="2 + 2?"),), generation=Generation()
)
BARE = Completed(content=None, finish_reason=None)
FULL = Completed(
    content="vier é \u2028",
    finish_reason="stop",
    refusal="no",
    reasoning="hm",
    prompt_tokens=7,
    completion_tokens=1,
    served_model="tiny-2",
    fingerprint="fp",
    mean_logprob=-0.1 - 0.2,
)


@pytest.mark.parametrize("completed", [BARE, FULL])
def test_an_answer_is_read_back_as_it_was(completed: Completed) -> None:
    assert paid_answers.decode(paid_answers.encode(completed), key=KEY) == completed


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (b"", StateCorrupt),
        (b'{"kind":"paid_answer","version":1}', StateCorrupt),
        (b'{"version":2}', StateTooNew),
    ],
)
def test_what_cannot_be_read_names_its_key(value: bytes, error: type[Exception]) -> None:
    with pytest.raises(error, match=f"paid answer {KEY}"):
        paid_answers.decode(value, key=KEY)


def test_what_is_damaged_can_be_bought_anew() -> None:
    with pytest.raises(
        StateCorrupt, match=r"delete it from paid_answers\.sqlite3, and it is bought"
    ):
        paid_answers.decode(b"{}", key=KEY)


def test_the_same_question_has_one_key() -> None:
    key = paid_answers.key(BASE_URL, REQUEST, sample=0)
    assert paid_answers.key(f"{BASE_URL}/", replace(REQUEST), sample=0) == key


@pytest.mark.parametrize(
    ("base_url", "request_", "sample"),
    [
        ("http://other/v1", REQUEST, 0),
        (BASE_URL, replace(REQUEST, model="small"), 0),
        (BASE_URL, replace(REQUEST, messages=()), 0),
        (BASE_URL, replace(REQUEST, generation=Generation(temperature=1.0)), 0),
        (BASE_URL, replace(REQUEST, logprobs=True), 0),
        (BASE_URL, REQUEST, 1),
    ],
)
def test_another_question_has_another_key(
    base_url: str, request_: ChatRequest, sample: int
) -> None:
    usual = paid_answers.key(BASE_URL, REQUEST, sample=0)
    assert paid_answers.key(base_url, request_, sample=sample) != usual


def test_a_revision_sets_answers_apart() -> None:
    keys = [paid_answers.key(BASE_URL, REQUEST, sample=0, revision=word) for word in ("", "a", "b")]
    assert len(set(keys)) == 3
    assert keys[0] == paid_answers.key(BASE_URL, REQUEST, sample=0)


def test_keys_stay_what_they_are() -> None:
    """A key that changes with the program would have everything paid for anew."""
    assert paid_answers.key(BASE_URL, REQUEST, sample=3)[:16] == "1a4d4b21b1bf2d90"
