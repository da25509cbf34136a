import json

import pytest
from hypothesis import given, strategies as st

from monitor.grading import json_search
from tests.unit.grading.examples import JSON

DEEP = '{"a":' * json_search.DEEPEST + "1" + "}" * json_search.DEEPEST

FOUND = [
    ('{"a": 1}', '{"a": 1}'),
    ('Sure: {"a": 1}. Anything else?', '{"a": 1}'),
    ('```json\n{"a": 1}\n```', '{"a": 1}'),
    ('```\n{"a": 1}\n```', '{"a": 1}'),
    ('```json\n{"a": 1}', '{"a": 1}'),
    ('```json\n{"a": 1}\n```\nor {"a": 2}', '{"a": 1}'),
    ('```json\n{"a": 1}\n```\nNo:\n```json\n{"a": 2}\n```', '{"a": 2}'),
    ('{"a": 1} {"a": 2}', '{"a": 2}'),
    ('{"a": {"b": [1]}}', '{"a": {"b": [1]}}'),
    ('{"a": "}"}', '{"a": "}"}'),
    ('{"a": "\\"}"}', '{"a": "\\"}"}'),
    ('\\boxed{{"a": 1}}', '{"a": 1}'),
    ('ANSWER: {"a": 1}', '{"a": 1}'),
    ('in {x} and {"a": 1}', '{"a": 1}'),
    ("{}", "{}"),
    ("{ \n}", "{ \n}"),
    ('{"a": 1} // the first', '{"a": 1}'),
    ('{"a": 1}\n{"b": ', '{"a": 1}'),
    ('{"a": 1, "a": 2}', '{"a": 1, "a": 2}'),
    (DEEP, DEEP),
]
NOT_FOUND = [
    "",
    "I cannot help with that.",
    "[1]",
    "{",
    "{'a': 1}",
    "{a: 1}",
    '{"a": 1,}',
    '{"a": {"b": 1},}',
    '{"a": {"b": 1}, "c": ',
    '{"a": NaN}',
    '{"a": -Infinity}',
    '{"a": True}',
    '{"a": 01}',
    '{"a": "\n"}',
    '{"a": 1 // first\n}',
    "{\u201ca\u201d: 1}",
    '{"a": "}',
    '{"a": ' + "9" * 5_000 + "}",
    f'{{"a": {DEEP}}}',
    '{"a":' * 100_000,
]


@pytest.mark.parametrize(("text", "found"), FOUND)
def test_found(text: str, found: str) -> None:
    assert json_search.find(text, "{") == found


@pytest.mark.parametrize("text", NOT_FOUND, ids=lambda text: repr(text[:40]))
def test_not_found(text: str) -> None:
    assert json_search.find(text, "{") is None


@pytest.mark.parametrize("text", ['see [1, 2]: {"a": [3]}', "[1]\n[1, 2]", "[[1], 2] [1, 2]"])
def test_arrays(text: str) -> None:
    assert json_search.find(text.replace("[3]", "3"), "[") == "[1, 2]"


def test_parse() -> None:
    assert json_search.parse(' {"a": 1.50} ') == {"a": 1.5}
    assert json_search.parse("1") is None


@given(JSON, st.sampled_from([None, 1]), st.booleans())
def test_whatever_is_written_is_found(inner: object, indent: int | None, plain: bool) -> None:  # noqa: FBT001
    value = {"it": inner}
    written = json.dumps(value, indent=indent, ensure_ascii=plain)
    assert json_search.find(f"So: {written} is it.", "{") == written
    assert json_search.parse(written) == value
