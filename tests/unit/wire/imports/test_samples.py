import math
from collections.abc import Mapping
from typing import Any

import pytest

from monitor.wire.imports.readings import Reading
from tests.unit.wire.imports import files

CHOICES = ["red", "green", "blue"]


def of(sample: Mapping[str, Any]) -> Reading:
    """What becomes of a sample in the first line of a file."""
    return files.read("s.jsonl", files.json_lines({"input": "?", "target": "yes", **sample}))


def test_fields_are_kept() -> None:
    sample = {
        "id": 7,
        "input": "Which is a colour of the sky?",
        "choices": CHOICES,
        "target": "C",
        "metadata": {"topic": "sky", "level": 2},
    }
    (found,) = files.documents(of(sample))
    assert found == sample | {"id": "7", "target": ["C"], "group": "sky"}


UNUSABLE = [
    ({"target": ""}, "target: is empty"),
    ({"target": None}, "target: is empty"),
    ({"target": []}, "target: is empty"),
    ({"target": math.nan}, "target: is empty"),
    ({"input": math.nan}, "input: is empty"),
    ({"choices": "{'text': ['red', 'green']}"}, "choices: is no list"),
    ({"input": " "}, "input: is empty"),
    ({"input": []}, "input: is empty"),
    ({"input": [{"role": "tool", "content": "3"}]}, "input[0]: is no message of system, user"),
    ({"input": [{"role": "user", "content": [{"type": "audio"}]}]}, "input[0]: holds parts that"),
    (
        {"input": [{"role": "assistant", "content": "", "tool_calls": [{"id": "1"}]}]},
        "input[0]: calls a tool",
    ),
    (
        {"input": [{"role": "user", "content": [{"type": "image", "image": "p.png"}]}]},
        "input[0]: holds parts that are neither text nor the URL of an image",
    ),
    ({"sandbox": "docker"}, "sandbox: asks for an environment"),
    ({"files": {"a.txt": "text"}}, "files: asks for an environment"),
    ({"choices": CHOICES, "target": ["A", "C"]}, "target: wants several choices"),
    ({"choices": ["1", "2"], "target": 1}, "target: may be a choice or a place"),
    ({"choices": ["B", "A"], "target": "A"}, "target: may be the letter of a choice, or the"),
    ({"choices": CHOICES, "target": 3}, "target: is no place among 3 choices"),
    ({"choices": ["red", None]}, "choices: has an entry that is empty"),
    ({"choices": "[red"}, "choices: is no list"),
    ({"choices": 3}, "choices: must be a list"),
    ({"choices": [str(n) for n in range(27)]}, "choices: has more entries than there are letters"),
]


@pytest.mark.parametrize(("sample", "message"), UNUSABLE)
def test_what_cannot_be_asked_or_graded_is_left_out_and_told(
    sample: Mapping[str, Any], message: str
) -> None:
    found = of(sample)
    assert found.drafts == []
    assert files.left_out(found)[0].startswith(f"s.jsonl:1: {message}")


TARGETS = [
    ("12", ["12"]),
    (12, ["12"]),
    (1.50, ["1.5"]),
    (True, ["true"]),
    (["Sucre", "La Paz"], ["Sucre", "La Paz"]),
    ({"a": 1}, ['{"a": 1}']),
]


@pytest.mark.parametrize(("target", "expected"), TARGETS)
def test_targets_are_texts(target: object, expected: list[str]) -> None:
    assert files.asked(of({"target": target})) == [("?", expected)]


@pytest.mark.parametrize(
    "choices",
    [
        CHOICES,
        "red, green,blue",
        "red|green|blue",
        "red green blue",
        str(CHOICES).replace("'", '"'),
    ],
)
def test_choices_are_lists_or_written_as_one(choices: object) -> None:
    (found,) = files.documents(of({"choices": choices, "target": "B"}))
    assert found["choices"] == CHOICES


def test_a_number_beside_choices_is_a_place_from_0() -> None:
    (found,) = files.documents(of({"choices": CHOICES, "target": 1}))
    assert found["target"] == ["B"]


def test_chats_are_kept_without_what_is_not_sent() -> None:
    parts = [{"type": "text", "text": "What is it?"}, {"type": "image", "image": "https://h/p.png"}]
    openai = [parts[0], {"type": "image_url", "image_url": {"url": "https://h/p.png"}}]
    for content in (parts, openai):
        turns = [
            {"role": "system", "content": "Be brief.", "id": "x", "source": "input"},
            {"role": "user", "content": content},
        ]
        (found,) = files.documents(of({"input": turns}))
        assert found["input"] == [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": parts},
        ]


def test_metadata_that_json_has_no_word_for_is_told() -> None:
    content = '{"input": "?", "target": "yes", "metadata": {"score": NaN, "level": 1}}'
    found = files.read("s.jsonl", content)
    assert files.documents(found)[0]["metadata"] == {"level": 1}
    assert files.changed(found)[0].startswith("s.jsonl:1: metadata.score: holds what JSON")


def test_metadata_may_be_json_in_a_cell() -> None:
    content = 'input,target,metadata\n?,yes,"{""level"": 3}"\n?!,yes,level 3\n'
    first, second = files.documents(files.read("s.csv", content))
    assert (first["metadata"], second["metadata"]) == ({"level": 3}, {"metadata": "level 3"})


def test_a_record_without_an_id_gets_one_by_its_place() -> None:
    content = "input,target\na,b\n,b\nc,d\n"
    found = files.read("capitals.csv", content)
    assert [each["id"] for each in files.documents(found)] == ["capitals-1", "capitals-3"]
