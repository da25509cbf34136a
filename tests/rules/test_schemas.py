"""Published formats: what is stored is what is generated, and nobody's reader or writer breaks.

Run this file to store the schemas anew; `tests/golden/released` is changed at a release only.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import monitor.wire.schemas
from tests.rules import repository

STORED = Path(monitor.wire.schemas.__file__).parent
RELEASED = repository.ROOT / "tests" / "golden" / "released"
HOW = "run .venv/bin/python tests/rules/test_schemas.py"

Schema = dict[str, Any]

LOWER_BOUNDS = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
UPPER_BOUNDS = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")


class Comparison:
    """Finds what documents valid under `old` would run into under `new`."""

    def __init__(self, old: Schema, new: Schema) -> None:
        self.old, self.new = old, new

    def breaks(self) -> list[str]:
        return list(self._compare(self.old, self.new, "$"))

    def _compare(self, old: Schema, new: Schema, path: str) -> Iterator[str]:
        old, new = resolve(old, self.old), resolve(new, self.new)
        if "anyOf" in (old | new) or "oneOf" in (old | new):
            yield from self._compare_branches(branches(old), branches(new), path)
            return
        yield from narrowed(old, new, path)
        yield from self._compare_fields(old, new, path)
        for keyword in ("items", "additionalProperties"):
            if isinstance(new.get(keyword), dict):
                yield from self._compare(old.get(keyword) or {}, new[keyword], f"{path}[]")

    def _compare_fields(self, old: Schema, new: Schema, path: str) -> Iterator[str]:
        before, after = old.get("properties", {}), new.get("properties", {})
        for name in sorted(set(new.get("required", ())) - set(old.get("required", ()))):
            yield f"{path}.{name}: required field added"
        for name in before:
            if name in after:
                yield from self._compare(before[name], after[name], f"{path}.{name}")
            else:
                yield f"{path}.{name}: field removed"

    def _compare_branches(self, old: list[Schema], new: list[Schema], path: str) -> Iterator[str]:
        for branch in old:
            found = [list(self._compare(branch, candidate, path)) for candidate in new]
            if all(found):
                yield min(found, key=len)[0]


def resolve(schema: Schema, root: Schema) -> Schema:
    if "$ref" not in schema:
        return schema
    target: Schema = root["$defs"][schema["$ref"].rpartition("/")[2]]
    return target


def branches(schema: Schema) -> list[Schema]:
    found: list[Schema] = schema.get("anyOf") or schema.get("oneOf") or [schema]
    return found


def narrowed(old: Schema, new: Schema, path: str) -> Iterator[str]:
    if "type" in new and old.get("type") not in {new["type"], WIDER.get(new["type"])}:
        yield f"{path}: type narrowed to {new['type']}"
    allowed = values(new)
    if allowed and not (values(old) and values(old) <= allowed):
        yield f"{path}: fewer values"
    if "pattern" in new and new["pattern"] != old.get("pattern"):
        yield f"{path}: pattern added or changed"
    for keyword in LOWER_BOUNDS + UPPER_BOUNDS:
        sign = 1 if keyword in UPPER_BOUNDS else -1
        if keyword in new and (keyword not in old or sign * new[keyword] < sign * old[keyword]):
            yield f"{path}: {keyword} tightened"
    if new.get("additionalProperties") is False and old.get("additionalProperties") is not False:
        yield f"{path}: unknown fields no longer accepted"


WIDER = {"number": "integer"}


def values(schema: Schema) -> set[str]:
    listed = schema.get("enum", [schema["const"]] if "const" in schema else [])
    return {json.dumps(value) for value in listed}


def released() -> list[Path]:
    return sorted(RELEASED.glob("*.json"))


def test_stored_schemas_are_the_generated_ones() -> None:
    stored = {path.name: path.read_bytes() for path in STORED.glob("*.json")}
    assert stored == monitor.wire.schemas.generate(), HOW


def test_every_schema_has_been_released() -> None:
    assert {path.name for path in released()} == set(monitor.wire.schemas.generate())


@pytest.mark.parametrize("path", released(), ids=lambda path: path.stem)
def test_nothing_breaks_what_is_released(path: Path) -> None:
    generated = json.loads(monitor.wire.schemas.generate()[path.name])
    broken = Comparison(json.loads(path.read_bytes()), generated).breaks()
    assert not broken, f"give the format a new version instead: {broken}"


BASE: Schema = {
    "type": "object",
    "required": ["a"],
    "properties": {
        "a": {"type": "string", "maxLength": 9},
        "b": {"anyOf": [{"$ref": "#/$defs/B"}, {"type": "null"}]},
        "c": {"type": "array", "items": {"type": "integer"}},
    },
    "$defs": {"B": {"enum": ["x", "y"], "type": "string"}},
}


def altered(*path: str, to: object) -> Schema:
    schema: Schema = json.loads(json.dumps(BASE))
    place = schema
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = to
    return schema


@pytest.mark.parametrize(
    ("new", "finding"),
    [
        (altered("required", to=["a", "b"]), "$.b: required field added"),
        (altered("properties", "a", to={"type": "integer"}), "$.a: type narrowed to integer"),
        (altered("properties", "a", "maxLength", to=8), "$.a: maxLength tightened"),
        (altered("properties", "a", "minLength", to=1), "$.a: minLength tightened"),
        (altered("properties", "a", "pattern", to="x"), "$.a: pattern added or changed"),
        (altered("properties", "b", to={"$ref": "#/$defs/B"}), "$.b: type narrowed to string"),
        (altered("$defs", "B", "enum", to=["x"]), "$.b: fewer values"),
        (altered("properties", "c", "items", to={"type": "string"}), "$.c[]: type narrowed"),
        (altered("properties", to={}), "$.a: field removed"),
        (altered("additionalProperties", to=False), "$: unknown fields no longer accepted"),
    ],
)
def test_a_break_is_found(new: Schema, finding: str) -> None:
    assert Comparison(BASE, new).breaks()[0].startswith(finding)


@pytest.mark.parametrize(
    "new",
    [
        BASE,
        altered("required", to=[]),
        altered("properties", "d", to={"type": "string"}),
        altered("properties", "a", "maxLength", to=10),
        altered("properties", "c", "items", to={"type": "number"}),
        altered("$defs", "B", "enum", to=["x", "y", "z"]),
        altered("properties", "a", to={"anyOf": [{"type": "string"}, {"type": "null"}]}),
    ],
)
def test_what_only_adds_is_no_break(new: Schema) -> None:
    assert Comparison(BASE, new).breaks() == []


if __name__ == "__main__":
    for file_name, content in monitor.wire.schemas.generate().items():
        (STORED / file_name).write_bytes(content)
