"""Entries of JSON, JSON lines, YAML and CSV files, each with its place."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, NoReturn

from monitor.domain.errors import Problem, SuiteError
from monitor.wire import yaml_documents
from monitor.wire.imports.readings import Reading, Record, Remark
from monitor.wire.suites import Source
from monitor.wire.yaml_documents import Location

YAML_ENDINGS = {".yaml", ".yml"}
TABLE_ENDINGS = {".csv", ".tsv"}
LINES_ENDINGS = {".jsonl", ".ndjson"}
DELIMITERS = ",;\t|"
_ELEMENT = re.compile(r"[^\s,]")
ZIPPED = b"PK\x03\x04"
TO_JSON = "inspect log convert FILE --to json --output-dir FOLDER"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """A file as plain data: one document, or the records of a list, of lines or of a table.

    where: place of what stands at a location in the document.
    """

    document: Any = None
    records: list[Record] | None = None
    where: Callable[[Location], str]


def parse(source: Source, reading: Reading) -> Parsed:
    """Read a file by its ending, or where that says nothing by how it begins.

    Args:
        source: the file.
        reading: is told of lines and rows that cannot be read.

    Raises:
        SuiteError: the file cannot be read at all.
    """
    if source.content.startswith(ZIPPED):
        todo = f"if it is an Inspect log, turn it into JSON: {TO_JSON}"
        _fail(source.name, "is a zip archive", todo)
    ending = PurePath(source.name).suffix.lower()
    if ending in YAML_ENDINGS:
        return _yaml(source)
    text = _text(source)
    if not text.strip():
        _fail(source.name, "is empty")
    if ending in TABLE_ENDINGS or not text.lstrip().startswith(("{", "[")):
        return _listed(source, _rows(source, text, reading))
    # Some tools have written arrays into files that they called .jsonl.
    if ending in LINES_ENDINGS and not text.lstrip().startswith("["):
        return _listed(source, _lines(source, text, reading))
    return _json(source, text, reading)


def _listed(source: Source, records: Iterator[Record]) -> Parsed:
    return Parsed(records=[*records], where=lambda _: source.name)


def _yaml(source: Source) -> Parsed:
    loader = yaml_documents.CoreLoader
    document, found = yaml_documents.parse(source.content, name=source.name, loader=loader)
    if found:
        raise SuiteError(found)
    if not isinstance(document.content, list):
        return Parsed(document=document.content, where=document.where)
    entries = enumerate(document.content)
    return _listed(
        source,
        (_record(source, at + 1, each, place=document.where((at,))) for at, each in entries),
    )


def _text(source: Source) -> str:
    try:
        return source.content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = source.content[: error.start].count(b"\n") + 1
        _fail(f"{source.name}:{line}", "is not UTF-8", "save the file in UTF-8")


def _decode(text: str) -> Any:  # noqa: ANN401 - any JSON value
    return json.loads(text, object_pairs_hook=_distinct)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        name = next(name for name in document if [key for key, _ in pairs].count(name) > 1)
        raise ValueError(f"the key {name!r:.80} stands there twice")
    return document


def _json(source: Source, text: str, reading: Reading) -> Parsed:
    try:
        document = _decode(text)
    except json.JSONDecodeError as error:
        if error.msg == "Extra data":
            return _listed(source, _lines(source, text, reading))
        where, what = f"{source.name}:{error.lineno}", f"is not JSON: {error.msg}"
        _fail(where, what, "correct it, or write one JSON object on each line of a .jsonl file")
    except (ValueError, RecursionError) as error:
        _fail(source.name, f"is not JSON: {error}")
    if isinstance(document, list):
        return _listed(source, _elements(source, text))
    return Parsed(
        document=document,
        where=lambda location: f"{source.name}: {yaml_documents.field_name(location)}",
    )


def _lines(source: Source, text: str, reading: Reading) -> Iterator[Record]:
    # Not splitlines(): in JSON, texts may hold characters that count as line breaks.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        place = f"{source.name}:{number}"
        try:
            yield _record(source, number, _decode(line), place=place)
        except (ValueError, RecursionError) as error:
            said = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
            reading.leave_out(place, Remark(what=f"is not JSON: {said}"))


def _elements(source: Source, text: str) -> Iterator[Record]:
    """Elements of the array that a text is known to hold."""
    decoder = json.JSONDecoder()
    end, number = text.index("[") + 1, 0
    line = 1 + text.count("\n", 0, end)
    while (start := _next(text, end)) is not None:
        line += text.count("\n", end, start)
        content, end = decoder.raw_decode(text, start)
        place = f"{source.name}:{line}: [{number}]"
        line, number = line + text.count("\n", start, end), number + 1
        yield _record(source, number, content, place=place)


def _next(text: str, position: int) -> int | None:
    """Where the next element of an array begins; None behind the last."""
    found = _ELEMENT.search(text, position)
    return None if found is None or found[0] == "]" else found.start()


def _rows(source: Source, text: str, reading: Reading) -> Iterator[Record]:
    """Rows below the header; empty cells are left out."""
    delimiter = max(DELIMITERS, key=text.partition("\n")[0].count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        names = _header(source, next(reader, []))
        line = reader.line_num + 1
        for number, row in enumerate(reader, start=1):
            place = f"{source.name}:{line}"
            line = reader.line_num + 1
            if len(row) > len(names):
                what = f"{len(row)} cells below {len(names)} columns"
                todo = "put texts that hold the delimiter in double quotes"
                reading.leave_out(place, Remark(what=what, todo=todo))
            elif cells := {name: cell for name, cell in zip(names, row, strict=False) if cell}:
                yield _record(source, number, cells, place=place)
    except csv.Error as error:
        todo = "write JSON lines instead" if "limit" in str(error) else "check its quotes"
        _fail(f"{source.name}:{reader.line_num}", f"is not CSV: {error}", todo)


def _header(source: Source, cells: list[str]) -> list[str]:
    names = [cell.strip() for cell in cells]
    twice = sorted({name for name in names if name and names.count(name) > 1})
    if twice:
        todo = "rename one; of an evaluation of promptfoo, import the JSON output instead"
        _fail(f"{source.name}:1", f"the column {twice[0]!r:.80} stands there twice", todo)
    if not any(names):
        _fail(f"{source.name}:1", "holds no header", "write the columns' names into the first line")
    return names


def _record(source: Source, number: int, content: Any, *, place: str) -> Record:  # noqa: ANN401 - as above
    stem = PurePath(source.name).stem
    return Record(place=place, content=content, spare_id=f"{stem}-{number}")


def _fail(where: str, what: str, todo: str = "") -> NoReturn:
    raise SuiteError([Problem(where=where, what=what, todo=todo)])
