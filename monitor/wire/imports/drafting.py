"""Drafts of items put together to one suite that can be used as it stands."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any, NoReturn

from monitor.domain.errors import Problem, SuiteError
from monitor.domain.identifiers import ItemId, canonical_json
from monitor.domain.suites import GraderSpec, Item, Suite
from monitor.grading import graders
from monitor.wire import suites, yaml_documents
from monitor.wire.imports import suggestions
from monitor.wire.imports.readings import Draft, Reading, Remark, problems
from monitor.wire.suites import Source

ASKED = ("input", "target", "choices", "grader")
_TASK = re.compile(r"samples_(.+?)_\d{4}-\d\d-\d\dT[\d.-]+")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembled:
    """A suite, and the draft behind each of its items.

    repeats: records that say again what another has said.
    """

    suite: Suite
    drafts: Sequence[Draft]
    repeats: int


def name_of(file: str) -> str:
    """A name for a suite by that of a file."""
    stem = PurePath(file).stem
    task = _TASK.fullmatch(stem)
    return _NOT_IN_NAMES.sub("-", task[1] if task else stem).strip("-._")[:100] or "imported"


def assemble(reading: Reading, *, name: str, grader: Mapping[str, Any] | None) -> Assembled:
    """Put a suite together; what cannot be used is left out, and told in the reading.

    Args:
        reading: what the files hold.
        name: of the suite.
        grader: of all items, None for their own or a suggested one.

    Raises:
        SuiteError: nothing can be used, or the name or the grader given cannot.
    """
    drafts, repeats = _distinct(reading)
    if grader is not None:
        drafts = [_with_grader(draft, None) for draft in drafts]
    usable = _usable(drafts, reading)
    shared = grader or _shared_grader(usable, reading)
    drafts = usable if grader else [_graded(draft, shared) for draft in usable]
    kept = [
        draft
        for draft, item in zip(drafts, map(_item, drafts), strict=True)
        if _is_gradable(draft, item, shared, reading)
    ]
    if not kept:
        _refuse(reading)
    suite = _decode(name, shared, kept, reading)
    return Assembled(suite=suite, drafts=kept, repeats=repeats)


def without(assembled: Assembled, failed: Mapping[ItemId, Remark], reading: Reading) -> Assembled:
    """The same without some items.

    Args:
        assembled: the whole.
        failed: why, by the item's id.
        reading: is told of them.

    Raises:
        SuiteError: nothing is left.
    """
    kept = []
    for draft, item in zip(assembled.drafts, assembled.suite.items, strict=True):
        if item.id in failed:
            reading.leave_out(draft.place, failed[item.id])
        else:
            kept.append((draft, item))
    if not kept:
        _refuse(reading)
    manifest, _ = suites.encode_suite(assembled.suite)
    lines = b"".join(suites.encode_item(item) for _, item in kept)
    suite = suites.decode_suite(*_sources(manifest, lines))
    return Assembled(suite=suite, drafts=[draft for draft, _ in kept], repeats=assembled.repeats)


def _distinct(reading: Reading) -> tuple[list[Draft], int]:
    """Drafts without those that repeat one, and how many do."""
    first: dict[str, Draft] = {}
    repeats = 0
    for draft in reading.drafts:
        earlier = first.setdefault(str(draft.document["id"]), draft)
        if earlier is draft:
            continue
        if _asked(earlier) == _asked(draft):
            repeats += 1
            if draft.grader != earlier.grader:
                what, todo = "is another than before, which is taken", f"see {earlier.place}"
                reading.change(draft.place, Remark(field="grader", what=what, todo=todo))
        else:
            what = "is the id of another question already"
            todo = f"see {earlier.place}; give each its own, or name the column: --column id=COLUMN"
            reading.leave_out(draft.place, Remark(field="id", what=what, todo=todo))
    return [*first.values()], repeats


def _asked(draft: Draft) -> list[Any]:
    return [draft.document.get(field) for field in ASKED]


def _usable(drafts: Sequence[Draft], reading: Reading) -> list[Draft]:
    """Drafts that are items of a suite, whatever grades them."""
    usable = []
    for draft in drafts:
        try:
            _item(draft)
        except SuiteError as error:
            problem = error.problems[0]
            field = problem.where.partition(": ")[2]
            remark = Remark(field=field, what=problem.what, todo=problem.todo)
            reading.leave_out(draft.place, remark)
        else:
            usable.append(draft)
    return usable


def _item(draft: Draft) -> Item:
    return suites.decode_item(_line(draft))


def _shared_grader(drafts: Sequence[Draft], reading: Reading) -> Mapping[str, Any]:
    """The grader of items without their own; where all have one, the commonest."""
    if not drafts:
        _refuse(reading)
    graders_named = [draft.document.get("grader", draft.grader) for draft in drafts]
    bare = [
        _item(draft) for draft, named in zip(drafts, graders_named, strict=True) if named is None
    ]
    # Among others, items with choices get a grader of their own, see below.
    texts = [item for item in bare if not item.choices]
    shared: Mapping[str, Any]
    if not bare:
        own = Counter(map(canonical_json, graders_named))
        reason = "that of most items" if len(own) > 1 else "as the files have it"
        shared = json.loads(own.most_common(1)[0][0])
    else:
        shared, reason = suggestions.grader(texts or bare)
    reading.notes.append(f"grader: {shared['kind']}, {reason}")
    return shared


def _graded(draft: Draft, shared: Mapping[str, Any]) -> Draft:
    """A draft with a grader of its own only where it needs one."""
    own = draft.document.get("grader")
    if own is None:
        own = draft.grader or shared
        if "choices" in draft.document and own["kind"] in suggestions.FOR_TEXTS:
            own = {"kind": "choice"}
    return _with_grader(draft, None if own == shared else own)


def _is_gradable(draft: Draft, item: Item, shared: Mapping[str, Any], reading: Reading) -> bool:
    found = graders.problems(item.grader or _spec(shared), item)
    if not found:
        return True
    if item.grader is None and found[0].where.startswith("grader."):
        raise SuiteError(found)
    remark = Remark(field=found[0].where, what=found[0].what, todo=found[0].todo)
    reading.leave_out(draft.place, remark)
    return False


def _decode(
    name: str, grader: Mapping[str, Any], drafts: Sequence[Draft], reading: Reading
) -> Suite:
    choices = {"choices" in draft.document for draft in drafts}
    endings = {_ending(each, grader) for each in drafts if "choices" not in each.document}
    if len(endings) > 1:
        reading.notes.append("questions end in how to answer, as no prompt suits all of them")
        drafts, endings = [_with_ending(draft, grader) for draft in drafts], set()
    user = suggestions.prompt(next(iter(endings), ""), choices=choices)
    document = {"name": name, "prompt": {"user": user}, "grader": dict(grader)}
    manifest = yaml_documents.dump(document).encode()
    return suites.decode_suite(*_sources(manifest, b"".join(map(_line, drafts))))


def _ending(draft: Draft, shared: Mapping[str, Any]) -> str:
    return "" if draft.verbatim else suggestions.ending(draft.document.get("grader", shared))


def _with_ending(draft: Draft, shared: Mapping[str, Any]) -> Draft:
    """A draft whose question says how to answer, where the prompt does not."""
    document, ending = draft.document, _ending(draft, shared)
    if not ending or "choices" in document or not isinstance(document["input"], str):
        return draft
    return replace(draft, document=document | {"input": f"{document['input']}\n\n{ending}"})


def _sources(manifest: bytes, items: bytes) -> tuple[Source, Source]:
    return Source(name="suite.yaml", content=manifest), Source(name="items.jsonl", content=items)


def _with_grader(draft: Draft, grader: Mapping[str, Any] | None) -> Draft:
    document = {name: value for name, value in draft.document.items() if name != "grader"}
    if grader is not None:
        document["grader"] = grader
    return replace(draft, document=document, grader=None)


def _line(draft: Draft) -> bytes:
    # Escaped, so that no text can fail to be encoded before it is checked.
    return json.dumps(draft.document).encode() + b"\n"


def _spec(grader: Mapping[str, Any]) -> GraderSpec:
    options = {name: value for name, value in grader.items() if name != "kind"}
    return GraderSpec(kind=str(grader.get("kind")), options=options)


def _refuse(reading: Reading) -> NoReturn:
    todo = "see what is said of each record"
    none = Problem(where="import", what="nothing can be used", todo=todo)
    raise SuiteError([*problems(reading.left_out), none])
