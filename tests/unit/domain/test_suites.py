import hashlib
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from monitor.domain.identifiers import Digest, ItemId, SuiteName
from monitor.domain.suites import (
    Example,
    Generation,
    GraderSpec,
    ImageFile,
    ImagePart,
    Item,
    Message,
    Part,
    Prompt,
    Suite,
    TextPart,
    item_digest,
    shuffled,
    suite_digest,
)

EXACT = GraderSpec(kind="exact")
ITEM: dict[str, Any] = {"input": "What?", "target": ["a"], "choices": ["a", "b"], "grader": EXACT}


def turn(*parts: Part) -> tuple[Message, ...]:
    return (Message(role="user", content=parts),)


def picture(digest: str, name: str = "a", folder: str = "/here") -> ImageFile:
    return ImageFile(name=name, folder=folder, digest=Digest(digest), size=1)


@pytest.mark.parametrize(
    "changed",
    [
        {"input": "Which?"},
        {"input": (Message(role="user", content="What?"),)},
        {"input": (Message(role="system", content="What?"),)},
        {"input": turn(TextPart(text="What?"))},
        {"input": turn(ImagePart(url="What?"))},
        {"input": turn(ImagePart(url="What?", detail="low"))},
        {"input": turn(picture("d"))},
        {"input": turn(picture("e"))},
        {"generation": {"max_tokens": 1}},
        {"prompt": {"user": "1"}},
        {"prompt": {"system": None}},
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


@pytest.mark.parametrize("part", [ImagePart(url="https://host/p.png"), picture("d")])
def test_an_items_digest_sees_how_closely_a_picture_is_looked_at(part: ImagePart) -> None:
    closely = replace(part, detail="high")
    assert item_digest(input=turn(closely), target="a") != item_digest(input=turn(part), target="a")


def test_an_items_digest_does_not_depend_on_where_a_picture_lies() -> None:
    here, there = picture("d"), picture("d", name="b", folder="/there")
    assert item_digest(input=turn(here), target="a") == item_digest(input=turn(there), target="a")
    assert picture("d", folder="/there") == here


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
        {"prompt": Prompt(examples=(Example(user="1 + 1?", assistant="2"),))},
        {"items": [replace(item("1"), order=(1, 0)), item("2")]},
        {"items": [item("1"), replace(item("2"), order=(1, 0))]},
        {"generation": Generation(max_tokens=513)},
        {"generation": Generation(stop=("\n",))},
        {"grader": GraderSpec(kind="normalised")},
    ],
)
def test_a_suites_digest_sees_pool_prompt_generation_and_grader(changed: dict[str, Any]) -> None:
    assert suite_digest(**SUITE | changed) != suite_digest(**SUITE)
    assert suite_digest(**SUITE) == suite_digest(**SUITE | {"items": tuple(SUITE["items"])})


@pytest.mark.parametrize(("shared", "counts"), [(None, False), ("Be brief.", True)])
def test_whose_system_message_counts_is_in_the_digest(shared: str | None, *, counts: bool) -> None:
    plain, system = item("1"), Message(role="system", content="Be long.")
    digests = {
        suite_digest(**SUITE | {"items": [each], "prompt": Prompt(system=shared)})
        for each in (plain, replace(plain, input=(system,)))
    }
    assert len(digests) == 1 + counts


def test_an_item_replaces_what_it_has_of_its_own() -> None:
    own = replace(item("1"), generation={"max_tokens": 9}, prompt={"system": None})
    prompt, generation = Prompt(user="?", system="Be brief."), Generation(seed=1)
    suite = Suite(
        name=SuiteName("s"),
        items=(own,),
        prompt=prompt,
        generation=generation,
        grader=EXACT,
        digest=Digest("d"),
    )
    assert suite.generation_of(own) == Generation(seed=1, max_tokens=9)
    assert suite.prompt_of(own) == Prompt(user="?")
    assert suite.generation_of(item("2")) is not None
    assert (suite.generation_of(item("2")), suite.prompt_of(item("2"))) == (generation, prompt)


def test_shuffling_follows_from_seed_and_item() -> None:
    assert shuffled(4, seed=0, item=Digest("a")) == shuffled(4, seed=0, item=Digest("a"))
    first = Counter(shuffled(4, seed=1, item=Digest(str(number)))[0] for number in range(4000))
    # Each position with probability 1/4: 5 standard deviations of 27 are allowed for.
    assert all(abs(count - 1000) < 137 for count in first.values())


def test_choices_are_shown_in_order() -> None:
    plain = replace(item("1"), choices=("x", "y", "z"))
    assert plain.shown_choices == ("x", "y", "z")
    assert replace(plain, order=(2, 0, 1)).shown_choices == ("z", "x", "y")
