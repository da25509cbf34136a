import pytest

from monitor.domain.errors import SuiteError
from monitor.wire.imports import records
from monitor.wire.imports.readings import Reading
from monitor.wire.suites import Source
from tests.unit.wire.imports import files

ITEM = '{"input": "?", "target": "yes"}'
UNREADABLE = [
    ("a.eval", b"PK\x03\x04", "a.eval: is a zip archive (if it is an Inspect log"),
    ("a.csv", b"input,target\n\xff,b\n", "a.csv:2: is not UTF-8"),
    ("a.csv", b'input,target\n"a"b,c\n', "a.csv:2: is not CSV"),
    ("a.csv", b"input\n" + b"a" * 140_000, "a.csv:2: is not CSV: field larger than field limit"),
    ("a.csv", b"input,Status,Status\n", "a.csv:1: the column 'Status' stands there twice"),
    ("a.csv", b",\n1,2\n", "a.csv:1: holds no header"),
    ("a.jsonl", b"", "a.jsonl: is empty"),
    ("a.json", b'[{"input": "?", "target": 1, "target": 2}]', "a.json: is not JSON: the key 'tar"),
    ("a.json", b" \n", "a.json: is empty"),
    ("a.json", b'[\n{"input": }]', "a.json:2: is not JSON: Expecting value"),
    ("a.json", b"[" * 100_000, "a.json: is not JSON"),
    ("a.yaml", b"- [", "a.yaml:1: is not YAML"),
    ("a.yaml", b"- {a: 1, a: 2}", "a.yaml:1: [0].a: stands here a second time"),
]


@pytest.mark.parametrize(("name", "content", "message"), UNREADABLE)
def test_a_file_that_cannot_be_read_has_its_place(name: str, content: bytes, message: str) -> None:
    with pytest.raises(SuiteError) as error:
        files.read(name, content)
    assert str(error.value).startswith(message)


def places(name: str, content: str) -> list[str]:
    parsed = records.parse(Source(name=name, content=content.encode()), Reading())
    return [record.place for record in parsed.records or ()]


def test_records_have_their_lines() -> None:
    assert places("a.jsonl", f"{ITEM}\n\n{ITEM}\n") == ["a.jsonl:1", "a.jsonl:3"]
    assert places("a.json", f"[\n{ITEM}, {ITEM}\n,\n{ITEM}]") == [
        "a.json:2: [0]",
        "a.json:2: [1]",
        "a.json:4: [2]",
    ]
    assert places("a.json", f'\n[{{\n"input": "?"\n}},\n{ITEM}]') == [
        "a.json:2: [0]",
        "a.json:5: [1]",
    ]
    assert places("a.yaml", f"- {ITEM}\n- {ITEM}\n") == ["a.yaml:1: [0]", "a.yaml:2: [1]"]
    assert places("a.csv", 'input,target\n"two\nlines",b\n\nc,d\n') == ["a.csv:2", "a.csv:5"]


def test_a_line_that_is_no_json_does_not_hide_the_next() -> None:
    found = files.read("a.jsonl", f"{ITEM}\n{{broken\n{ITEM}")
    assert len(found.drafts) == 2
    assert files.left_out(found) == [
        "a.jsonl:2: is not JSON: Expecting property name enclosed in double quotes"
    ]


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.txt"])
def test_lines_and_arrays_are_told_apart_by_what_they_are(name: str) -> None:
    for content in (f"{ITEM}\n{ITEM}", f"[{ITEM},\n{ITEM}]"):
        assert len(files.read(name, content).drafts) == 2


def test_characters_that_look_like_line_breaks_do_not_end_a_record() -> None:
    found = files.read("a.jsonl", '{"input": "a\u2028b", "target": "\x85"}\n{"input": 1}')
    assert [draft.place for draft in found.drafts] == []
    assert len(found.left_out) == 2


@pytest.mark.parametrize("delimiter", records.DELIMITERS)
def test_delimiters_are_found_in_the_header(delimiter: str) -> None:
    content = f"\ufeffinput{delimiter}target\n'a, b;'{delimiter}c\n"
    if delimiter in ",;":
        content = content.replace("'", '"')
    assert files.asked(files.read("a.csv", content)) == [
        (content.split("\n")[1][:-2].strip('"'), ["c"])
    ]


def test_a_row_that_is_too_long_is_left_out() -> None:
    found = files.read("a.csv", "input,target\na,b,c\nd,e\n")
    assert files.asked(found) == [("d", ["e"])]
    assert files.left_out(found) == [
        "a.csv:2: 3 cells below 2 columns (put texts that hold the delimiter in double quotes)"
    ]


def test_an_array_within_an_object_is_found() -> None:
    assert len(files.read("a.json", f'{{"version": 1, "data": [{ITEM}]}}').drafts) == 1
    with pytest.raises(SuiteError, match=r"holds no list of records, or several"):
        files.read("a.json", f'{{"train": [{ITEM}], "test": [{ITEM}]}}')
