"""Right is JSON whose fields are those of a target.

Read is the last JSON object of the text (an array where the targets are arrays), see `json_search`;
prose and code fences around it do not matter. What is compared are the `fields`: JSON Pointers
(RFC 6901) such as `/address/city` or `/items/0/price`, each with how its value is compared:

- `exact`: the same JSON. Numbers are equal as numbers (1 and 1.0), true is not 1, and the order of
  keys does not matter;
- `normalised`: the same texts after normalisation (see `normalisation`); numbers, true, false and
  null count as the texts that spell them;
- `{tolerance: 0.01}`, `{relative_tolerance: 0.01}`: numbers that are as close as for `numeric`.

Left out, every key of the target (every element of an array) is a field, compared exactly. Whatever
else the answer holds does not matter. With `score: share` an answer gets the share of its fields
that are right, of several targets the one that suits it best; with `score: all` 1 or 0.

An answer that a JSON Schema in `schema` does not allow gets 0; other schemas are not fetched, so
that its `$ref` can name parts of it alone. Patterns of a schema may need exponential time, so this
grader runs where it can be killed.
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any

import jsonschema
import referencing
import referencing.exceptions

from monitor.domain import errors, suites
from monitor.grading import grader, json_search, normalisation, numeric, statements

_MISSING = object()
_TOLERANCES = {name: numeric.OPTIONS[name] for name in ("tolerance", "relative_tolerance")}


def _is_rule(given: object) -> bool:
    if isinstance(given, Mapping):
        return bool(given) and not grader.option_problems(given, _TOLERANCES)
    return given in {"exact", "normalised"} if isinstance(given, str) else False


def _is_pointer(given: object) -> bool:
    return isinstance(given, str) and (not given or given.startswith("/"))


OPTIONS = {
    "fields": grader.Option(
        wanted="JSON Pointers, each with exact, normalised or a tolerance, such as {/city: exact}",
        accepts=lambda given: (
            isinstance(given, Mapping)
            and all(_is_pointer(pointer) and _is_rule(rule) for pointer, rule in given.items())
        ),
        default=None,
    ),
    "score": grader.one_of("share", "all"),
    "schema": grader.Option(
        wanted="a JSON Schema",
        accepts=lambda given: isinstance(given, (Mapping, bool)),
        default=None,
    ),
}
_TODO = "give a JSON object or array, as text, that has every field"


def extract(_options: grader.Options, item: suites.Item, text: str) -> str | None:
    """Return the JSON of the answer as it stands in the text."""
    text = statements.without_reasoning(text)
    return json_search.find(text, item.target[0].lstrip()[:1])


def compare(options: grader.Options, item: suites.Item, extracted: str) -> float:
    """Return the share of fields that are right, or whether all are, by the closest target."""
    answer = json_search.parse(extracted)
    if answer is None or not _is_allowed(options, answer):
        return 0.0
    share = max(_share(options, answer, json_search.parse(target)) for target in item.target)
    return float(share == 1.0) if options.get("score") == "all" else share


def check(options: grader.Options, item: suites.Item) -> list[errors.Problem]:
    """Find options that do not fit, a schema that is none, and targets without the fields."""
    found = grader.option_problems(options, OPTIONS)
    usable = grader.fitting(options, OPTIONS)
    starts = {target.lstrip()[:1] for target in item.target}
    if len(starts) > 1:
        what = "objects beside arrays"
        found.append(errors.Problem(where="target", what=what, todo="give only one of the two"))
    return (
        found
        + _schema_problems(usable)
        + grader.target_problems(item, lambda target: _has_fields(usable, target), _TODO)
    )


def _schema_problems(options: grader.Options) -> list[errors.Problem]:
    schema = grader.read(options, OPTIONS, "schema")
    if schema is None:
        if options.get("fields", True):
            return []
        todo = "name some, leave fields out to compare every key, or add a schema"
        return [errors.Problem(where="grader.fields", what="none", todo=todo)]
    try:
        jsonschema.validators.validator_for(schema).check_schema(schema)
    except (jsonschema.SchemaError, RecursionError) as error:
        what = f"not a JSON Schema: {getattr(error, 'message', error)!s:.200}"
        return [errors.Problem(where="grader.schema", what=what)]
    todo = "put it under $defs and refer to it as #/$defs/NAME"
    return [
        errors.Problem(where="grader.schema", what=f"{reference!r:.80} is not fetched", todo=todo)
        for reference in _references(schema)
        if not str(reference).startswith("#")
    ]


def _references(schema: Any) -> Iterator[Any]:  # noqa: ANN401 - any JSON value
    if isinstance(schema, Mapping):
        yield from (schema[name] for name in ("$ref", "$dynamicRef") if name in schema)
    if isinstance(schema, (Mapping, list)):
        for inner in schema.values() if isinstance(schema, Mapping) else schema:
            yield from _references(inner)


def _is_allowed(options: grader.Options, answer: Any) -> bool:  # noqa: ANN401 - any JSON value
    schema = grader.read(options, OPTIONS, "schema")
    if schema is None:
        return True
    kind = jsonschema.validators.validator_for(schema)
    try:
        return bool(kind(schema, registry=referencing.Registry()).is_valid(answer))
    # The last two come from a schema without end and from numbers too large for a float.
    except (referencing.exceptions.Unresolvable, RecursionError, ArithmeticError):
        return False


def _has_fields(options: grader.Options, target: str) -> bool:
    value = json_search.parse(target)
    if value is None:
        return False
    return all(_at(value, pointer) is not _MISSING for pointer in _rules(options, value))


def _rules(options: grader.Options, target: Any) -> Mapping[str, Any]:  # noqa: ANN401 - any JSON
    given: Mapping[str, Any] | None = grader.read(options, OPTIONS, "fields")
    if given is not None:
        return given
    keys = target if isinstance(target, dict) else range(len(target))
    names = (str(key).replace("~", "~0").replace("/", "~1") for key in keys)
    return {f"/{name}": "exact" for name in names} or {"": "exact"}


def _share(options: grader.Options, answer: Any, target: Any) -> float:  # noqa: ANN401 - any JSON
    rules = _rules(options, target)
    right = [
        _equal(rule, _at(answer, pointer), _at(target, pointer)) for pointer, rule in rules.items()
    ]
    return sum(right) / len(right) if right else 1.0


def _at(value: Any, pointer: str) -> Any:  # noqa: ANN401 - any JSON value
    """Value that a pointer points at, `_MISSING` where there is none."""
    for escaped in pointer.split("/")[1:]:
        name = escaped.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict):
            value = value.get(name, _MISSING)
        elif isinstance(value, list) and name in map(str, range(len(value))):
            value = value[int(name)]
        else:
            return _MISSING
    return value


def _equal(rule: Any, answer: Any, target: Any) -> bool:  # noqa: ANN401 - any JSON value
    if answer is _MISSING:
        return False
    if isinstance(rule, Mapping):
        return _is_close(rule, answer, target)
    spell = _normal if rule == "normalised" else _exact
    return _spelled(answer, spell) == _spelled(target, spell)


def _is_close(rule: grader.Options, answer: Any, target: Any) -> bool:  # noqa: ANN401 - any JSON
    if not (_is_number(answer) and _is_number(target)):
        return False
    absolute, relative = (
        Fraction(str(grader.read(rule, _TOLERANCES, name))) for name in _TOLERANCES
    )
    first, second = Fraction(answer), Fraction(target)
    return abs(first - second) <= max(absolute, relative * abs(second))


def _is_number(value: object) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)


def _spelled(value: Any, spell: Callable[[Any], object]) -> object:  # noqa: ANN401 - any JSON
    if isinstance(value, dict):
        return {name: _spelled(inner, spell) for name, inner in value.items()}
    if isinstance(value, list):
        return [_spelled(inner, spell) for inner in value]
    return spell(value)


def _exact(value: object) -> object:
    return isinstance(value, bool), value


def _normal(value: object) -> object:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return normalisation.normalise(value if isinstance(value, str) else json.dumps(value))
