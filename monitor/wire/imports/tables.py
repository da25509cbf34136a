"""Tables and lists of records whose columns are found by name, or named by the user."""

import re
import string
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from monitor.domain.errors import Problem, SuiteError
from monitor.wire.imports import samples
from monitor.wire.imports.readings import Reading, Record, Remark

USUAL_NAMES = {
    "id": ("id", "qid", "question_id", "item_id", "sample_id", "uuid", "uid"),
    "input": ("input", "question", "prompt", "query", "problem", "instruction", "messages"),
    "target": (
        "target",
        "answer",
        "answers",
        "expected",
        "expected_output",
        "expected_answer",
        "correct_answer",
        "ideal",
        "answer_key",
        "answerkey",
        "label",
        "solution",
        "reference",
        "gold",
    ),
    "choices": ("choices", "options"),
    "group": samples.GROUPS,
    "metadata": ("metadata",),
}
"""Names of columns, as small letters with underscores, that are taken for a field; first first."""

PASSAGES = ("context", "passage", "article", "paragraph", "story")
"""Names of columns, in small letters, without which a question may have no answer."""

NEEDED = ("input", "target")
LETTERED = ("{}", "choice_{}", "option_{}")
FEWEST_CHOICES = 2
_LIST = re.compile(r"\s*\[\s*['\"]")


def read(
    name: str, records: Sequence[Record], columns: Mapping[str, str], reading: Reading
) -> None:
    """Take each record for a sample; columns that no field takes stay in its metadata.

    Args:
        name: of the file.
        records: their contents are to be objects.
        columns: column by field, where the user names it.
        reading: takes the items.

    Raises:
        SuiteError: there is no question or no right answer among the columns.
    """
    present = list(dict.fromkeys(key for record in records for key in _fields(record)))
    chosen = _columns(name, present, columns)
    lettered = [] if "choices" in chosen else _lettered(present, set(chosen.values()))
    taken = ", ".join(f"{field} from {column!r}" for field, column in chosen.items())
    if lettered:
        taken += f", choices from {', '.join(lettered)}"
    rest = [each for each in present if each not in {*chosen.values(), *lettered}]
    if rest:
        taken += f"; kept as metadata: {_shown(rest)}"
    reading.notes.append(f"{name}: {taken}")
    _refuse_places_from_one(name, records, chosen)
    for remark in [*_unasked(rest), *_doubts(records, chosen, has_choices=bool(lettered))]:
        reading.change(name, remark)
    for record in records:
        if isinstance(record.content, Mapping):
            _read_record(record, chosen, lettered, reading)
        else:
            what = "is no object with named fields"
            reading.leave_out(record.place, Remark(what=what))


def _refuse_places_from_one(
    name: str, records: Sequence[Record], chosen: Mapping[str, str]
) -> None:
    """Places are counted from 0; counted from 1, all but the last would be taken for another."""
    rows = [record.content for record in records if isinstance(record.content, Mapping)]
    places = [(row.get(chosen["target"]), row.get(chosen.get("choices", ""))) for row in rows]
    numbered = [
        (place, len(choices))
        for place, choices in places
        if type(place) is int and isinstance(choices, list)
    ]
    from_one = all(place for place, _ in numbered) and len(numbered) > 1
    if from_one and any(place == count for place, count in numbered):
        where, what = f"{name}: {chosen['target']}", "seems to count the choices from 1, not from 0"
        raise SuiteError([Problem(where=where, what=what, todo="write the letter of the choice")])


def _unasked(rest: Sequence[str]) -> Iterator[Remark]:
    for column in rest:
        if column.lower() in PASSAGES:
            what = "is not asked, though a question may have no answer without it"
            todo = f"show it by {{{{ metadata.{column} }}}} in the prompt in suite.yaml"
            yield Remark(field=column, what=what, todo=todo)


def _doubts(
    records: Sequence[Record], chosen: Mapping[str, str], *, has_choices: bool
) -> Iterator[Remark]:
    """Why the column of the targets may mean something else."""
    column = chosen["target"]
    rows = [record.content for record in records if isinstance(record.content, Mapping)]
    texts = [samples.as_text(row[column]) for row in rows if column in row]
    is_label = column.lower() == "label" and "choices" not in chosen and not has_choices
    if is_label and any(text.isdecimal() for text in texts):
        what = "holds whole numbers, which may be classes or places rather than answers"
        yield Remark(field=column, what=what, todo="name another: --column target=COLUMN")
    if any(isinstance(row.get(column), str) and _LIST.match(row[column]) for row in rows):
        what = "holds a list as one text, which is one right answer"
        yield Remark(field=column, what=what, todo="of several, write a list into JSON lines")


def _fields(record: Record) -> list[str]:
    return [*map(str, record.content)] if isinstance(record.content, Mapping) else []


def _columns(name: str, present: Sequence[str], wanted: Mapping[str, str]) -> dict[str, str]:
    """Column by field."""
    absent = [column for column in wanted.values() if column not in present]
    if absent:
        what = f"has no column {absent[0]!r:.80}"
        raise SuiteError([Problem(where=name, what=what, todo=f"there are {_shown(present)}")])
    by_usual_name = {
        column.lower().strip().replace(" ", "_"): column for column in reversed(present)
    }
    chosen = dict(wanted)
    for field, names in USUAL_NAMES.items():
        usual = (by_usual_name[each] for each in names if each in by_usual_name)
        free = (column for column in usual if column not in chosen.values())
        if field not in chosen and (column := next(free, None)) is not None:
            chosen[field] = column
    missing = [field for field in NEEDED if field not in chosen]
    if missing:
        what = f"no column is known to hold the {missing[0]}; there are {_shown(present)}"
        todo = f"name it: --column {missing[0]}=COLUMN"
        raise SuiteError([Problem(where=name, what=what, todo=todo)])
    return {field: chosen[field] for field in samples.FIELDS if field in chosen}


def _shown(names: Sequence[str]) -> str:
    return f"{', '.join(map(repr, names)) or 'none'}"[:300]


def _lettered(present: Sequence[str], taken: set[str]) -> list[str]:
    """Columns A, B, C ... (or choice_a, option_b ...), where each choice has its own."""
    by_name = {column.lower().replace(" ", "_"): column for column in present}
    for pattern in LETTERED:
        found = []
        for letter in string.ascii_lowercase:
            column = by_name.get(pattern.format(letter))
            if column is None or column in taken:
                break
            found.append(column)
        if len(found) >= FEWEST_CHOICES:
            return found
    return []


def _read_record(
    record: Record, chosen: Mapping[str, str], lettered: Sequence[str], reading: Reading
) -> None:
    content = record.content
    sample = {field: content.get(column) for field, column in chosen.items()}
    if lettered:
        cells = [content.get(column) for column in lettered]
        sample["choices"] = _without_last_gaps(cells)
    sample |= _labelled(sample.get("choices"), sample["target"])
    if isinstance(sample["target"], str):
        sample["target"] = samples.final(sample["target"])
    used = {*chosen.values(), *lettered}
    rest = {str(name): value for name, value in content.items() if name not in used}
    sample |= {name: rest.pop(name) for name in samples.ENVIRONMENT if name in rest}
    samples.read(record, sample, reading, rest=rest)


def _without_last_gaps(cells: Sequence[Any]) -> list[Any]:
    kept = list(cells)
    while kept and kept[-1] is None:
        kept.pop()
    return kept


def _labelled(choices: object, target: object) -> dict[str, Any]:
    """Choices as texts beside labels, of which the target is one; answers as spans of a text."""
    match choices, target:
        case {"text": list(texts), "label": list(labels)}, _ if len(texts) == len(labels):
            named = [*map(str, labels)]
            if str(target) in named:
                target = samples.letter_of(named.index(str(target)))
            return {"choices": texts, "target": target}
        case _, {"text": list(texts), "answer_start": list()}:
            return {"target": texts}
        case _, {"value": value, "aliases": list(aliases)}:
            return {"target": [value, *(alias for alias in aliases if alias != value)]}
        case _:
            return {}
