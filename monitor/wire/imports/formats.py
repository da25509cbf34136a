"""Which format a file has, and who reads it."""

from collections.abc import Mapping
from pathlib import PurePath

from monitor.domain.errors import Problem, SuiteError
from monitor.wire.imports import inspect_logs, lm_eval, promptfoo, records, tables
from monitor.wire.imports.readings import Format, Reading, Record
from monitor.wire.imports.records import Parsed
from monitor.wire.suites import Source


def read(
    source: Source, format_: Format | None, columns: Mapping[str, str], reading: Reading
) -> None:
    """Take what a file holds for items.

    Args:
        source: the file.
        format_: its format, None to find it out.
        columns: column by field of an item, where they are not found by name.
        reading: takes the items.

    Raises:
        SuiteError: nothing can be read from the file.
    """
    parsed = records.parse(source, reading)
    if lm_eval.is_results(parsed.document):
        lm_eval.refuse_results(source.name)
    format_ = format_ or detect(parsed)
    reading.grader, reading.verbatim = None, format_ in {Format.LM_EVAL, Format.PROMPTFOO}
    match format_:
        case Format.INSPECT if inspect_logs.is_log(parsed.document):
            inspect_logs.read(source.name, parsed.document, reading)
        case Format.LM_EVAL:
            lm_eval.read(source.name, _records(source, parsed), reading)
        case Format.PROMPTFOO:
            _read_promptfoo(source, parsed, columns, reading)
        case Format.INSPECT | Format.TABLE:
            tables.read(source.name, _records(source, parsed), columns, reading)


def detect(parsed: Parsed) -> Format:
    """The format that a file's own names show; a table where they show none."""
    if inspect_logs.is_log(parsed.document):
        return Format.INSPECT
    if promptfoo.is_config(parsed.document):
        return Format.PROMPTFOO
    contents = [record.content for record in parsed.records or ()]
    if any(map(lm_eval.is_samples, contents)):
        return Format.LM_EVAL
    return Format.PROMPTFOO if any(map(promptfoo.is_test, contents)) else Format.TABLE


def _read_promptfoo(
    source: Source, parsed: Parsed, columns: Mapping[str, str], reading: Reading
) -> None:
    if promptfoo.is_config(parsed.document):
        promptfoo.read_config(source.name, parsed, columns, reading)
        return
    entries = _records(source, parsed)
    if any("testCase" in each.content for each in entries if isinstance(each.content, Mapping)):
        promptfoo.read_rows(source.name, entries, reading)
    else:
        promptfoo.read_tests(source.name, entries, columns, reading)


def _records(source: Source, parsed: Parsed) -> list[Record]:
    if parsed.records is not None:
        return parsed.records
    fields = parsed.document.items() if isinstance(parsed.document, Mapping) else ()
    lists = [(key, value) for key, value in fields if isinstance(value, list) and value]
    if len(lists) != 1:
        what, todo = "holds no list of records, or several", "write the records as a JSON array"
        raise SuiteError([Problem(where=source.name, what=what, todo=todo)])
    key, entries = lists[0]
    stem = PurePath(source.name).stem
    return [
        Record(place=parsed.where((key, at)), content=entry, spare_id=f"{stem}-{at + 1}")
        for at, entry in enumerate(entries)
    ]
