"""The two files of a suite: how it is asked and graded (`suite.yaml`), and its items.

    name: capitals                 # suite.yaml
    description: Capitals of the world
    prompt: {user: "{{ input }}", system: Answer in one word.}
    generation: {temperature: 0, max_tokens: 64}
    grader: {kind: normalised}     # further keys are options of the grader
    answers: {refusal_score: 0}    # optional: what to make of answers that no grader sees
    choices: {shuffle: true}       # optional: in which order they are shown
    items: items.jsonl             # optional: a file in the same folder

    {"id": "fr", "input": "Capital of France?", "target": "Paris"}    # one line of items.jsonl

An item may also have `choices`, `group`, `metadata` and a `grader`, `generation` and `prompt` of
its own; `input` may be chat messages, `target` a list of right answers. Whatever is wrong is found
at once, each with its line.

Digests are those of `domain.suites`: an item's covers input, target, choices and what it has of its
own; a suite's covers ids and digests of the items in their order, prompt, generation, grader and
answers, and neither name, description nor groups. Where a template reads `metadata`, that is part
of the question, so it enters the item's digest as well. Of a picture in a file the bytes count, not
its name.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, assert_never

from pydantic import ValidationError

from monitor.domain import errors, identifiers, suites
from monitor.grading import graders
from monitor.prompting import templates
from monitor.wire import images, item_lines, yaml_documents
from monitor.wire.item_lines import Finding, Line
from monitor.wire.suite_models import ITEMS, FindImage, SuiteModel, bytes_of_images
from monitor.wire.yaml_documents import Document


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file that was read, and what to call it in messages."""

    name: str
    content: bytes


def items_file(manifest: Source) -> str:
    """Name of the items file that a suite.yaml gives, or the usual one where it gives none."""
    _, model, _ = _manifest(manifest, None)
    return model.items if model else ITEMS


def decode_suite(
    manifest: Source, items: Source, find_image: FindImage | None = None
) -> suites.Suite:
    """Read a suite from the bytes of its suite.yaml and its items file.

    Args:
        manifest: suite.yaml.
        items: the items file.
        find_image: finds pictures in files; without it they are not looked for.

    Raises:
        SuiteError: everything that is wrong with either file, with file, line and field.
    """
    document, model, problems = _manifest(manifest, find_image)
    lines, findings = item_lines.read(items.content, find_image)
    if model is None:
        raise errors.SuiteError(problems + item_lines.problems(findings, name=items.name))
    suite = _suite(model, lines)
    broken = templates.problems(suite.prompt)
    problems += _placed(broken, document)
    problems += _placed(_shared_grader_problems(suite), document)
    for line, item in zip(lines, suite.items, strict=True):
        found = _grader_problems(suite, item)
        if not broken:
            found += [*_choices_problems(suite, item), *_rendering(suite, item)]
        findings += [
            Finding(line=line.number, field=each.where, what=each.what, todo=each.todo)
            for each in found
        ]
    problems += item_lines.problems(findings, name=items.name)
    if problems:
        raise errors.SuiteError(problems)
    return suite


def decode_item(line: bytes) -> suites.Item:
    """Read one line of an items file, leaving aside its pictures and whether a grader can use it.

    Raises:
        SuiteError: everything that is wrong with it.
    """
    lines, findings = item_lines.read(line)
    if findings:
        raise errors.SuiteError(item_lines.problems(findings, name=ITEMS))
    return lines[0].model.item()


def encode_suite(suite: suites.Suite, *, description: str = "") -> tuple[bytes, bytes]:
    """Bytes of a suite.yaml and of an items.jsonl that decode to this suite."""
    document = {
        "name": str(suite.name),
        "description": description,
        "prompt": _prompt_document(
            {"user": suite.prompt.user, "system": suite.prompt.system}
            | ({"examples": suite.prompt.examples} if suite.prompt.examples else {})
        ),
        "generation": {**asdict(suite.generation), "stop": list(suite.generation.stop)},
        "grader": _grader_document(suite.grader),
        "answers": asdict(suite.rules),
    }
    if suite.shuffle is not None:
        document["choices"] = {"shuffle": True, "seed": suite.shuffle}
    text = yaml_documents.dump(document)
    lines = (encode_item(item, shuffles=suite.shuffle is not None) for item in suite.items)
    return text.encode(), b"".join(lines)


def encode_item(item: suites.Item, *, shuffles: bool = False) -> bytes:
    """One line of an items file, with its line break.

    Args:
        item: what to write.
        shuffles: the suite shuffles choices, so that an item in order must say so.
    """
    asked: Any = item.input
    if not isinstance(asked, str):
        asked = [
            {"role": message.role, "content": _content_document(message.content)}
            for message in asked
        ]
    document = {
        "id": item.id,
        "input": asked,
        "target": list(item.target),
        "choices": list(item.choices) or None,
        "group": item.group,
        "metadata": dict(item.metadata) or None,
        "grader": _grader_document(item.grader) if item.grader else None,
        "shuffle": False if shuffles and item.choices and not item.order else None,
        "generation": dict(item.generation) or None,
        "prompt": _prompt_document(item.prompt) or None,
    }
    given = {name: value for name, value in document.items() if value is not None}
    return json.dumps(given, ensure_ascii=False, allow_nan=False).encode() + b"\n"


def _manifest(
    source: Source, find_image: FindImage | None
) -> tuple[Document, SuiteModel | None, list[errors.Problem]]:
    document, problems = yaml_documents.parse(source.content, name=source.name)
    if problems and document.content is None:
        return document, None, problems
    try:
        model = SuiteModel.model_validate(document.content, context=find_image)
    except ValidationError as error:
        found = yaml_documents.explain(
            error, SuiteModel, content=document.content, where=document.where
        )
        return document, None, problems + found
    return document, model, problems


def _suite(model: SuiteModel, lines: Sequence[Line]) -> suites.Suite:
    prompt, generation = model.prompt.prompt(), model.generation.generation()
    grader, rules = model.grader.spec(), model.answers.rules()
    shuffle = model.choices.seed if model.choices.shuffle else None

    def reads_metadata(own: Mapping[str, Any]) -> bool:
        return templates.reads(replace(prompt, **own), "metadata")

    items = tuple(
        _shown(
            line.model.item(reads_metadata=reads_metadata), shuffle if line.model.shuffle else None
        )
        for line in lines
    )
    return suites.Suite(
        name=identifiers.SuiteName(model.name),
        items=items,
        prompt=prompt,
        generation=generation,
        grader=grader,
        rules=rules,
        shuffle=shuffle,
        digest=suites.suite_digest(
            items=items, prompt=prompt, generation=generation, grader=grader, rules=rules
        ),
    )


def _shown(item: suites.Item, seed: int | None) -> suites.Item:
    """The item with its choices in the order in which they are shown."""
    if seed is None or not item.choices:
        return item
    return replace(item, order=suites.shuffled(len(item.choices), seed=seed, item=item.digest))


def _choices_problems(suite: suites.Suite, item: suites.Item) -> Iterator[errors.Problem]:
    """Why an item's choices cannot all be shown, or their order not be undone in grading."""
    keep = "or keep them in order: shuffle: false"
    count, has_letters = len(item.choices), suite.grader_of(item).kind == "choice"
    # The grader choice says so itself, whether or not they are shown.
    if not has_letters and count > templates.MOST_CHOICES and templates.shows_choices(suite, item):
        what = f"{count} choices are shown, but there are {templates.MOST_CHOICES} letters"
        yield errors.Problem(where="choices", what=what, todo="give fewer")
    if item.order and not has_letters:
        what = "only the grader choice knows which choice a letter stood for"
        yield errors.Problem(where="choices", what=what, todo=f"take that one, {keep}")
    if item.order and not templates.shows_choices(suite, item):
        what = "no template shows the choices in the order that they are shuffled to"
        yield errors.Problem(
            where="choices", what=what, todo=f"name choices in prompt.user, {keep}"
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
        messages = templates.render(suite, item)
    except errors.SuiteError as error:
        return error.problems
    if sum(bytes_of_images(message.content) for message in messages) <= images.LARGEST_TOGETHER:
        return ()
    most = images.LARGEST_TOGETHER // images.MIB
    what = f"is sent with more than {most} MiB of pictures, those of examples included"
    return [errors.Problem(where="input", what=what, todo="show fewer or smaller ones")]


def _grader_document(grader: suites.GraderSpec) -> dict[str, Any]:
    return {"kind": grader.kind, **grader.options}


def _prompt_document(fields: Mapping[str, Any]) -> dict[str, Any]:
    document = dict(fields)
    if "examples" in document:
        document["examples"] = [
            {"user": _content_document(example.user), "assistant": example.assistant}
            for example in document["examples"]
        ]
    return document


def _content_document(content: suites.Content) -> str | list[dict[str, str]]:
    return content if isinstance(content, str) else [_part_document(part) for part in content]


def _part_document(part: suites.Part) -> dict[str, str]:
    match part:
        case suites.TextPart(text=text):
            return {"type": "text", "text": text}
        case suites.ImagePart(url=image, detail=detail):
            pass
        case suites.ImageFile(name=image, detail=detail):
            pass
        case _:
            assert_never(part)
    return {"type": "image", "image": image} | ({"detail": detail} if detail else {})
