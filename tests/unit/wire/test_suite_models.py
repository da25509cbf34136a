from typing import Any

import pytest
from pydantic import ValidationError

from monitor.domain.suites import Generation, GraderSpec, ImagePart, Message, TextPart, item_digest
from monitor.wire.suite_models import ChatItemModel, GenerationModel, SuiteModel, TextItemModel

ITEM: dict[str, Any] = {"id": "a", "input": "?", "target": "x"}
MANIFEST: dict[str, Any] = {"name": "s", "grader": {"kind": "exact"}}
PICTURE = {"type": "image", "image": "https://host/p.png"}


def test_defaults_are_those_of_the_domain() -> None:
    assert GenerationModel().generation() == Generation()
    item = TextItemModel.model_validate(ITEM).item(metadata_is_asked=False)
    assert (item.choices, item.group, item.metadata, item.grader) == ((), None, {}, None)


def test_one_stands_for_a_list_of_one() -> None:
    assert TextItemModel.model_validate(ITEM).target == ["x"]
    assert GenerationModel(stop="END").stop == ["END"]  # type: ignore[arg-type]


def test_number_is_an_id() -> None:
    assert TextItemModel.model_validate({**ITEM, "id": 7}).id == "7"


def test_further_keys_of_a_grader_are_its_options() -> None:
    model = SuiteModel.model_validate({**MANIFEST, "grader": {"kind": "k", "a": [1, None]}})
    assert model.grader.spec() == GraderSpec(kind="k", options={"a": [1, None]})


def test_the_name_of_a_grader_alone_is_explained() -> None:
    with pytest.raises(ValidationError, match=r"write grader: \{kind: numeric\}"):
        SuiteModel.model_validate({**MANIFEST, "grader": "numeric"})


@pytest.mark.parametrize(
    ("content", "meant"),
    [
        ("hello", "hello"),
        ([{"type": "text", "text": "hello"}], "hello"),
        (
            [{"type": "text", "text": ""}, PICTURE],
            (TextPart(text=""), ImagePart(url="https://host/p.png")),
        ),
        ([PICTURE], (ImagePart(url="https://host/p.png"),)),
    ],
)
def test_content_of_messages(
    content: object, meant: str | tuple[TextPart | ImagePart, ...]
) -> None:
    chat = {**ITEM, "input": [{"role": "user", "content": content}]}
    item = ChatItemModel.model_validate(chat).item(metadata_is_asked=False)
    assert item.input == (Message(role="user", content=meant),)


def test_digest_is_that_of_the_domain() -> None:
    grader = {"kind": "regex", "pattern": "a"}
    model = TextItemModel.model_validate({**ITEM, "choices": ["x", "y"], "grader": grader})
    spec = GraderSpec(kind="regex", options={"pattern": "a"})
    expected = item_digest(input="?", target=("x",), choices=("x", "y"), grader=spec)
    assert model.item(metadata_is_asked=False).digest == expected


def test_metadata_that_is_asked_is_digested() -> None:
    models = [TextItemModel.model_validate({**ITEM, "metadata": {"n": n}}) for n in (1, 2)]
    assert len({model.item(metadata_is_asked=False).digest for model in models}) == 1
    assert len({model.item(metadata_is_asked=True).digest for model in models}) == 2


@pytest.mark.parametrize(
    "fields",
    [
        {"id": ""},
        {"id": True},
        {"id": "\ud800"},
        {"input": " "},
        {"input": "\ud800"},
        {"target": []},
        {"target": [" "]},
        {"target": 4},
        {"choices": ["x"]},
        {"group": ""},
        {"metadata": {"n": float("inf")}},
        {"metadata": {"\ud800": 1}},
        {"grader": {}},
        {"grader": {"kind": "exact", "n": float("nan")}},
        {"targets": "x"},
    ],
)
def test_refused_in_items(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        TextItemModel.model_validate({**ITEM, **fields})


@pytest.mark.parametrize(
    "content",
    [
        [],
        [{"type": "text"}],
        [{"type": "image", "text": "x"}],
        [{"type": "image", "image": "http://host/p.png"}],
        [{"type": "image", "image": "p.png"}],
        [{**PICTURE, "text": "x"}],
        [{"type": "audio", "text": "x"}],
        None,
    ],
)
def test_refused_in_messages(content: object) -> None:
    with pytest.raises(ValidationError):
        ChatItemModel.model_validate({**ITEM, "input": [{"role": "user", "content": content}]})


@pytest.mark.parametrize(
    "fields",
    [
        {"name": "with blank"},
        {"items": "../items.jsonl"},
        {"items": "/etc/passwd"},
        {"items": ".."},
        {"items": "a\0b"},
        {"items": "\ud800"},
        {"prompt": {"user": None}},
        {"generation": {"temperature": -0.1}},
        {"generation": {"temperature": float("nan")}},
        {"generation": {"top_p": 0}},
        {"generation": {"top_p": 1.1}},
        {"generation": {"max_tokens": 0}},
        {"generation": {"stop": [""]}},
        {"generation": {"seed": 1.5}},
        {"description": "\ud800"},
    ],
)
def test_refused_in_suites(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        SuiteModel.model_validate({**MANIFEST, **fields})
