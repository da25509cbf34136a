"""Samples with the fields of Inspect's `Sample`: what every table comes down to as well."""

import json
import math
import re
import string
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from monitor.domain.identifiers import canonical_json
from monitor.wire.imports.readings import Reading, Record, Remark

FIELDS = ("id", "input", "target", "choices", "group", "metadata")
ENVIRONMENT = ("sandbox", "files", "setup")
GROUPS = ("group", "category", "subject", "topic")
ROLES = ("system", "user", "assistant")
IMAGES = ("https://", "data:image/")

_FINAL = re.compile(r"(?:\A|\n)####[ \t]*(\S[^\n]*?)\s*\Z")

# A chat message has more fields than are sent: its id, where it came from, the model's name.
_CALLS = ("tool_calls", "tool_call_id")


def read(
    record: Record,
    sample: Mapping[str, Any],
    reading: Reading,
    *,
    rest: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """Take a sample for an item, or leave it out with the reason.

    Args:
        record: where it comes from.
        sample: its fields; `choices` a list or a text in which they are separated, `metadata` an
            object or its JSON.
        reading: takes the item, or why there is none.
        rest: fields that mean nothing to an item; its metadata keeps them.
    """
    needed = [name for name in ENVIRONMENT if sample.get(name)]
    if needed:
        what = "asks for an environment to run in, which a chat endpoint does not have"
        reading.leave_out(record.place, Remark(field=needed[0], what=what))
        return
    choices = _choices(sample.get("choices"))
    target = _target(sample.get("target"), choices)
    asked = _input(sample.get("input"))
    for part in (asked, target, choices):
        if isinstance(part, Remark):
            reading.leave_out(record.place, part)
            return
    own = _metadata(record, sample.get("metadata"), reading)
    metadata = plain(record.place, {**rest, **own}, reading)
    reading.draft(
        record,
        {
            "id": identity(sample.get("id")),
            "input": asked,
            "target": target,
            "choices": choices,
            "group": _group(sample.get("group"), metadata),
            "metadata": metadata,
        },
    )


def identity(value: object) -> str | None:
    """An id as text; None where there is none."""
    return value if isinstance(value, str) else None if _is_missing(value) else as_text(value)


def as_text(value: object) -> str:
    """A number, true, false or an object as JSON spells it; text as it is."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def final(text: str) -> str:
    """What a worked answer ends in, behind `####` as in GSM8K; any other is its own end."""
    found = _FINAL.search(text)
    return found[1] if found else text


def plain(place: str, metadata: Mapping[str, Any], reading: Reading) -> dict[str, Any]:
    """Metadata that JSON can hold; a NaN, say, is left out, and told."""
    kept = {}
    for name, value in metadata.items():
        try:
            canonical_json(value)
            kept[str(name)] = value
        except (TypeError, ValueError, RecursionError):
            what = "holds what JSON has no word for, such as NaN; it is left out"
            reading.change(place, Remark(field=f"metadata.{name}", what=what))
    return kept


def group_of(fields: Mapping[str, Any]) -> str | None:
    """The first field whose name says that it is a topic."""
    return next((as_text(fields[name]) for name in GROUPS if _is_name(fields.get(name))), None)


def listed_choices(value: str) -> list[str]:
    """Choices written as one text: a JSON list, or separated by |, semicolons, commas or blanks."""
    if value.lstrip().startswith(("[", "{")):
        try:
            found = json.loads(value)
        except (ValueError, RecursionError):
            return []
        return [as_text(each) for each in found] if isinstance(found, list) else []
    separator = next((each for each in "|;" if each in value), ",")
    found = [each.strip() for each in value.split(separator)]
    return found if len(found) > 1 else value.split()


def letter_of(place: int) -> str:
    """The letter of a choice, by its place from 0."""
    return string.ascii_uppercase[place]


def _choices(value: object) -> list[str] | Remark:
    if isinstance(value, str):
        value = listed_choices(value)
        if not value:
            return Remark(field="choices", what="is no list", todo='write ["one", "two"]')
    if _is_missing(value) or value == []:
        return []
    if not isinstance(value, list):
        return Remark(field="choices", what="must be a list of texts")
    if len(value) > len(string.ascii_uppercase):
        return Remark(field="choices", what="has more entries than there are letters")
    if not all(isinstance(each, (str, int, float)) and as_text(each).strip() for each in value):
        return Remark(field="choices", what="has an entry that is empty or no text")
    return [as_text(each) for each in value]


def _target(value: object, choices: list[str] | Remark) -> list[str] | Remark:
    """Targets as texts; a whole number beside choices is a place among them, from 0."""
    values = value if isinstance(value, list) else [value]
    texts = [as_text(each) for each in values if not _is_missing(each)]
    if not texts or not all(text.strip() for text in texts):
        return Remark(field="target", what="is empty", todo="an item needs a right answer")
    if not choices or isinstance(choices, Remark):
        return texts
    if len(texts) > 1:
        what = "wants several choices, of which the grader choice would take any"
        return Remark(field="target", what=what, todo="ask for them as a set, without choices")
    if type(values[0]) is int:
        return _numbered_target(values[0], choices)
    letter = string.ascii_uppercase.find(texts[0].upper()) if len(texts[0]) == 1 else -1
    if 0 <= letter < len(choices) and texts[0] in choices and choices[letter] != texts[0]:
        what = "may be the letter of a choice, or the words of another"
        return Remark(field="target", what=what, todo="write its place, from 0, as a number")
    return texts


def _numbered_target(place: int, choices: Sequence[str]) -> list[str] | Remark:
    if str(place) in choices:
        what = "may be a choice or a place among them"
        return Remark(field="target", what=what, todo="write the letter of the choice")
    if not 0 <= place < len(choices):
        what = f"is no place among {len(choices)} choices, counted from 0"
        return Remark(field="target", what=what, todo="write the letter of the choice")
    return [letter_of(place)]


def _input(value: object) -> str | list[dict[str, Any]] | Remark:
    if isinstance(value, list):
        return messages(value)
    if _is_missing(value) or not as_text(value).strip():
        return Remark(field="input", what="is empty", todo="an item needs a question")
    return as_text(value)


def messages(turns: Sequence[object]) -> list[dict[str, Any]] | Remark:
    """Chat messages of Inspect or of the chat API as those of an item."""
    found = []
    for index, turn in enumerate(turns):
        read = _message(turn)
        if isinstance(read, str):
            return Remark(field=f"input[{index}]", what=read)
        found.append(read)
    return found or Remark(field="input", what="is empty", todo="an item needs a question")


def _message(turn: object) -> dict[str, Any] | str:
    """The message, or what is wrong with it."""
    if not isinstance(turn, Mapping) or turn.get("role") not in ROLES:
        return f"is no message of {', '.join(ROLES)}"
    if any(turn.get(name) for name in _CALLS):
        return "calls a tool, and there are none"
    content = turn.get("content")
    if isinstance(content, str):
        return {"role": turn["role"], "content": content}
    parts = [*_parts(content)]
    if not parts or None in parts:
        return "holds parts that are neither text nor the URL of an image (https: or data:)"
    return {"role": turn["role"], "content": parts}


def _parts(content: object) -> Iterator[dict[str, str] | None]:
    for part in content if isinstance(content, list) else ():
        match part:
            case str():
                yield {"type": "text", "text": part}
            case {"type": "text", "text": str(text)}:
                yield {"type": "text", "text": text}
            case (
                {"type": "image", "image": str(url)}
                | {"type": "image_url", "image_url": str(url)}
                | {"type": "image_url", "image_url": {"url": str(url)}}
            ) if url.startswith(IMAGES):
                yield {"type": "image", "image": url}
            case _:
                yield None


def _metadata(record: Record, value: object, reading: Reading) -> Mapping[str, Any]:
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            reading.change(record.place, Remark(field="metadata", what="is no JSON; kept as text"))
    if value is None:
        return {}
    return value if isinstance(value, Mapping) else {"metadata": value}


def _group(value: object, metadata: Mapping[str, Any]) -> str | None:
    return as_text(value) if _is_name(value) else group_of(metadata)


def _is_missing(value: object) -> bool:
    """Whether there is nothing: pandas and others write NaN into empty cells."""
    return value is None or (isinstance(value, float) and not math.isfinite(value))


def _is_name(value: object) -> bool:
    return isinstance(value, (str, int)) and bool(as_text(value).strip())
