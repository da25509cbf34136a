from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from monitor.domain.identifiers import Digest
from monitor.domain.suites import (
    Content,
    Example,
    Generation,
    GraderSpec,
    ImageFile,
    ImagePart,
    Item,
    Message,
    Prompt,
    TextPart,
    item_digest,
)
from monitor.wire.suite_models import (
    ChatItemModel,
    GenerationModel,
    PromptModel,
    SuiteModel,
    TextItemModel,
)
from tests.unit.wire import pictures

ITEM: dict[str, Any] = {"id": "a", "input": "?", "target": "x"}
MANIFEST: dict[str, Any] = {"name": "s", "grader": {"kind": "exact"}}
PICTURE = {"type": "image", "image": "https://host/p.png"}
IN_FILE = {"type": "image", "image": "pictures/p.png", "detail": "low"}
DATA_URL = pictures.data_url(pictures.png())


def found(name: str, *, size: int = 1) -> ImageFile:
    return ImageFile(name=name, folder="/suite", digest=Digest("d"), size=size)


def text_item(**fields: object) -> Item:
    return TextItemModel.model_validate({**ITEM, **fields}).item()


def chat(*parts: object) -> dict[str, Any]:
    return {**ITEM, "input": [{"role": "user", "content": list(parts)}]}


def test_defaults_are_those_of_the_domain() -> None:
    assert GenerationModel().generation() == Generation()
    assert PromptModel().prompt() == Prompt()
    item = text_item()
    assert (item.choices, item.group, item.metadata, item.grader) == ((), None, {}, None)
    assert (item.generation, item.prompt, item.order) == ({}, {}, ())


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
        ([{**PICTURE, "image": DATA_URL}], (ImagePart(url=DATA_URL),)),
        ([IN_FILE], (replace(found("pictures/p.png"), detail="low"),)),
    ],
)
def test_content_of_messages(content: object, meant: Content) -> None:
    asked = {**ITEM, "input": [{"role": "user", "content": content}]}
    item = ChatItemModel.model_validate(asked, context=found).item()
    assert item.input == (Message(role="user", content=meant),)


def test_pictures_are_not_looked_for_without_a_folder() -> None:
    (message,) = ChatItemModel.model_validate(chat(IN_FILE)).asked()
    unknown = ImageFile(name="pictures/p.png", folder="", digest=Digest(""), size=0, detail="low")
    assert message.content == (unknown,)


def test_why_a_picture_cannot_be_used_is_told() -> None:
    def refuse(name: str) -> ImageFile:
        raise ValueError(f"no {name}")

    with pytest.raises(ValidationError, match=r"no pictures/p\.png") as raised:
        ChatItemModel.model_validate(chat("?", IN_FILE), context=refuse)
    assert raised.value.errors()[-1]["loc"] == ("input", 0, "content", 1, "image")


def test_examples() -> None:
    written = [{"user": "1 + 1?", "assistant": "2"}, {"user": [PICTURE], "assistant": "a cat"}]
    assert PromptModel.model_validate({"examples": written}).prompt().examples == (
        Example(user="1 + 1?", assistant="2"),
        Example(user=(ImagePart(url="https://host/p.png"),), assistant="a cat"),
    )


def test_an_item_has_what_is_written_in_it() -> None:
    own = {"generation": {"max_tokens": 9, "stop": "."}, "prompt": {"system": None}}
    item = text_item(**own)
    assert (item.generation, item.prompt) == (
        {"max_tokens": 9, "stop": (".",)},
        {"system": None},
    )
    assert len({text_item().digest, item.digest, text_item(generation={}).digest}) == 2


def test_digest_is_that_of_the_domain() -> None:
    grader = {"kind": "regex", "pattern": "a"}
    model = TextItemModel.model_validate({**ITEM, "choices": ["x", "y"], "grader": grader})
    spec = GraderSpec(kind="regex", options={"pattern": "a"})
    expected = item_digest(input="?", target=("x",), choices=("x", "y"), grader=spec)
    assert model.item().digest == expected


def test_metadata_that_is_asked_is_digested() -> None:
    models = [TextItemModel.model_validate({**ITEM, "metadata": {"n": n}}) for n in (1, 2)]
    assert len({model.item().digest for model in models}) == 1
    assert len({model.item(reads_metadata=lambda _: True).digest for model in models}) == 2


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
        {"generation": {"max_tokens": 0}},
        {"generation": {"max_token": 1}},
        {"prompt": "?"},
        {"shuffle": "no"},
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
        [{"type": "image", "image": "../p.png"}],
        [{"type": "image", "image": "/p.png"}],
        [{"type": "image", "image": "data:image/png;base64,AAAA"}],
        [{"type": "image", "image": 1}],
        [{"type": "image", "image": None}],
        [{**PICTURE, "detail": "great"}],
        [{"type": "text", "text": "x", "detail": "low"}],
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
        {"prompt": "{{ input }}"},
        {"prompt": {"examples": [{"user": "?"}]}},
        {"prompt": {"examples": [{"user": "?", "assistant": " "}]}},
        {"choices": True},
        {"choices": {"shuffle": 1}},
        {"choices": {"seed": "a"}},
    ],
)
def test_refused_in_suites(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        SuiteModel.model_validate({**MANIFEST, **fields})
