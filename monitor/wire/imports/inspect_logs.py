"""Logs of Inspect: the samples that a run has asked, each once, whatever its epochs."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from monitor.domain.errors import Problem, SuiteError
from monitor.wire.imports import records, samples
from monitor.wire.imports.readings import Reading, Record, Remark

ATTACHED = "attachment://"
GRADERS: dict[str, dict[str, Any]] = {
    "choice": {"kind": "choice"},
    "exact": {"kind": "normalised", "answer": "whole", "ignore_articles": True},
    "f1": {"kind": "token_f1"},
    "math": {"kind": "math"},
}
"""Graders for the scorers of Inspect that have a counterpart whatever their options."""

WITHOUT_WORDS = {"generate", "multiple_choice"}
"""Solvers that put no words of their own around a question, or such as the prompt here has."""


def is_log(document: Any) -> bool:  # noqa: ANN401 - any JSON value
    return isinstance(document, Mapping) and isinstance(document.get("eval"), Mapping)


def read(name: str, log: Mapping[str, Any], reading: Reading) -> None:
    """Take the samples of a log.

    Args:
        name: of the file.
        log: the whole log, as JSON.
        reading: takes the items.

    Raises:
        SuiteError: the log holds no samples.
    """
    logged = log.get("samples")
    if not isinstance(logged, list) or not logged:
        todo = f"convert the whole log: {records.TO_JSON}"
        raise SuiteError([Problem(where=name, what="holds no samples", todo=todo)])
    _note(name, log, logged, reading)
    _grade(name, log, reading)
    for index, sample in enumerate(logged):
        place = f"{name}: samples[{index}]"
        record = Record(place=place, content=sample, spare_id=f"sample-{index + 1}")
        if not isinstance(sample, Mapping):
            reading.leave_out(place, Remark(what="is no sample"))
        elif missing := [*_missing(sample)]:
            what = "is kept apart from the log's text, and is not there"
            reading.leave_out(place, Remark(field=missing[0], what=what))
        else:
            fields = {field: sample.get(field) for field in (*samples.FIELDS, *samples.ENVIRONMENT)}
            samples.read(record, _restored(fields, _attachments(sample)), reading)


def grader(log: Mapping[str, Any]) -> dict[str, Any] | None:
    """The grader that does what the log's first scorer did, where there is one."""
    first = next(iter(_scorers(log)), None)
    if first is None:
        return None
    name, options = first
    ignores_case = options.get("ignore_case", True) is not False
    match name, options:
        case "match", {"numeric": True}:
            return {"kind": "numeric"}
        case "includes", _:
            sensitive = {} if ignores_case else {"case_sensitive": True}
            return {"kind": "include", "inside_words": True, **sensitive}
        case "pattern", {"pattern": str(pattern)} if _has_one_group(pattern):
            if ignores_case:
                return {"kind": "regex", "pattern": f"(?i){pattern}", "normalise": True}
            return {"kind": "regex", "pattern": pattern}
        case _:
            return GRADERS.get(name)


def _scorers(log: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Name and options of each scorer; some logs tell them beside the results alone."""
    results = log.get("results")
    scores = results.get("scores") if isinstance(results, Mapping) else None
    return _named(log["eval"].get("scorers"), "name", "options") or _named(
        scores, "scorer", "params"
    )


def _named(scorers: object, name: str, options: str) -> list[tuple[str, Mapping[str, Any]]]:
    """Name and options of each entry, under these keys; a scorer of several scores once."""
    found: list[tuple[str, Mapping[str, Any]]] = []
    for entry in scorers if isinstance(scorers, list) else ():
        if isinstance(entry, Mapping) and isinstance(entry.get(name), str):
            given = entry.get(options)
            scorer = entry[name].rpartition("/")[2], given if isinstance(given, Mapping) else {}
            if scorer not in found:
                found.append(scorer)
    return found


def _has_one_group(pattern: str) -> bool:
    """Whether a pattern takes one thing out: of several, any may be the target for Inspect."""
    try:
        return re.compile(pattern).groups == 1
    except (re.error, RecursionError, OverflowError):
        return False


def _grade(name: str, log: Mapping[str, Any], reading: Reading) -> None:
    """Take the log's grader, and tell what of its scorers and solvers is not taken."""
    found, scorers = grader(log), [scorer for scorer, _ in _scorers(log)]
    reading.grader = found
    if not scorers:
        what = "names none, so that the grader is a guess"
        reading.change(name, Remark(field="eval.scorers", what=what, todo="see --grader"))
    for scorer in scorers[found is not None :]:
        what = f"{scorer!r:.60} is not imported: an item has one grader"
        if found is None:
            what = f"{scorer!r:.60} has no counterpart, so that the grader is a guess"
        reading.change(name, Remark(field="eval.scorers", what=what, todo="see --grader"))
    for solver in _solvers(log):
        what = f"the solver {solver!r:.60} is not imported, nor are words that it adds"
        todo = "put them into the prompt in suite.yaml"
        reading.change(name, Remark(field="plan.steps", what=what, todo=todo))


def _solvers(log: Mapping[str, Any]) -> list[str]:
    plan = log.get("plan")
    steps = plan.get("steps") if isinstance(plan, Mapping) else None
    named = [
        str(step.get("solver"))
        for step in (steps if isinstance(steps, list) else ())
        if isinstance(step, Mapping)
    ]
    return [name for name in named if name.rpartition("/")[2] not in WITHOUT_WORDS]


def _note(name: str, log: Mapping[str, Any], logged: list[Any], reading: Reading) -> None:
    ids = {str(sample.get("id")) for sample in logged if isinstance(sample, Mapping)}
    dataset = log["eval"].get("dataset")
    whole = dataset.get("samples") if isinstance(dataset, Mapping) else None
    reading.notes.append(f"{name}: an Inspect log of {len(ids)} samples")
    if isinstance(whole, int) and whole > len(ids):
        what = f"holds {len(ids)} of the {whole} samples of its data set"
        todo = "import the data set itself, or a log of all of it"
        reading.change(name, Remark(what=what, todo=todo))


def _attachments(sample: Mapping[str, Any]) -> Mapping[str, Any]:
    found = sample.get("attachments")
    return found if isinstance(found, Mapping) else {}


def _missing(sample: Mapping[str, Any]) -> Iterator[str]:
    """Fields that name an attachment which the log does not hold."""
    held = _attachments(sample)
    for field in ("input", "target", "choices"):
        named = [text for text in _texts(sample.get(field)) if text.startswith(ATTACHED)]
        if any(text.removeprefix(ATTACHED) not in held for text in named):
            yield field


def _texts(value: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON value
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, Mapping)):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(each)


def _restored(value: Any, attachments: Mapping[str, Any]) -> Any:  # noqa: ANN401 - any JSON value
    """The value with its attachments in place."""
    if isinstance(value, str) and value.startswith(ATTACHED):
        return attachments.get(value.removeprefix(ATTACHED), value)
    if isinstance(value, Mapping):
        return {name: _restored(each, attachments) for name, each in value.items()}
    if isinstance(value, list):
        return [_restored(each, attachments) for each in value]
    return value
