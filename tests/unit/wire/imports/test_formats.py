import contextlib
import json

import hypothesis
import pytest
from hypothesis import strategies as st

from monitor.domain.errors import SuiteError
from monitor.wire.imports import drafting, formats, records
from monitor.wire.imports.readings import Format, Reading
from monitor.wire.suites import Source
from tests.unit.wire.imports import files

FILES = [
    ("log.json", '{"eval": {}, "samples": []}', Format.INSPECT),
    ("s.jsonl", '{"doc": {}, "arguments": [], "target": ""}', Format.LM_EVAL),
    ("c.yaml", "{prompts: [x], providers: [y], tests: []}", Format.PROMPTFOO),
    ("t.yaml", "[{vars: {q: x}}]", Format.PROMPTFOO),
    ("t.csv", "question,__expected\nx,y", Format.PROMPTFOO),
    ("o.json", '{"results": {}, "config": {}}', Format.PROMPTFOO),
    ("t.csv", "question,answer\nx,y", Format.TABLE),
    ("t.json", '{"data": [{"input": "x", "target": "y"}]}', Format.TABLE),
    ("t.jsonl", "3", Format.TABLE),
]


@pytest.mark.parametrize(("name", "content", "expected"), FILES)
def test_formats_are_found_out(name: str, content: str, expected: Format) -> None:
    parsed = records.parse(Source(name=name, content=content.encode()), Reading())
    assert formats.detect(parsed) is expected


def test_a_format_that_is_given_is_believed() -> None:
    content = files.json_lines({"vars": "a", "input": "?", "target": "b"})
    found = files.read("t.jsonl", content, file_format=Format.TABLE)
    assert files.asked(found) == [("?", ["b"])]
    with pytest.raises(SuiteError, match="no column is known to hold the input"):
        files.read("t.jsonl", files.json_lines({"vars": {"q": "?"}}), file_format=Format.INSPECT)


@pytest.mark.parametrize("file_format", Format)
@pytest.mark.parametrize(
    "content", ["", "{}", "[]", "3", "null", '"a"', "[[]]", "[{}]", '{"a": []}']
)
def test_a_file_of_nothing_is_told_whatever_its_format(content: str, file_format: Format) -> None:
    try:
        found = files.read("t.json", content, file_format=file_format)
    except SuiteError:
        return
    assert found.drafts == []


KEYS = [
    *("input", "target", "choices", "id", "metadata", "group", "sandbox", "question", "A", "B"),
    *("eval", "samples", "scorers", "dataset", "attachments", "name", "options", "label", "text"),
    *("doc", "arguments", "gen_args_0", "arg_0", "arg_1", "filter", "doc_id", "gold", "results"),
    *("tests", "vars", "assert", "type", "value", "prompts", "defaultTest", "config", "raw"),
    *("testCase", "promptIdx", "prompt", "description", "__expected", "role", "content"),
]
WORDS = ["", "yes", "1", "user", "equals", "contains-any", "{{question}}", "file://x", '[{"role"']
values = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 3) | st.floats() | st.sampled_from(WORDS),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6)
    ),
    max_leaves=20,
)


def shaped(*keys: str) -> st.SearchStrategy[dict[str, object]]:
    """Objects with some of these fields, whatever these hold."""
    return st.fixed_dictionaries({}, optional=dict.fromkeys(keys, values))


samples = shaped("id", "input", "target", "choices", "metadata", "attachments")
cases = shaped("vars", "assert", "options", "metadata", "description")
documents = st.one_of(
    st.fixed_dictionaries({"eval": values, "samples": st.lists(samples, max_size=2) | values}),
    st.lists(shaped("doc", "arguments", "target", "doc_id"), max_size=2),
    st.fixed_dictionaries(
        {"tests": st.lists(cases, max_size=2)},
        optional={"prompts": values, "defaultTest": cases | values},
    ),
    st.fixed_dictionaries({"results": values, "config": shaped("tests", "prompts") | values}),
    st.lists(shaped("testCase", "promptIdx", "prompt"), max_size=2),
    st.lists(samples, max_size=2),
    values,
)


@hypothesis.settings(max_examples=500)
@hypothesis.given(documents, st.none() | st.sampled_from(Format))
def test_whatever_a_file_holds_is_an_item_or_told(
    document: object, file_format: Format | None
) -> None:
    """Never an error of the program's own."""
    for name, content in (
        ("f.json", json.dumps(document)),
        ("f.jsonl", files.json_lines(document)),
    ):
        with contextlib.suppress(SuiteError):
            found = files.read(name, content, file_format=file_format)
            drafting.assemble(found, name="made", grader=None)
