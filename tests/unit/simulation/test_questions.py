import hashlib
import json
from typing import Any

import pytest

from monitor.domain import errors
from monitor.domain.identifiers import Digest
from monitor.domain.suites import ImageFile, ImagePart, Message, Suite, TextPart
from monitor.simulation.questions import Question, Reader
from monitor.simulation.replies import Reply
from tests.unit.simulation import pools
from tests.unit.wire import pictures

PICTURE = pictures.data_url(pictures.png(1))
SEEN = Message(role="user", content=(TextPart(text="What is this?"), ImagePart(url=PICTURE)))
FILE = ImageFile(
    name="p.png",
    folder="/suite",
    digest=Digest(hashlib.sha256(pictures.png(2)).hexdigest()),
    size=1,
)
TURNS = (
    Message(role="user", content="Hello"),
    Message(role="assistant", content="Hi"),
    Message(role="user", content="And now?"),
)


def pool() -> Suite:
    return pools.suite(
        pools.item("plain", "What is 1 + 1?"),
        pools.item("seen", (SEEN,)),
        pools.item("turns", TURNS),
        pools.item("file", (Message(role="user", content=(FILE,)),)),
        system="Be brief.",
    )


def message(role: str, content: object) -> dict[str, object]:
    return {"role": role, "content": content}


SYSTEM = message("system", "Be brief.")
ASKED = message("user", "What is 1 + 1?")


def read(*messages: object, **fields: object) -> Question | Reply:
    body = {"model": "m", "messages": list(messages), **fields}
    return Reader(pool(), ["m", "n"]).read(json.dumps(body).encode())


def refused(reply: Question | Reply) -> tuple[int, Any, str]:
    assert isinstance(reply, Reply)
    error = json.loads(reply.body)["error"]
    return reply.status, error["code"], error["message"]


def test_a_question_is_recognised() -> None:
    question = read(SYSTEM, ASKED, temperature=0)
    # 9 and 14 characters make 3 and 4 tokens, and each message 4 more.
    assert question == Question(model="m", index=0, prompt_tokens=15)


def test_parts_and_turns_are_recognised() -> None:
    parts = [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": PICTURE, "detail": "auto"}},
    ]
    seen = read(SYSTEM, message("user", parts))
    turns = read(SYSTEM, *(message(turn.role, turn.content) for turn in TURNS))
    assert isinstance(seen, Question)
    assert isinstance(turns, Question)
    assert (seen.index, turns.index) == (1, 2)


def test_a_text_may_come_as_a_part() -> None:
    parts = [{"type": "text", "text": "What is 1 + 1?"}]
    assert read(SYSTEM, message("user", parts)) == read(SYSTEM, ASKED)


def image(content: bytes) -> dict[str, object]:
    part = {"type": "image_url", "image_url": {"url": pictures.data_url(content)}}
    return message("user", [part])


def test_a_picture_is_recognised_by_its_bytes() -> None:
    seen = read(SYSTEM, image(pictures.png(2)))
    assert isinstance(seen, Question)
    assert seen.index == 3
    assert refused(read(SYSTEM, image(pictures.png(3))))[1] == "unknown_question"


@pytest.mark.parametrize(
    "messages", [[ASKED], [SYSTEM, ASKED, ASKED], [SYSTEM, message("user", "What is 2 + 2?")], []]
)
def test_other_words_match_no_item(messages: list[object]) -> None:
    status, code, text = refused(read(*messages))
    assert (status, code) == (400, "unknown_question")
    assert "match no item" in text


@pytest.mark.parametrize(
    "messages",
    [
        None,
        "Hello",
        [1],
        [{"role": "user"}],
        [{"content": "x"}],
        [message("user", None)],
        [message("user", ["x"])],
        [message("user", [{"type": "text", "text": 1}])],
        [message("user", [{"type": "image_url", "image_url": "x"}])],
        [message("user", [{"type": "image_url", "image_url": {"url": "data:image/png,x"}}])],
        [message("user", [{"type": ["text"]}])],
        [{"role": 1, "content": "x"}],
        [message("user", "\ud800")],
    ],
)
def test_what_is_no_conversation_is_refused(messages: object) -> None:
    status, _, text = refused(read(messages=messages))
    assert status == 400
    assert "Invalid messages" in text


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff", b"[" * 100_000, b'{"model": 1}'])
def test_what_is_no_request_is_refused(body: bytes) -> None:
    assert refused(Reader(pool(), ["m"]).read(body))[0] == 400


def test_streams_are_refused() -> None:
    status, _, text = refused(read(SYSTEM, ASKED, stream=True))
    assert (status, text) == (400, "The simulated endpoint does not stream.")


def test_an_unknown_model_is_not_found() -> None:
    status, code, text = refused(read(SYSTEM, ASKED, model="x"))
    assert (status, code) == (404, "model_not_found")
    assert text == "The model `x` does not exist or you do not have access to it."


def test_items_in_the_same_words_cannot_be_told_apart() -> None:
    twice = pools.suite(pools.item("a", "Why?"), pools.item("b", "Why?", target=["no"]))
    with pytest.raises(errors.SuiteError, match="item b: is asked in the same words as item a"):
        Reader(twice, ["m"])
