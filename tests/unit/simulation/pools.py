"""Small suites to be simulated."""

from collections.abc import Mapping, Sequence
from typing import Any

from monitor.domain.identifiers import ItemId, SuiteName
from monitor.domain.suites import (
    Generation,
    GraderSpec,
    Item,
    Message,
    Prompt,
    Suite,
    item_digest,
    suite_digest,
)


def item(
    name: str,
    asked: str | tuple[Message, ...] = "What?",
    *,
    target: Sequence[str] = ("yes",),
    choices: Sequence[str] = (),
) -> Item:
    return Item(
        id=ItemId(name),
        input=asked,
        target=tuple(target),
        choices=tuple(choices),
        digest=item_digest(input=asked, target=target, choices=choices),
    )


def suite(
    *items: Item, kind: str = "exact", options: Mapping[str, Any] | None = None, system: str = ""
) -> Suite:
    prompt, generation = Prompt(system=system or None), Generation()
    grader = GraderSpec(kind=kind, options=options or {})
    return Suite(
        name=SuiteName("pool"),
        items=items,
        prompt=prompt,
        generation=generation,
        grader=grader,
        digest=suite_digest(items=items, prompt=prompt, generation=generation, grader=grader),
    )
