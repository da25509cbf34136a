"""Logged samples of lm-evaluation-harness: a line of `samples_TASK_TIME.jsonl` each, by filter.

What the task asked stands in `arguments`: one request with its settings where the model wrote an
answer, one for each choice where their likelihoods were compared.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from monitor.domain.errors import Problem, SuiteError
from monitor.wire.imports import samples, tables
from monitor.wire.imports.readings import Reading, Record, Remark

SHORTEST_PASSAGE = 20  # characters; below that, a field of a document may occur by chance
_CUE = re.compile(r"\n+(?:A|Answer)\s*:\s*$")
_CHAT_TOKENS = re.compile(r"<\|\w+\|>|\[INST\]|<start_of_turn>")
_LABELS = ("gold", "label", "answer", "answer_idx")
_ONE_LETTER = re.compile(r"[A-Z]")

Request = tuple[str, Any]
"""What stands before the answer; a choice, or the settings of an answer to be written."""


def is_samples(content: Any) -> bool:  # noqa: ANN401 - any JSON value
    return isinstance(content, Mapping) and {"doc", "arguments"} <= content.keys()


def is_results(document: Any) -> bool:  # noqa: ANN401 - any JSON value
    return isinstance(document, Mapping) and {"results", "configs"} <= document.keys()


def read(name: str, records: Sequence[Record], reading: Reading) -> None:
    """Take every document once, whatever the number of filters.

    Args:
        name: of the file.
        records: its lines.
        reading: takes the items.
    """
    contents = [record.content for record in records if is_samples(record.content)]
    named = _named(name, contents, reading)
    reading.notes.append(f"{name}: samples of lm-eval")
    for record in records:
        if not is_samples(record.content):
            what = "is no logged sample: it must have doc, arguments and target"
            reading.leave_out(record.place, Remark(what=what))
            continue
        document = _document(record.content)
        if isinstance(document, Remark):
            reading.leave_out(record.place, document)
            continue
        _warn(record.place, document, reading)
        reading.draft(record, document | _filed(record, document, named, reading))


def refuse_results(name: str) -> None:
    """Say which file holds the samples.

    Raises:
        SuiteError: always.
    """
    todo = "name the files samples_*.jsonl beside it; --log_samples writes them"
    raise SuiteError([Problem(where=name, what="holds results of lm-eval, no samples", todo=todo)])


def _named(name: str, contents: Sequence[Mapping[str, Any]], reading: Reading) -> str:
    """Which field names a document: one of its own, else `doc_id`, which may be wrong."""
    docs = [content["doc"] for content in contents if isinstance(content["doc"], Mapping)]
    for field in tables.USUAL_NAMES["id"]:
        ids = {json.dumps(doc[field], sort_keys=True) for doc in docs if doc.get(field) is not None}
        if docs and len(ids) == len({json.dumps(doc, sort_keys=True) for doc in docs}):
            return field
    seen: dict[object, list[object]] = {}
    for content in contents:
        seen.setdefault(content.get("filter"), []).append(content.get("doc_id"))
    numbers = [each for each in next(iter(seen.values()), []) if isinstance(each, int)]
    if numbers == sorted(numbers):
        return "doc_id"
    what = "doc_id is out of order, so lm-eval has mixed it up; ids are taken from doc_hash"
    reading.change(name, Remark(what=what))
    return "doc_hash"


def _filed(
    record: Record, document: Mapping[str, Any], named: str, reading: Reading
) -> dict[str, Any]:
    """Id, group and metadata: what a document holds beside its id, question and choices."""
    content, doc = record.content, record.content["doc"]
    fields = doc if isinstance(doc, Mapping) else {"doc": doc}
    told = {named, *(tables.USUAL_NAMES["choices"] if "choices" in document else ())}
    for key in tables.USUAL_NAMES["input"]:
        if isinstance(fields.get(key), str) and fields[key].strip() in str(document["input"]):
            told.add(key)
    rest = {key: value for key, value in fields.items() if key not in told}
    metadata = samples.plain(record.place, rest, reading)
    for key in ("doc_id", "doc_hash"):
        if key != named and key in content:
            metadata[key] = content[key]
    source = fields if named in fields else content
    return {
        "id": samples.identity(source.get(named)),
        "group": samples.group_of(fields),
        "metadata": metadata,
    }


def _document(content: Mapping[str, Any]) -> dict[str, Any] | Remark:
    requests = _requests(content["arguments"])
    if not requests:
        return Remark(field="arguments", what="holds no request of text alone")
    written = [isinstance(further, Mapping) for _, further in requests]
    if written == [True]:
        return _written(content, requests[0])
    if any(written):
        return Remark(field="arguments", what="asks more than one question")
    if len(requests) == 1:
        what = "is scored by the likelihood of a given text, which chat endpoints do not tell"
        return Remark(field="arguments", what=what)
    return _chosen(content, requests)


def _requests(arguments: Any) -> list[Request]:  # noqa: ANN401 - any JSON value
    """Requests as the harness writes them now, by name, or as it did before, as lists.

    Empty where one of them is more than text.
    """
    if isinstance(arguments, Mapping):
        arguments = [
            [*request.values()] if isinstance(request, Mapping) else request
            for request in arguments.values()
        ]
    found: list[Request] = []
    for request in arguments if isinstance(arguments, list) else ():
        match request:
            # A chat is logged as its JSON, alone in a list.
            case [str(context)] | [[str(context)]]:
                found.append((context, None))
            case [str(context), further] | [[str(context)], further]:
                found.append((context, further))
            case _:
                return []
    return found


def _written(content: Mapping[str, Any], request: Request) -> dict[str, Any] | Remark:
    """An item of a task whose answers are written."""
    target = _target(content)
    if isinstance(target, Remark):
        return target
    if _is_place(content["doc"], target):
        what = "is the place of a choice by its document, and no answer in words"
        return Remark(field="target", what=what)
    asked: Any = request[0]
    if asked.lstrip().startswith('[{"role"'):
        try:
            asked = samples.messages(json.loads(asked))
        except ValueError:
            return Remark(field="arguments", what="begins like chat messages, but is no JSON")
    if isinstance(asked, Remark):
        return asked
    if not asked:
        return Remark(field="arguments", what="asks nothing")
    return {"input": asked, "target": target}


def _target(content: Mapping[str, Any]) -> list[str] | Remark:
    """Right answers: of a worked one what stands behind ####, of several, written as one, each."""
    given, doc = content.get("target"), content["doc"]
    values = [*doc.values()] if isinstance(doc, Mapping) else []
    lists = [given, *(each for each in values if str(each) == given)]
    several = next((each for each in lists if isinstance(each, list)), [given])
    texts = [samples.as_text(each) for each in several if each is not None]
    answers = [samples.final(text).strip() for text in texts]
    if not answers or not all(answers):
        return Remark(field="target", what="is empty", todo="an item needs a right answer")
    return answers


def _is_place(doc: Any, target: Sequence[str]) -> bool:  # noqa: ANN401 - any JSON value
    fields = doc if isinstance(doc, Mapping) else {}
    places = [fields.get(label) for label in _LABELS]
    return any(isinstance(fields.get(name), list) for name in tables.USUAL_NAMES["choices"]) and (
        [*target] in [[str(place)] for place in places if type(place) is int]
    )


def _chosen(content: Mapping[str, Any], requests: Sequence[Request]) -> dict[str, Any] | Remark:
    """An item of a task that compares the likelihoods of choices."""
    # Some metrics ask every choice again without its question.
    asked = [request for request in requests if request[0].strip()]
    contexts = {context for context, _ in asked}
    choices = [samples.as_text(choice).strip() for _, choice in asked]
    if len(contexts) != 1 or not all(choices) or len(set(choices)) != len(choices):
        what = "compares likelihoods of more than the choices of one question"
        return Remark(field="arguments", what=what)
    place = _place(content, choices)
    if isinstance(place, Remark):
        return place
    context = contexts.pop()
    if all(_ONE_LETTER.fullmatch(choice) for choice in choices):
        own = {"kind": "choice", "letters": "".join(choices)}
        return {"input": context, "target": [choices[place]], "grader": own}
    return {
        "input": _question(content["doc"], context),
        "target": [samples.letter_of(place)],
        "choices": choices,
    }


def _place(content: Mapping[str, Any], choices: Sequence[str]) -> int | Remark:
    """Which choice is right: the target is its place, from 0, or its words."""
    target, doc = str(content.get("target")).strip(), content["doc"]
    by_words = choices.index(target) if target in choices else None
    by_place = int(target) if target.isdecimal() and int(target) < len(choices) else None
    found = {place for place in (by_words, by_place) if place is not None}
    if len(found) == 1:
        return found.pop()
    if not found:
        what = "is neither a choice nor a place among them, counted from 0"
        return Remark(field="target", what=what)
    labels = [doc.get(label) for label in _LABELS] if isinstance(doc, Mapping) else []
    numbered = found.intersection(label for label in labels if type(label) is int)
    if numbered == {by_place}:
        return numbered.pop()
    return Remark(field="target", what="may be a choice or a place among them")


def _question(doc: Any, context: str) -> str:  # noqa: ANN401 - any JSON value
    """The question, as the prompt lists the choices below it; the whole where that says more."""
    fields = doc if isinstance(doc, Mapping) else {}
    said = {name: text.strip() for name, text in fields.items() if isinstance(text, str)}
    shown = {name: text for name, text in said.items() if text and text in context}
    question = next((shown[name] for name in tables.USUAL_NAMES["input"] if name in shown), None)
    if question is None or any(
        len(text) >= SHORTEST_PASSAGE and text not in question for text in shown.values()
    ):
        return _CUE.sub("", context)
    return question


def _warn(place: str, document: Mapping[str, Any], reading: Reading) -> None:
    asked = document["input"]
    if isinstance(asked, str) and _CHAT_TOKENS.search(asked):
        what = "holds the chat template of one model, which other endpoints take for words"
        todo = "log the samples without --apply_chat_template"
        reading.change(place, Remark(field="arguments", what=what, todo=todo))
