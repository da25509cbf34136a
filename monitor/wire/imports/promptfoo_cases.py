"""A test of promptfoo as an item: its variables filled in, one of its assertions as grader."""

import contextlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from monitor.wire.imports import assertions, samples
from monitor.wire.imports.assertions import COUNTERPARTS, Counterpart
from monitor.wire.imports.readings import Reading, Record, Remark

FILE = "file://"
VARIABLE = re.compile(r"\{\{-?\s*(\w+)\s*-?\}\}")
MORE_THAN_VARIABLES = re.compile(r"\{[{%#]")
CODE_OPTIONS = ("transform", "postprocess", "transformVars")
ALONE = "disableDefaultAsserts"
READ_OPTIONS = ("prefix", "suffix", ALONE, *CODE_OPTIONS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A test, as far as it is understood.

    template: what is asked, with variables in double braces. is_filled: they are filled in already.
    unread: further fields, which mean nothing to an item.
    """

    record: Record
    template: str
    is_filled: bool = False
    variables: Mapping[str, Any] = field(default_factory=dict)
    assertions: Sequence[Any] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    description: str | None = None
    unread: Sequence[str] = ()


def read(case: Case, identity: str | None, reading: Reading) -> None:
    """Take a case for an item, or leave it out with the reason.

    Args:
        case: what to take.
        identity: its id, None for one that is made up.
        reading: takes the item.
    """
    place = case.record.place
    if (unusable := _unusable(case)) is not None:
        reading.leave_out(place, unusable)
        return
    asked, (graded, others) = _asked(case), _graded(case)
    if isinstance(asked, Remark) or graded is None:
        reading.leave_out(place, asked if isinstance(asked, Remark) else _ungraded(others))
        return
    for remark in (*others, *_unread(case)):
        reading.change(place, remark)
    metadata = samples.plain(place, _metadata(case), reading)
    reading.draft(
        case.record,
        {
            "id": identity,
            "input": asked,
            "target": graded.target,
            "grader": graded.grader,
            "group": samples.group_of(metadata),
            "metadata": metadata,
        },
    )


def is_more_than_variables(text: str) -> bool:
    """Whether a template holds filters, conditions or the like, which are not run."""
    return MORE_THAN_VARIABLES.search(VARIABLE.sub("", text)) is not None


def _unusable(case: Case) -> Remark | None:
    if any(case.options.get(name) for name in CODE_OPTIONS):
        return Remark(field="options", what="transforms by code, which is not run")
    for name, around in zip(("prefix", "suffix"), _around(case), strict=True):
        if is_more_than_variables(around):
            return Remark(field=f"options.{name}", what="is a template of more than variables")
    for name in _used(case):
        value = case.variables.get(name)
        if not isinstance(value, (str, int, float, Mapping)):
            what = "is not given, or holds several values"
            return Remark(field=f"vars.{name}", what=what, todo="write a test for each value")
        if isinstance(value, str) and (value.startswith(FILE) or VARIABLE.search(value)):
            what = "names a file or another variable"
            return Remark(field=f"vars.{name}", what=what, todo="write its text into the test")
    return None


def _used(case: Case) -> list[str]:
    """Variables that the question or a value of an assertion names."""
    before, after = _around(case)
    asked = [] if case.is_filled else VARIABLE.findall(before + case.template + after)
    values = [each.get("value") for each in case.assertions if isinstance(each, Mapping)]
    return [*asked, *VARIABLE.findall(" ".join(map(samples.as_text, values)))]


def _around(case: Case) -> tuple[str, str]:
    """What goes before and after a prompt; one that is filled in has both already."""
    if case.is_filled:
        return "", ""
    return str(case.options.get("prefix") or ""), str(case.options.get("suffix") or "")


def _asked(case: Case) -> str | list[dict[str, Any]] | Remark:
    """What is asked: text, or chat messages where the prompt is their JSON."""
    before, after = _around(case)
    template: Any = f"{before}{case.template}{after}"
    if template.lstrip().startswith("["):
        with contextlib.suppress(ValueError):
            template = json.loads(template)
    filled = template if case.is_filled else _filled(template, case.variables)
    if isinstance(filled, list):
        return samples.messages(filled)
    return filled if filled.strip() else Remark(field="vars", what="leave the question empty")


def _filled(value: Any, variables: Mapping[str, Any]) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, str):
        return VARIABLE.sub(lambda match: assertions.spelled(variables[match[1]]), value)
    if isinstance(value, Mapping):
        return {name: _filled(each, variables) for name, each in value.items()}
    return [_filled(each, variables) for each in value] if isinstance(value, list) else value


def _graded(case: Case) -> tuple[Counterpart | None, list[Remark]]:
    """The strictest assertion that has a counterpart, and what is to be said of all others."""
    best: tuple[int, str, Counterpart] | None = None
    kinds, remarks = [*COUNTERPARTS], []
    for assertion in case.assertions:
        found, kind = _counterpart(assertion, case.variables)
        if isinstance(found, Remark):
            remarks.append(found)
            continue
        rank = kinds.index(kind)
        if best is not None:
            looser = kind if rank >= best[0] else best[1]
            what = f"{looser!r} is not imported beside another: an item has one grader"
            remarks.append(Remark(field="assert", what=what))
        if best is None or rank < best[0]:
            best = rank, kind, found
    return best and best[2], remarks


def _counterpart(
    assertion: Any,  # noqa: ANN401 - any JSON value
    variables: Mapping[str, Any],
) -> tuple[Counterpart | Remark, str]:
    if not isinstance(assertion, Mapping):
        what = "holds what is no assertion, such as the name of a file"
        return Remark(field="assert", what=what), ""
    kind = str(assertion.get("type"))
    if assertion.get("weight") == 0:
        what = f"{kind!r:.60} has the weight 0, so that any answer passes"
        return Remark(field="assert", what=what), kind
    if kind in COUNTERPARTS and is_more_than_variables(samples.as_text(assertion.get("value"))):
        what = f"{kind!r} has a value that is a template of more than variables"
        return Remark(field="assert", what=what, todo="write the value into the test"), kind
    filled = _filled(assertion, variables)
    return assertions.counterpart(filled), str(filled.get("type"))


def _ungraded(remarks: Sequence[Remark]) -> Remark:
    if not remarks:
        what = "is empty, so that any answer is right"
        return Remark(field="assert", what=what, todo="add one, such as equals")
    reasons = "; ".join(dict.fromkeys(remark.what for remark in remarks))
    return Remark(field="assert", what=f"has nothing to grade by: {reasons}")


def _unread(case: Case) -> Iterator[Remark]:
    further = [name for name in case.options if name not in READ_OPTIONS and case.options[name]]
    for name in (*case.unread, *(f"options.{each}" for each in further)):
        yield Remark(field=name, what="is not imported")


def _metadata(case: Case) -> dict[str, Any]:
    """What identifies a test and is not asked."""
    used = set() if case.is_filled else {*VARIABLE.findall(case.template)}
    described = {"description": case.description} if case.description else {}
    rest = {name: value for name, value in case.variables.items() if name not in used}
    return {**described, **rest, **case.metadata}
