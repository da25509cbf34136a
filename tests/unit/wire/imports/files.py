"""Files of other tools, written by hand, and what is read out of them."""

import json
from collections.abc import Mapping
from typing import Any

from monitor.wire.imports import formats, readings
from monitor.wire.imports.readings import Format, Reading
from monitor.wire.suites import Source

Document = dict[str, Any]


def read(
    name: str,
    content: str | bytes,
    *,
    file_format: Format | None = None,
    columns: Mapping[str, str] | None = None,
) -> Reading:
    """What one file holds."""
    reading = Reading()
    data = content.encode() if isinstance(content, str) else content
    formats.read(Source(name=name, content=data), file_format, columns or {}, reading)
    return reading


def json_lines(*documents: object) -> str:
    """Each on a line."""
    return "".join(json.dumps(document) + "\n" for document in documents)


def documents(reading: Reading) -> list[Document]:
    """Items to be, as lines of items.jsonl."""
    return [draft.document for draft in reading.drafts]


def asked(reading: Reading) -> list[tuple[Any, Any]]:
    """Question and right answers of each."""
    return [(document["input"], document["target"]) for document in documents(reading)]


def left_out(reading: Reading) -> list[str]:
    """What became no item, and why."""
    return [str(problem) for problem in readings.problems(reading.left_out)]


def changed(reading: Reading) -> list[str]:
    """What items have lost."""
    return [str(problem) for problem in readings.problems(reading.changed)]
