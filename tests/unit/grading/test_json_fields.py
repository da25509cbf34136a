import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from tests.unit.grading.examples import JSON, Reading, found_wrong, graded, item, reading

TARGET = '{"name": "Ada", "born": 1815, "known": true, "died": null}'
PERSON = item(TARGET)
READ_AS: list[Reading] = [
    (TARGET, TARGET, 1.0),
    (f"```json\n{TARGET}\n```", TARGET, 1.0),
    (f"```\n{TARGET}\n```", TARGET, 1.0),
    (f"Here is the object:\n\n{TARGET}\n\nLet me know!", TARGET, 1.0),
    (f"ANSWER: {TARGET}", TARGET, 1.0),
    (f"<think>{{}}</think>{TARGET}", TARGET, 1.0),
    (f'First {{"name": "Eve"}}. No: {TARGET}', TARGET, 1.0),
    (f"{TARGET}\n\nThat is [1] and [2].", TARGET, 1.0),
    *(
        (text, text, score)
        for text, score in [
            ('{"died": null, "known": true, "born": 1815, "name": "Ada"}', 1.0),
            ('{"name":"Ada","born":1815.0,"known":true,"died":null}', 1.0),
            ('{"name": "\\u0041da", "born": 1.815e3, "known": true, "died": null}', 1.0),
            ('{"name": "Ada", "born": 1815, "known": true, "died": null, "x": 1}', 1.0),
            ('{"name": "ada", "born": 1815, "known": true, "died": null}', 3 / 4),
            ('{"name": "Ada ", "born": 1815, "known": true, "died": null}', 3 / 4),
            ('{"name": "Ada", "born": "1815", "known": true, "died": null}', 3 / 4),
            ('{"name": "Ada", "born": 1815, "known": "true", "died": null}', 3 / 4),
            ('{"name": "Ada", "born": 1815, "known": 1, "died": null}', 3 / 4),
            ('{"name": "Ada", "born": 1815, "known": true}', 3 / 4),
            ('{"name": "Ada", "born": 1815, "known": true, "died": ""}', 3 / 4),
            ('{"name": "Ada", "born": 1815}', 1 / 2),
            ('{"name": ["Ada"], "born": {"year": 1815}}', 0.0),
            ('{"person": {"name": "Ada", "born": 1815, "known": true, "died": null}}', 0.0),
            ('{"NAME": "Ada"}', 0.0),
            ("{}", 0.0),
            ('{"born": 1e999}', 0.0),
        ]
    ),
    (TARGET[:-1], None, None),
    (f"{{{TARGET}", TARGET, 1.0),
    (TARGET.replace('"', "'"), None, None),
    (TARGET.replace("true", "True"), None, None),
    (TARGET.replace("null", "null,"), None, None),
    ("name: Ada, born: 1815", None, None),
    ("I cannot help with that.", None, None),
    ("", None, None),
    ("[]", None, None),
    (f"<think>{TARGET}", None, None),
    ('{"name":' * 100_000, None, None),
]
INVOICE = item('{"city": "St. Louis", "total": 12.5, "lines": [{"sku": "A-1", "n": 2}], "a/b": 1}')


@pytest.mark.parametrize("row", READ_AS, ids=lambda row: repr(row[0][:60]))
def test_read(row: Reading) -> None:
    assert reading("json", row[0], PERSON) == row


@pytest.mark.parametrize(
    ("rule", "answer", "score"),
    [
        ({"/city": "exact"}, {"city": "St. Louis"}, 1.0),
        ({"/city": "exact"}, {"city": "st. louis"}, 0.0),
        ({"/city": "normalised"}, {"city": "**st. louis.**"}, 1.0),
        ({"/city": "normalised"}, {"city": "Paris"}, 0.0),
        ({"/city": "normalised"}, {"city": ["St. Louis"]}, 0.0),
        ({"/city": "normalised"}, {"town": "St. Louis"}, 0.0),
        ({"/total": "normalised"}, {"total": "12.5"}, 1.0),
        ({"/lines": "normalised"}, {"lines": [{"n": 2.0, "sku": "a-1"}]}, 1.0),
        ({"/lines": "exact"}, {"lines": [{"n": 2.0, "sku": "A-1"}]}, 1.0),
        ({"/lines": "exact"}, {"lines": [{"n": 2, "sku": "A-1", "x": 1}]}, 0.0),
        ({"/lines/0/sku": "exact"}, {"lines": [{"sku": "A-1", "x": 1}]}, 1.0),
        ({"/lines/0/sku": "exact"}, {"lines": []}, 0.0),
        ({"/lines/0/sku": "exact"}, {"lines": {"0": {"sku": "A-1"}}}, 1.0),
        ({"/lines/0/sku": "exact"}, {"lines": "A-1"}, 0.0),
        ({"/a~1b": "exact"}, {"a/b": 1}, 1.0),
        ({"/total": {"tolerance": 0.1}}, {"total": 12.6}, 1.0),
        ({"/total": {"tolerance": 0.1}}, {"total": 12.61}, 0.0),
        ({"/total": {"relative_tolerance": 0.1}}, {"total": 13.75}, 1.0),
        ({"/total": {"tolerance": 0.1}}, {"total": "12.5"}, 0.0),
        ({"/total": {"tolerance": 99}}, {"total": True}, 0.0),
        ({"/total": {"tolerance": 99}}, {"total": 10**400}, 0.0),
        ({"/total": {"tolerance": 99}}, {"total": None}, 0.0),
        ({"/city": "exact", "/total": "exact"}, {"city": "St. Louis"}, 0.5),
        ({"": "exact"}, json.loads(INVOICE.target[0]), 1.0),
        ({"": "exact"}, {}, 0.0),
    ],
)
def test_fields(rule: dict[str, Any], answer: object, score: float) -> None:
    assert graded("json", json.dumps(answer), INVOICE, fields=rule).score == score


@pytest.mark.parametrize(("wrong", "score"), [(0, 1.0), (1, 0.0), (4, 0.0)])
def test_all_or_nothing(wrong: int, score: float) -> None:
    answer = json.loads(TARGET) | dict.fromkeys(list(json.loads(TARGET))[:wrong], "?")
    assert graded("json", json.dumps(answer), PERSON, score="all").score == score


def test_the_closest_target_counts() -> None:
    assert graded("json", '{"a": 1}', item('{"a": 2}', '{"a": 1}')).score == 1.0


@pytest.mark.parametrize(
    ("answer", "read", "score"),
    [("[1, 2]", "[1, 2]", 1.0), ("It is [1, 3].", "[1, 3]", 0.5), ('{"a": 1}', None, None)],
)
def test_arrays(answer: str, read: str | None, score: float | None) -> None:
    assert reading("json", answer, item("[1, 2]")) == (answer, read, score)


SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["n"],
    "properties": {"n": {"$ref": "#/$defs/count"}},
    "additionalProperties": False,
    "$defs": {"count": {"type": "integer", "multipleOf": 0.5}},
}


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ('{"n": 1}', 1.0),
        ('{"n": 2}', 0.0),
        ('{"n": 1, "x": 1}', 0.0),
        ('{"n": "1"}', 0.0),
        ("{}", 0.0),
        (json.dumps({"n": 10**400}), 0.0),
    ],
)
def test_schema(answer: str, score: float) -> None:
    assert graded("json", answer, item('{"n": 1}'), schema=SCHEMA).score == score


@pytest.mark.parametrize(
    ("schema", "score"),
    [
        (True, 1.0),
        (False, 0.0),
        ({"required": ["x"]}, 0.0),
        ({"$ref": "#"}, 0.0),
        ({"$ref": "#/nowhere"}, 0.0),
    ],
)
def test_schema_alone(schema: object, score: float) -> None:
    assert graded("json", '{"a": 1}', item("{}"), fields={}, schema=schema).score == score


@given(JSON, st.sampled_from(["exact", "normalised"]))
def test_a_target_scores_1(value: object, rule: str) -> None:
    target = json.dumps([value])
    assert graded("json", target, item(target)).score == 1.0
    assert graded("json", target, item(target), fields={"": rule}).score == 1.0


@given(JSON, JSON, st.sampled_from(["exact", "normalised", {"tolerance": 2}]))
def test_equality_is_symmetric(one: object, other: object, rule: object) -> None:
    first, second = (json.dumps({"a": value}) for value in (one, other))
    forth = graded("json", first, item(second), fields={"/a": rule}).score
    assert graded("json", second, item(first), fields={"/a": rule}).score == forth


@pytest.mark.parametrize(
    ("target", "options", "wrong"),
    [
        ("{'a': 1}", {}, "target: \"{'a': 1}\" cannot be an answer"),
        ("1", {}, "target: '1' cannot be an answer"),
        ("{}", {"fields": {"/a": "exact"}}, "target: '{}' cannot be an answer"),
        ("{}", {"fields": {"a": "exact"}}, "grader.fields: should be JSON Pointers"),
        ("{}", {"fields": {"/a": "close"}}, "grader.fields: should be JSON Pointers"),
        ("{}", {"fields": {"/a": {"tolerance": -1}}}, "grader.fields: should be JSON Pointers"),
        ("{}", {"fields": {"/a": {}}}, "grader.fields: should be JSON Pointers"),
        ("{}", {"fields": {}}, "grader.fields: none"),
        ("{}", {"schema": "x"}, "grader.schema: should be a JSON Schema, not 'x'"),
        ("{}", {"schema": {"type": "text"}}, "grader.schema: not a JSON Schema: 'text' is not"),
        ("{}", {"schema": {"pattern": "("}}, "grader.schema: not a JSON Schema: '(' is not"),
        (
            "{}",
            {"schema": {"allOf": [{"$ref": "https://localhost/x"}]}},
            "grader.schema: 'https://localhost/x' is not fetched",
        ),
    ],
)
def test_problems(target: str, options: dict[str, Any], wrong: str) -> None:
    (found,) = found_wrong("json", item(target), **options)
    assert found.startswith(wrong)


def test_objects_and_arrays_do_not_mix() -> None:
    assert found_wrong("json", item("{}", "[]")) == ["target: objects beside arrays"]
