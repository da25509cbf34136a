"""Lines of an items.jsonl: each is read on its own, so that one bad line does not hide the next."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NoReturn

from pydantic import ValidationError

from monitor.domain.errors import Problem
from monitor.domain.identifiers import ItemId
from monitor.wire import images, yaml_documents
from monitor.wire.suite_models import ChatItemModel, FindImage, ItemModel, TextItemModel

SAME_PROBLEM_AT_MOST = 10
LONGEST_LINE = 32 * images.MIB  # more than the pictures of an item may be, as data URLs
OFTEN_CALLED = {
    "answer": "target",
    "answers": "target",
    "category": "group",
    "expected": "target",
    "label": "target",
    "messages": "input",
    "options": "choices",
    "question": "input",
    "subject": "group",
}
"""Names that other formats have for our fields, too different to be taken for a slip."""
_WORDS_FOR_YAML = {yaml_documents.MAPPING[1], yaml_documents.LIST[1]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What is wrong with a field of a line; the field is empty where it is the whole line."""

    line: int
    field: str
    what: str
    todo: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line that holds an item; lines count from 1."""

    number: int
    model: ItemModel


def read(content: bytes, find_image: FindImage | None = None) -> tuple[list[Line], list[Finding]]:
    """Read every line that is not blank; an id that was used before is a finding.

    Args:
        content: the bytes of the file.
        find_image: finds pictures in files; without it they are not looked for.
    """
    lines: list[Line] = []
    findings: list[Finding] = []
    # Split as bytes: of texts, JSON may hold characters that count as line breaks.
    for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").splitlines(), start=1):
        if not line.strip():
            continue
        model, found = _line(number, line, find_image)
        findings += found
        if model is not None:
            lines.append(Line(number=number, model=model))
    if not lines and not findings:
        todo = "write one JSON object with id, input and target on each line"
        findings.append(Finding(line=1, field="", what="holds no items", todo=todo))
    return lines, findings + list(_repeated_ids(lines))


def problems(findings: Sequence[Finding], *, name: str) -> list[Problem]:
    """Findings with their place; of those that say the same on many lines, only the first ones.

    Args:
        findings: what is wrong with the lines.
        name: what to call the file.
    """
    told: Counter[tuple[str, str]] = Counter()
    first = []
    for finding in sorted(findings, key=lambda finding: finding.line):
        same = finding.field, finding.what
        told[same] += 1
        if told[same] <= SAME_PROBLEM_AT_MOST:
            place = f"{name}:{finding.line}" + (f": {finding.field}" if finding.field else "")
            first.append(Problem(where=place, what=finding.what, todo=finding.todo))
    return first + [
        Problem(where=name, what=f"{count - SAME_PROBLEM_AT_MOST} more lines: {field} {what}")
        for (field, what), count in told.items()
        if count > SAME_PROBLEM_AT_MOST
    ]


def _line(
    number: int, line: bytes, find_image: FindImage | None
) -> tuple[ItemModel | None, list[Finding]]:
    try:
        content = _json(line)
    except _UnreadableLine as error:
        return None, [Finding(line=number, field="", what=error.what, todo=error.todo)]
    asks_in_chat = isinstance(content, dict) and isinstance(content.get("input"), list)
    model = ChatItemModel if asks_in_chat else TextItemModel
    try:
        return model.model_validate(content, context=find_image), []
    except ValidationError as error:
        found = yaml_documents.explain(
            error, model, content=content, where=yaml_documents.field_name
        )
        return None, [
            Finding(line=number, field=problem.where, what=problem.what, todo=_todo(problem))
            for problem in found
        ]


def _todo(problem: Problem) -> str:
    if problem.what == yaml_documents.UNKNOWN_KEY and problem.where in OFTEN_CALLED:
        return f"did you mean {OFTEN_CALLED[problem.where]}?"
    return "" if problem.todo in _WORDS_FOR_YAML else problem.todo


class _UnreadableLine(Exception):
    def __init__(self, what: str, todo: str) -> None:
        self.what = what
        self.todo = todo


def _json(line: bytes) -> object:
    if len(line) > LONGEST_LINE:
        what = f"is longer than {LONGEST_LINE // images.MIB} MiB"
        raise _UnreadableLine(what, "put pictures into files, and each item on a line of its own")
    one_object = "write one JSON object on each line"
    try:
        # Decoded first, for JSON takes other encodings too.
        return json.loads(line.decode(), object_pairs_hook=_object, parse_constant=_refused)
    except UnicodeDecodeError:
        raise _UnreadableLine("is not UTF-8", "save the file in UTF-8") from None
    except json.JSONDecodeError as error:
        what = f"is not JSON: {error.msg} at column {error.colno}"
        raise _UnreadableLine(what, one_object) from error
    except RecursionError:
        what = "is not JSON: it is nested too deeply"
        raise _UnreadableLine(what, "put flat values into metadata") from None
    except ValueError as error:
        raise _UnreadableLine(f"is not JSON: {error}", one_object) from error


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    repeated = [name for name, count in Counter(name for name, _ in pairs).items() if count > 1]
    if repeated:
        raise ValueError(f"the key {repeated[0]!r:.80} stands there twice")
    return dict(pairs)


def _refused(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON number")


def _repeated_ids(lines: Sequence[Line]) -> Iterator[Finding]:
    first: dict[ItemId, int] = {}
    for line in lines:
        item_id = ItemId(line.model.id)
        earlier = first.setdefault(item_id, line.number)
        if earlier != line.number:
            what = f"{item_id!r:.80} is the id of line {earlier} already"
            yield Finding(line=line.number, field="id", what=what, todo="give each item its own")
