import json

import pytest
from hypothesis import given, strategies as st

from monitor.domain.answers import Grade, Ungraded
from monitor.domain.identifiers import Digest, ItemId
from monitor.domain.suites import GraderSpec, ImagePart, Item, Message, TextPart
from monitor.grading import external, graders

ITEM = Item(
    id=ItemId("1"), input="Sort it.", target=("[1, 2]",), metadata={"n": 2}, digest=Digest("d")
)
FAILED = Grade(ungraded=Ungraded.FAILED)


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        (b'{"score": 1}', 1.0),
        (b'{"score": 0.25, "log": "x"}\n', 0.25),
        (b'{"score": 0, "error": null}', 0.0),
    ],
)
def test_a_score_is_read(reply: bytes, score: float) -> None:
    assert external.grade(reply) == Grade(score=score)


@pytest.mark.parametrize(
    "reply",
    [
        b"",
        b"1",
        b"[1]",
        b"{}",
        b"\xff",
        b'{"score": null}',
        b'{"score": true}',
        b'{"score": "1"}',
        b'{"score": 1.5}',
        b'{"score": -1}',
        b'{"score": NaN}',
        b'{"score": 1e999}',
        b'{"score": 1} {"score": 0}',
        b'{"error": "no compiler"}',
        b'{"score": 1, "error": "no compiler"}',
        b'{"score": 1, "log": "' + b"x" * external.LONGEST_REPLY + b'"}',
        b"[" * 100_000,
    ],
    ids=lambda reply: reply[:20],
)
def test_whatever_is_no_score_is_a_failure_of_the_grader(reply: bytes) -> None:
    assert external.grade(reply) == FAILED


@given(st.binary())
def test_any_reply_is_a_grade(reply: bytes) -> None:
    grade = external.grade(reply)
    assert grade == FAILED or grade.score is not None


def test_a_program_is_told_item_and_answer() -> None:
    told = json.loads(external.question(ITEM, "def f(): ..."))
    assert told["answer"] == "def f(): ..."
    assert told["item"] == {
        "id": "1",
        "input": "Sort it.",
        "target": ["[1, 2]"],
        "choices": [],
        "metadata": {"n": 2},
    }


def test_a_program_is_told_the_words_of_a_chat() -> None:
    parts = (TextPart(text="What"), ImagePart(url="https://example.org/a.png"), TextPart(text="?"))
    chat = Item(
        id=ItemId("1"),
        input=(Message(role="user", content=parts),),
        target=("x",),
        digest=Digest("d"),
    )
    told = json.loads(external.question(chat, "x"))
    assert told["item"]["input"] == [{"role": "user", "content": "What\n?"}]


@pytest.mark.parametrize("kind", ["command", "http"])
def test_a_program_must_be_named(kind: str) -> None:
    assert graders.problems(GraderSpec(kind=kind, options={"name": "tests"}), ITEM) == []
    for options in ({}, {"name": ""}):
        (problem,) = graders.problems(GraderSpec(kind=kind, options=options), ITEM)
        assert problem.where == "grader.name"
