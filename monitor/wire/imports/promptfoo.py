"""promptfoo: configurations, files of tests, and what an evaluation has written.

An item is a test with its variables filled into the first prompt. Neither the code nor the other
files that a configuration may name are looked at.
"""

import functools
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from monitor.domain.errors import Problem, SuiteError
from monitor.wire.imports import assertions, promptfoo_cases, samples, tables
from monitor.wire.imports.promptfoo_cases import ALONE, FILE, Case
from monitor.wire.imports.readings import Reading, Record, Remark
from monitor.wire.imports.records import Parsed

EXPECTED = "__expected"
OPTIONS = ("__prefix", "__suffix")
FIELDS = ("vars", "assert", "metadata", "options", "description", "threshold")
_FILE_NAME = re.compile(
    r"[^\s{}]+\.(?:txt|md|jsonl?|csv|ya?ml|j2|py|[cm]?[jt]s|sh)(?::\w+)?|[^\s{}]*\*\S*|exec:.*"
)
_TODO = "name the variable that is the question: --column input=VARIABLE"

Test = Mapping[str, Any]


def is_output(document: Any) -> bool:  # noqa: ANN401 - any JSON value
    """Whether this is what `promptfoo eval -o FILE.json` writes."""
    return isinstance(document, Mapping) and {"results", "config"} <= document.keys()


def is_config(document: Any) -> bool:  # noqa: ANN401 - any JSON value
    keys = document.keys() if isinstance(document, Mapping) else set()
    return is_output(document) or "tests" in keys or {"prompts", "providers"} <= keys


def is_test(content: Any) -> bool:  # noqa: ANN401 - any JSON value
    """Whether this is a test, a row of a table of tests, or a row of an evaluation."""
    keys = {*map(str, content)} if isinstance(content, Mapping) else set()
    return bool({"vars", "assert", "testCase"} & keys) or any(
        key.startswith(EXPECTED) for key in keys
    )


def read_config(name: str, parsed: Parsed, columns: Mapping[str, str], reading: Reading) -> None:
    """Take the tests of a configuration, also of one that stands in the output of an evaluation.

    Args:
        name: of the file.
        parsed: its content.
        columns: `input`: the variable that is the question, instead of the prompt.
        reading: takes the items.

    Raises:
        SuiteError: the tests stand in other files, or the prompt is more than text.
    """
    above = ("config",) if is_output(parsed.document) else ()
    config = parsed.document["config"] if above else parsed.document
    tests = config.get("tests") if isinstance(config, Mapping) else None
    if not isinstance(tests, list) and above:
        read_rows(name, _rows(parsed), reading)
        return
    if not isinstance(tests, list):
        where, what = parsed.where((*above, "tests")), "are not written out here"
        raise SuiteError([Problem(where=where, what=what, todo="import the file that holds them")])
    if config.get("scenarios"):
        todo = "write each out as tests"
        reading.leave_out(name, Remark(field="scenarios", what="are not imported", todo=todo))
    if config.get("derivedMetrics"):
        reading.change(name, Remark(field="derivedMetrics", what="is not imported"))
    default = config.get("defaultTest")
    if default and not isinstance(default, Mapping):
        reading.change(name, Remark(field="defaultTest", what="stands in another file"))
    records = [
        Record(
            place=parsed.where((*above, "tests", at)),
            content=_merged(test, default if isinstance(default, Mapping) else {}),
            spare_id=f"test-{at + 1}",
        )
        for at, test in enumerate(tests)
    ]
    template = None if "input" in columns else _template(name, config, reading)
    read_tests(name, records, columns, reading, template=template)


def read_tests(
    name: str,
    records: Sequence[Record],
    columns: Mapping[str, str],
    reading: Reading,
    *,
    template: str | None = None,
) -> None:
    """Take tests, or rows of a table of tests, for items.

    Args:
        name: of the file.
        records: the tests.
        columns: `input`: the variable that is the question.
        reading: takes the items.
        template: the prompt; None where a variable is all that is asked.
    """
    cases = []
    for record in records:
        test = _test(record.content)
        if test is None:
            what = "names another file, or is no test"
            reading.leave_out(record.place, Remark(what=what, todo="import that file"))
            continue
        asks = template or _variable(test["vars"], columns)
        if asks is None:
            what = "hold no variable that is known to be the question"
            reading.leave_out(record.place, Remark(field="vars", what=what, todo=_TODO))
            continue
        cases.append(_case(record, test, asks))
    _take(name, cases, reading)


def read_rows(name: str, records: Sequence[Record], reading: Reading) -> None:
    """Take the tests of an evaluation's rows, each once, as its first prompt asked them."""
    rows = [(record, _row(record.content)) for record in records]
    known = [(record, test) for record, test in rows if test]
    first: dict[str, int] = {}
    for record, test in known:
        first.setdefault(_key(test), record.content["promptIdx"])
        first[_key(test)] = min(first[_key(test)], record.content["promptIdx"])
    cases: dict[tuple[str, str], Case] = {}
    for record, test in known:
        if record.content["promptIdx"] == first[_key(test)]:
            asked = record.content["prompt"]["raw"]
            cases.setdefault((asked, _key(test)), _case(record, test, asked, is_filled=True))
    for record, found in rows:
        if not found:
            reading.leave_out(record.place, Remark(what="is no row of an evaluation"))
    _take(name, [*cases.values()], reading)


def _rows(parsed: Parsed) -> list[Record]:
    """The rows of an evaluation's output."""
    results = parsed.document["results"]
    rows = results.get("results") if isinstance(results, Mapping) else results
    return [
        Record(
            place=parsed.where(("results", "results", at)), content=row, spare_id=f"test-{at + 1}"
        )
        for at, row in enumerate(rows if isinstance(rows, list) else ())
    ]


def _take(name: str, cases: Sequence[Case], reading: Reading) -> None:
    reading.notes.append(f"{name}: {len(cases)} tests of promptfoo")
    identity = _identity(cases)
    for case in cases:
        promptfoo_cases.read(case, identity(case), reading)


def _identity(cases: Sequence[Case]) -> Callable[[Case], str | None]:
    """What tells the tests apart: a variable or metadata called id, else their descriptions."""
    for name in (*tables.USUAL_NAMES["id"], None):
        found = [_named(case, name) for case in cases]
        if None not in found and len(set(found)) == len(found):
            return functools.partial(_named, name=name)
    return lambda _: None


def _named(case: Case, name: str | None) -> str | None:
    """A field of a test as its id; the description where no field is named."""
    fields = {**case.metadata, **case.variables}
    return case.description if name is None else samples.identity(fields.get(name))


def _row(content: Any) -> dict[str, Any] | None:  # noqa: ANN401 - any JSON value
    """The test of a row; None where it is none."""
    match content:
        case {"testCase": Mapping() as test, "promptIdx": int(), "prompt": {"raw": str()}}:
            return _test(test)
        case _:
            return None


def _key(test: Test) -> str:
    """What tells tests apart that different prompts have asked."""
    return json.dumps([test["vars"], test["assert"]])


def _case(record: Record, test: Test, template: str, *, is_filled: bool = False) -> Case:
    return Case(
        record=record,
        template=template,
        is_filled=is_filled,
        variables=test["vars"],
        assertions=test["assert"],
        metadata=test["metadata"],
        options=test["options"],
        description=samples.identity(test.get("description")),
        unread=[name for name in test if name not in FIELDS or _decides(name, test)],
    )


def _decides(name: str, test: Test) -> bool:
    """Whether it lets an answer pass that does not meet the strictest assertion."""
    return name == "threshold" and bool(test["threshold"]) and len(test["assert"]) > 1


def _merged(test: Any, default: Mapping[str, Any]) -> Any:  # noqa: ANN401 - any JSON value
    """A test with what every test has by default."""
    own, shared = _test(test), _test(default)
    if own is None or shared is None:
        return test
    merged = {**shared, **own}
    for key in ("vars", "metadata", "options"):
        merged[key] = {**shared[key], **own[key]}
    inherited = [] if merged["options"].get(ALONE) is True else shared["assert"]
    return {**merged, "assert": [*own["assert"], *inherited]}


def _test(content: Any) -> dict[str, Any] | None:  # noqa: ANN401 - any JSON value
    """A test with all fields that are read; None where it is none, or names another file."""
    if not isinstance(content, Mapping):
        return None
    if any(str(key).startswith("__") for key in content):
        content = _of_row(content)
    test = {
        **content,
        "vars": content.get("vars") or {},
        "assert": content.get("assert") or [],
        "metadata": content.get("metadata") or {},
        "options": content.get("options") or {},
    }
    shapes = isinstance(test["assert"], list) and all(
        isinstance(test[key], Mapping) for key in ("vars", "metadata", "options")
    )
    return test if shapes else None


def _of_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """A test that a table has in one row, as https://www.promptfoo.dev/docs/configuration says."""
    test: dict[str, Any] = {"vars": {}, "assert": [], "metadata": {}, "options": {}}
    for key, value in row.items():
        special, _, detail = key.partition(":")
        if special.startswith(EXPECTED):
            test["assert"].append(assertions.written(str(value)))
        elif special in OPTIONS:
            test["options"][special.strip("_")] = value
        elif special == "__metadata":
            test["metadata"][detail or "metadata"] = value
        elif key.startswith("__"):
            test[key.strip("_")] = value
        else:
            test["vars"][key] = value
    return test


def _template(name: str, config: Mapping[str, Any], reading: Reading) -> str | None:
    """The first prompt; None where there is none."""
    prompts = config.get("prompts")
    entries = prompts if isinstance(prompts, list) else [prompts]
    raw = [
        each.get("raw", each.get("id")) if isinstance(each, Mapping) else each for each in entries
    ]
    if not raw or raw[0] is None:
        return None
    if len(raw) > 1:
        what = f"{len(raw) - 1} after the first are not imported: a suite asks in one way"
        reading.change(name, Remark(field="prompts", what=what))
    template = str(raw[0])
    if template.startswith(FILE) or _FILE_NAME.fullmatch(template.strip()):
        what = "the first one stands in another file"
        raise SuiteError([Problem(where=f"{name}: prompts", what=what, todo=_TODO)])
    if promptfoo_cases.is_more_than_variables(template):
        what = "the first one is a template of more than variables"
        raise SuiteError([Problem(where=f"{name}: prompts", what=what, todo=_TODO)])
    return template


def _variable(variables: Mapping[str, Any], columns: Mapping[str, str]) -> str | None:
    """The variable that is the question, as a template."""
    names = [*variables]
    usual = (each for each in tables.USUAL_NAMES["input"] if each in names)
    only = names[0] if len(names) == 1 else None
    name = columns.get("input") or next(usual, only)
    return None if name is None else f"{{{{{name}}}}}"
