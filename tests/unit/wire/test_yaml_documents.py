from typing import Annotated, Literal

import pytest
import yaml
from hypothesis import given, strategies as st
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from monitor.wire import yaml_documents
from monitor.wire.yaml_documents import Location

TEXT = b"""\
# a comment
top:
  list:
    - 1
    - {inner: x,
       other: y}
merged: {<<: &anchor {a: 1}}
"""


@pytest.mark.parametrize(
    ("location", "where"),
    [
        ((), "f:1"),
        (("top",), "f:2: top"),
        (("top", "list", 1), "f:5: top.list[1]"),
        (("top", "list", 1, "other"), "f:6: top.list[1].other"),
        (("top", "absent", "deeper"), "f:2: top.absent.deeper"),
        (("absent",), "f:1: absent"),
        (("merged", "a"), "f:7: merged.a"),
    ],
)
def test_where_names_line_and_field(location: Location, where: str) -> None:
    document, problems = yaml_documents.parse(TEXT, name="f")
    assert problems == []
    assert document.where(location) == where


def test_content_is_plain_data() -> None:
    document, _ = yaml_documents.parse(TEXT, name="f")
    assert document.content == {
        "top": {"list": [1, {"inner": "x", "other": "y"}]},
        "merged": {"a": 1},
    }


@pytest.mark.parametrize("text", [b"", b"# nothing\n", b"\xef\xbb\xbf"])
def test_empty_file_is_no_problem(text: bytes) -> None:
    document, problems = yaml_documents.parse(text, name="f")
    assert (document.content, problems) == (None, [])


UNREADABLE = [
    (b"a: 1\nb: \xff\n", "f:2: is not UTF-8 (save the file in UTF-8)"),
    (b"a: 1\n b: 2\n", "f:2: is not YAML: mapping values are not allowed here"),
    (b"a: [1\n", "f:2: is not YAML: expected ',' or ']', but got '<stream end>'"),
    (b"a: 1\n---\nb: 2\n", "f:2: is not YAML: but found another document"),
    (b"a: !!python/object:os.system {}\n", "f:1: is not YAML: could not determine a constructor"),
    (b"a: \x00\n", "f:1: is not YAML: ReaderError"),
    (b"a: 2026-02-30\n", "f:1: is not YAML: ValueError"),
    (b"a: &a [*a]\n", "f:1: is nested too deeply"),
]


BOMB = b"a: &a [" + b"x, " * 9 + b"]\n"
BOMB += b"".join(
    b"%c: &%c [" % (name, name) + b"*%c, " % (name - 1) * 9 + b"]\n" for name in b"bcdefghij"
)
UNREADABLE += [
    (BOMB, "f:1: is not YAML: more than 100000 values, aliases counted as"),
    (b"a: &a {b: 1}\n? [*a]\n: 2\n", "f:2: is not YAML: a key must be text"),
]


@pytest.mark.parametrize(("text", "problem"), UNREADABLE)
def test_unreadable_file_is_a_problem(text: bytes, problem: str) -> None:
    document, (found,) = yaml_documents.parse(text, name="f")
    assert str(found).startswith(problem)
    assert document.content is None


def test_key_that_stands_twice_is_a_problem() -> None:
    _, problems = yaml_documents.parse(b"a:\n  b: 1\n  c: 2\n  b: 3\n", name="f")
    assert [str(problem) for problem in problems] == [
        "f:4: a.b: stands here a second time (keep one of the two)"
    ]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Round(Strict):
    kind: Literal["round"]
    radius: float


class Square(Strict):
    kind: Literal["square"]
    side: float


class Drawing(Strict):
    title: str = ""
    shapes: dict[str, tuple[Annotated[Round | Square, Field(discriminator="kind")], ...]] = {}
    frame: Square | None = None


EXPLAINED = [
    (b"tilte: x", "f:1: tilte: unknown key (did you mean title?)"),
    (b"colour: x", "f:1: colour: unknown key (known: frame, shapes, title)"),
    (b"title: 1", "f:1: title: must be text (put it in quotes)"),
    (b"title: {}\n", "f:1: title: must be text (put it in quotes)"),
    (b"shapes: 1", "f:1: shapes: must hold named fields (write `name: value` lines below it)"),
    (b"shapes: {a: 1}", "f:1: shapes.a: must be a list (write `- ...` lines below it)"),
    (b"shapes:\n a:\n - {kind: round}", "f:3: shapes.a[0].radius: is missing (add it)"),
    (
        b"shapes:\n a:\n - {kind: round,\n    raduis: 1, radius: 1}",
        "f:4: shapes.a[0].raduis: unknown key (did you mean radius?)",
    ),
    (b"shapes: {a: [{}]}", "f:1: shapes.a[0]: has no kind (add it)"),
    (
        b"shapes: {a: [{kind: s3cret}]}",
        "f:1: shapes.a[0]: kind must be one of 'round', 'square'",
    ),
    (
        b"frame: {kind: square, side: 1, sied: 1}",
        "f:1: frame.sied: unknown key (did you mean side?)",
    ),
    (b"frame: {kind: square, side: s3cret}", "f:1: frame.side: must be a number"),
]


@pytest.mark.parametrize(("text", "explained"), EXPLAINED)
def test_findings_are_explained(text: bytes, explained: str) -> None:
    document, _ = yaml_documents.parse(text, name="f")
    with pytest.raises(ValidationError) as caught:
        Drawing.model_validate(document.content)
    problems = yaml_documents.explain(
        caught.value, Drawing, content=document.content, where=document.where
    )
    assert [str(problem) for problem in problems] == [explained]


def test_hint_without_any_known_name() -> None:
    assert yaml_documents.hint("a", []) == "known: none"


CORE = [
    ("no", "no"),
    ("Yes", "Yes"),
    ("12:30", "12:30"),
    ("012", "012"),
    ("2026-01-02", "2026-01-02"),
    ("true", True),
    ("12", 12),
    ("0x1F", 31),
    ("-1.5e3", -1500.0),
    ("2e-3", 0.002),
    (".5", 0.5),
    ("~", None),
    ("", None),
]


@pytest.mark.parametrize(("word", "value"), CORE)
def test_words_can_be_read_as_yaml_1_2_does(word: str, value: object) -> None:
    loader = yaml_documents.CoreLoader
    document, _ = yaml_documents.parse(f"a: {word}".encode(), name="f", loader=loader)
    assert document.content == {"a": value}


def test_merges_are_merged_in_either_version() -> None:
    content = b"a: &a {b: 1}\nc: {<<: *a, d: 2}"
    for loader in (yaml_documents.CoreLoader, yaml.SafeLoader):
        document, _ = yaml_documents.parse(content, name="f", loader=loader)
        assert document.content["c"] == {"b": 1, "d": 2}


@given(st.text(st.characters(codec="utf-8", exclude_categories=["C"]) | st.just("\n")))
def test_what_is_written_for_people_is_read_back(text: str) -> None:
    document, _ = yaml_documents.parse(yaml_documents.dump({"a": text}).encode(), name="f")
    assert document.content == {"a": text}


def test_several_lines_are_written_line_by_line() -> None:
    assert yaml_documents.dump({"a": "b\n\nc"}) == "a: |-\n  b\n\n  c\n"
