import hashlib
from typing import Any

import pytest

from monitor.domain.identifiers import ItemId
from monitor.domain.suites import (
    Generation,
    GraderSpec,
    ImagePart,
    Item,
    Message,
    Prompt,
    TextPart,
    item_digest,
    suite_digest,
)

EXACT = GraderSpec(kind="exact")
ITEM: dict[str, Any] = {"input": "What?", "target": ["a"], "choices": ["a", "b"], "grader": EXACT}


def turn(*parts: TextPart | ImagePart) -> tuple[Message, ...]:
    return (Message(role="user", content=parts),)


@pytest.mark.parametrize(
    "changed",
    [
        {"input": "Which?"},
        {"input": (Message(role="user", content="What?"),)},
        {"input": (Message(role="system", content="What?"),)},
        {"input": turn(TextPart(text="What?"))},
        {"input": turn(ImagePart(url="What?"))},
        {"target": ["a", "b"], "choices": []},
        {"target": ["b"]},
        {"choices": ["b", "a"]},
        {"grader": None},
        {"grader": GraderSpec(kind="exact", options={"answer": "stated"})},
    ],
)
def test_an_items_digest_sees_what_is_asked_and_what_is_right(changed: dict[str, Any]) -> None:
    assert item_digest(**ITEM | changed) != item_digest(**ITEM)


def test_an_items_digest_does_not_depend_on_containers() -> None:
    others = {"target": ("a",), "choices": ("a", "b"), "grader": GraderSpec(kind="exact")}
    assert item_digest(**ITEM | others) == item_digest(**ITEM)
    expected = hashlib.sha256(b'["item","What?",["a"],[],null]').hexdigest()
    assert item_digest(input="What?", target=["a"]) == expected


def item(name: str, asked: str = "What?") -> Item:
    digest = item_digest(input=asked, target=["a"])
    return Item(id=ItemId(name), input=asked, target=("a",), digest=digest)


SUITE: dict[str, Any] = {
    "items": [item("1"), item("2")],
    "prompt": Prompt(),
    "generation": Generation(),
    "grader": EXACT,
}


@pytest.mark.parametrize(
    "changed",
    [
        {"items": [item("2"), item("1")]},
        {"items": [item("1"), item("3")]},
        {"items": [item("1"), item("2", "Which?")]},
        {"prompt": Prompt(system="Be brief.")},
        {"generation": Generation(max_tokens=513)},
        {"generation": Generation(stop=("\n",))},
        {"grader": GraderSpec(kind="normalised")},
    ],
)
def test_a_suites_digest_sees_pool_prompt_generation_and_grader(changed: dict[str, Any]) -> None:
    assert suite_digest(**SUITE | changed) != suite_digest(**SUITE)
    assert suite_digest(**SUITE) == suite_digest(**SUITE | {"items": tuple(SUITE["items"])})
