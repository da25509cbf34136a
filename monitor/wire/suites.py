"""The two files of a suite: how it is asked and graded (`suite.yaml`), and its items.

    name: capitals                 # suite.yaml
    description: Capitals of the world
    prompt: {user: "{{ input }}", system: Answer in one word.}
    generation: {temperature: 0, max_tokens: 64}
    grader: {kind: normalised}     # further keys are options of the grader
    answers: {refusal_score: 0}    # optional: what to make of answers that no grader sees
    items: items.jsonl             # optional: a file in the same folder

    {"id": "fr", "input": "Capital of France?", "target": "Paris"}    # one line of items.jsonl

An item may also have `choices`, `group`, `metadata` and a `grader` of its own; `input` may be chat
messages, `target` a list of right answers. Whatever is wrong is found at once, each with its line.

Digests are those of `domain.suites`: an item's covers input, target, choices and its own grader; a
suite's covers ids and digests of the items in their order, prompt, generation, grader and answers,
and neither name, description nor groups. Where a template reads `metadata`, that is part of the
question, so it enters the item's digest as well.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, assert_never

import yaml
from pydantic import ValidationError

from monitor.domain import errors, identifiers, suites
from monitor.grading import graders
from monitor.prompting import templates
from monitor.wire import item_lines, yaml_documents
from monitor.wire.item_lines import Finding, Line
from monitor.wire.suite_models import ITEMS, SuiteModel
from monitor.wire.yaml_documents import Document


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file that was read, and what to call it in messages."""

    name: str
    content: bytes


def items_file(manifest: Source) -> str:
    """Name of the items file that a suite.yaml gives, or the usual one where it gives none."""
    _, model, _ = _manifest(manifest)
    return model.items if model else ITEMS


def decode_suite(manifest: Source, items: Source) -> suites.Suite:
    """Read a suite from the bytes of its suite.yaml and its items file.

    Raises:
        SuiteError: everything that is wrong with either file, with file, line and field.
    """
    document, model, problems = _manifest(manifest)
    lines, findings = item_lines.read(items.content)
    if model is None:
        raise errors.SuiteError(problems + item_lines.problems(findings, name=items.name))
    suite = _suite(model, lines)
    broken = templates.problems(suite.prompt)
    problems += _placed(broken, document)
    problems += _placed(_shared_grader_problems(suite), document)
    for line, item in zip(lines, suite.items, strict=True):
        found = [*_grader_problems(suite, item), *([] if broken else _rendering(suite, item))]
        findings += [
            Finding(line=line.number, field=each.where, what=each.what, todo=each.todo)
            for each in found
        ]
    problems += item_lines.problems(findings, name=items.name)
    if problems:
        raise errors.SuiteError(problems)
    return suite


def decode_item(line: bytes) -> suites.Item:
    """Read one line of an items file, leaving aside whether a grader can use it.

    Raises:
        SuiteError: everything that is wrong with it.
    """
    lines, findings = item_lines.read(line)
    if findings:
        raise errors.SuiteError(item_lines.problems(findings, name=ITEMS))
    return lines[0].model.item(metadata_is_asked=False)


def encode_suite(suite: suites.Suite, *, description: str = "") -> tuple[bytes, bytes]:
    """Bytes of a suite.yaml and of an items.jsonl that decode to this suite."""
    document = {
        "name": str(suite.name),
        "description": description,
        "prompt": asdict(suite.prompt),
        "generation": {**asdict(suite.generation), "stop": list(suite.generation.stop)},
        "grader": _grader_document(suite.grader),
        "answers": asdict(suite.rules),
    }
    text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True)
    return text.encode(), b"".join(encode_item(item) for item in suite.items)


def encode_item(item: suites.Item) -> bytes:
    """One line of an items file, with its line break."""
    asked: Any = item.input
    if not isinstance(asked, str):
        asked = [_message_document(message) for message in asked]
    document = {
        "id": item.id,
        "input": asked,
        "target": list(item.target),
        "choices": list(item.choices) or None,
        "group": item.group,
        "metadata": dict(item.metadata) or None,
        "grader": _grader_document(item.grader) if item.grader else None,
    }
    given = {name: value for name, value in document.items() if value is not None}
    return json.dumps(given, ensure_ascii=False, allow_nan=False).encode() + b"\n"


def _manifest(source: Source) -> tuple[Document, SuiteModel | None, list[errors.Problem]]:
    document, problems = yaml_documents.parse(source.content, name=source.name)
    if problems and document.content is None:
        return document, None, problems
    try:
        return document, SuiteModel.model_validate(document.content), problems
    except ValidationError as error:
        found = yaml_documents.explain(
            error, SuiteModel, content=document.content, where=document.where
        )
        return document, None, problems + found


def _suite(model: SuiteModel, lines: Sequence[Line]) -> suites.Suite:
    prompt = suites.Prompt(user=model.prompt.user, system=model.prompt.system)
    generation, grader = model.generation.generation(), model.grader.spec()
    rules = model.answers.rules()
    is_asked = not templates.problems(prompt) and templates.reads_metadata(prompt)
    items = tuple(line.model.item(metadata_is_asked=is_asked) for line in lines)
    return suites.Suite(
        name=identifiers.SuiteName(model.name),
        items=items,
        prompt=prompt,
        generation=generation,
        grader=grader,
        rules=rules,
        digest=suites.suite_digest(
            items=items, prompt=prompt, generation=generation, grader=grader, rules=rules
        ),
    )


def _is_option(problem: errors.Problem) -> bool:
    return problem.where.startswith("grader.")


def _placed(problems: Sequence[errors.Problem], document: Document) -> Iterator[errors.Problem]:
    """Problems whose place is a field of suite.yaml, with file and line."""
    for problem in problems:
        where = document.where(tuple(problem.where.split(".")))
        yield errors.Problem(where=where, what=problem.what, todo=problem.todo)


def _shared_grader_problems(suite: suites.Suite) -> list[errors.Problem]:
    """What is wrong with the options of the suite's grader, once, whatever the number of items."""
    found = (
        problem
        for item in suite.items
        if item.grader is None
        for problem in graders.problems(suite.grader, item)
    )
    return list(dict.fromkeys(filter(_is_option, found)))


def _grader_problems(suite: suites.Suite, item: suites.Item) -> list[errors.Problem]:
    """What is wrong with the item, and with the options of its own grader where it has one."""
    found = graders.problems(suite.grader_of(item), item)
    return [problem for problem in found if item.grader or not _is_option(problem)]


def _rendering(suite: suites.Suite, item: suites.Item) -> Sequence[errors.Problem]:
    try:
        templates.render(suite, item)
    except errors.SuiteError as error:
        return error.problems
    return ()


def _grader_document(grader: suites.GraderSpec) -> dict[str, Any]:
    return {"kind": grader.kind, **grader.options}


def _message_document(message: suites.Message) -> dict[str, Any]:
    if isinstance(message.content, str):
        return {"role": message.role, "content": message.content}
    parts = [_part_document(part) for part in message.content]
    return {"role": message.role, "content": parts}


def _part_document(part: suites.Part) -> dict[str, str]:
    match part:
        case suites.TextPart(text=text):
            return {"type": "text", "text": text}
        case suites.ImagePart(url=url):
            return {"type": "image", "image": url}
        case _:
            assert_never(part)
