from collections.abc import Sequence

import pytest

from monitor.domain.identifiers import ItemId, SuiteName
from monitor.domain.suites import (
    Generation,
    GraderSpec,
    Item,
    Prompt,
    Suite,
    item_digest,
    suite_digest,
)
from monitor.prompting import templates
from monitor.wire.imports import suggestions

TARGETS = [
    (["12", "-3.5", "1,200", "3/4", "$5", "45%"], "numeric"),
    (["12", "twelve"], "normalised"),
    (["Paris", "La Paz"], "normalised"),
    (["12", r"\frac{1}{2}"], "math"),
    (["x^2 + 1", "$2$"], "math"),
    (['{"a": 1}', '{"b": 2}'], "json"),
    (["[1, 2", "[3"], "normalised"),
    (["Air scatters blue light more than it scatters red light"], "token_f1"),
]


def item(target: str, choices: Sequence[str] = ()) -> Item:
    digest = item_digest(input="?", target=(target,), choices=choices)
    return Item(
        id=ItemId(target), input="?", target=(target,), choices=tuple(choices), digest=digest
    )


@pytest.mark.parametrize(("targets", "kind"), TARGETS)
def test_the_grader_suits_the_targets(targets: list[str], kind: str) -> None:
    found, _ = suggestions.grader([item(target) for target in targets])
    assert found == {"kind": kind}


def test_items_with_choices_are_graded_by_their_letters() -> None:
    found, reason = suggestions.grader([item("A", ["x", "y"])])
    assert (found, reason) == ({"kind": "choice"}, "every item has choices")


def asked(user: str, shown: Item) -> str:
    prompt, grader = Prompt(user=user), GraderSpec(kind="exact")
    generation = Generation()
    digest = suite_digest(items=[shown], prompt=prompt, generation=generation, grader=grader)
    suite = Suite(
        name=SuiteName("s"),
        items=(shown,),
        prompt=prompt,
        generation=generation,
        grader=grader,
        digest=digest,
    )
    (message,) = templates.render(suite, shown)
    assert isinstance(message.content, str)
    return message.content


def test_prompts_show_choices_and_say_how_to_answer() -> None:
    mixed = suggestions.prompt(suggestions.ENDINGS["numeric"], choices={True, False})
    assert asked(mixed, item("A", ["x", "y"])) == (
        "?\n\nA) x\nB) y\n\nEnd with a line that says ANSWER: and the letter."
    )
    assert asked(mixed, item("1")) == "?\n\nEnd with a line that says ANSWER: and the number."


@pytest.mark.parametrize("grader", [{"kind": "exact"}, {"kind": "normalised", "answer": "whole"}])
def test_nothing_is_added_where_the_whole_answer_counts(grader: dict[str, str]) -> None:
    assert suggestions.prompt(suggestions.ending(grader), choices={False}) == "{{ input }}"
