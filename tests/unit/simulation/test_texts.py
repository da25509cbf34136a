from collections.abc import Mapping
from typing import Any

import pytest

from monitor.domain import errors
from monitor.domain.answers import Ungraded
from monitor.domain.suites import Item
from monitor.grading import graders
from monitor.simulation import suites, texts
from tests.unit.simulation import pools

CHOICES = ("red", "green", "blue")
GRADED: dict[str, tuple[str, Mapping[str, Any], Item]] = {
    "exact": ("exact", {}, pools.item("a", target=["Paris"])),
    "exact, one letter": ("exact", {}, pools.item("a", target=["z"])),
    "exact, symbols only": ("exact", {}, pools.item("a", target=["+"])),
    "exact, stated": ("exact", {"answer": "stated"}, pools.item("a", target=["Paris"])),
    "exact, marked": ("exact", {"marker": "Result"}, pools.item("a", target=["Paris"])),
    "normalised": ("normalised", {}, pools.item("a", target=["the Louvre"])),
    "normalised, stated": ("normalised", {"answer": "stated"}, pools.item("a", target=["a", "b"])),
    "choice by letter": ("choice", {}, pools.item("a", target=["B"], choices=CHOICES)),
    "choice, last": ("choice", {}, pools.item("a", target=["C"], choices=CHOICES)),
    "choice, in the question": ("choice", {"letters": "AB"}, pools.item("a", target=["B"])),
    "numeric": ("numeric", {}, pools.item("a", target=["-242"])),
    "numeric, nines": ("numeric", {}, pools.item("a", target=["0.99"])),
    "json": ("json", {"score": "share"}, pools.item("a", target=['{"a": [true, 1], "b": "x"}'])),
    "json, an array": ("json", {}, pools.item("a", target=["[true]"])),
    "regex": ("regex", {"pattern": r"(?i)answer: (\w+)"}, pools.item("a", target=["B"])),
    "regex, digits in words": ("regex", {"pattern": r"\d+ km"}, pools.item("a", target=["12 km"])),
    "regex, words": ("regex", {"pattern": "[a-z]+ 7"}, pools.item("a", target=["gate 7"])),
    "regex, last of a range": ("regex", {"pattern": "[A-D]"}, pools.item("a", target=["D"])),
    "regex, tags": ("regex", {"pattern": "<answer>(.*?)</answer>"}, pools.item("a")),
}


@pytest.mark.parametrize(("kind", "options", "item"), GRADED.values(), ids=GRADED)
def test_right_and_wrong_are_what_the_grader_says(
    kind: str, options: Mapping[str, Any], item: Item
) -> None:
    suite = pools.suite(item, kind=kind, options=options)
    (found,) = texts.texts(suite)
    assert graders.grade(suite.grader, item, found.right).score == 1.0
    assert graders.grade(suite.grader, item, found.wrong).score == 0.0


@pytest.mark.parametrize(("kind", "options", "item"), GRADED.values(), ids=GRADED)
def test_wrong_answers_differ_in_what_they_say(
    kind: str, options: Mapping[str, Any], item: Item
) -> None:
    suite = pools.suite(item, kind=kind, options=options)
    found = texts.wrong_texts(suite, item, most=3)
    grades = [graders.grade(suite.grader, item, text) for text in found]
    assert {grade.score for grade in grades} == {0.0}
    assert len({grade.extracted for grade in grades}) == len(found) <= 3
    assert found[0] == texts.texts(suite)[0].wrong


def test_there_may_be_fewer_wrong_answers() -> None:
    item = pools.item("a", target=["B"], choices=CHOICES)
    assert len(texts.wrong_texts(pools.suite(item, kind="choice"), item, most=9)) == 2


def test_answers_read_like_those_of_a_model() -> None:
    chosen = pools.suite(pools.item("a", target=["B"], choices=CHOICES), kind="choice")
    assert texts.texts(chosen)[0] == texts.Texts(
        right="The answer is (B).", wrong="The answer is (A)."
    )
    (computed,) = texts.texts(suites.arithmetic_suite(1))
    assert " = " in computed.right
    assert " = " in computed.wrong


def test_an_answer_that_is_none_has_none() -> None:
    suite = suites.arithmetic_suite(1)
    graded = graders.grade(suite.grader, suite.items[0], texts.NO_ANSWER)
    assert graded.ungraded is Ungraded.NO_ANSWER


def never(*names: str) -> list[Item]:
    return [pools.item(name) for name in names]


def problem_of(*items: Item, pattern: str) -> str:
    suite = pools.suite(*items, kind="regex", options={"pattern": pattern})
    with pytest.raises(errors.SuiteError) as caught:
        texts.texts(suite)
    (problem,) = caught.value.problems
    return problem.what


def test_items_that_cannot_be_answered_are_named_together() -> None:
    what = problem_of(
        pools.item("fits", target=["1"]), *never("never", "nor this"), pattern=r"^(\d)$"
    )
    assert what == "no simulated answer is graded 1 by the regex grader of never, nor this"


def test_of_many_items_the_first_are_named() -> None:
    assert problem_of(*never(*"abcdefg"), pattern=r"^(\d)$").endswith("of a, b, c, d, e and 2 more")


def test_items_that_are_always_right_are_named() -> None:
    what = problem_of(pools.item("a", target=["x"]), pattern="x|")
    assert what == "no simulated answer is graded 0 by the regex grader of a"


@pytest.mark.parametrize("kind", graders.OUTSIDE)
def test_graders_that_cost_are_not_asked_for_a_simulation(kind: str) -> None:
    item = pools.item("a", target=["Paris"])
    suite = pools.suite(item, kind=kind, options={})
    (found,) = texts.texts(suite)
    assert "Paris" in found.right
    assert "Paris" not in found.wrong
    assert texts.wrong_texts(suite, item, most=3) == (found.wrong,)
