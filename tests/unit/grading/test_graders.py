from dataclasses import replace
from typing import Any

import pytest

from monitor.domain.answers import Grade, Ungraded
from monitor.domain.identifiers import SuiteName
from monitor.domain.suites import Generation, GraderSpec, Item, Prompt, Suite, suite_digest
from monitor.grading import graders
from tests.unit.grading.examples import found_wrong, graded, item


def suite(on: Item, kind: str, **options: Any) -> Suite:  # noqa: ANN401
    grader = GraderSpec(kind=kind, options=options)
    prompt, generation = Prompt(), Generation()
    digest = suite_digest(items=[on], prompt=prompt, generation=generation, grader=grader)
    return Suite(
        name=SuiteName("s"),
        items=(on,),
        prompt=prompt,
        generation=generation,
        grader=grader,
        digest=digest,
    )


async def here(spec: GraderSpec, on: Item, text: str) -> Grade:
    return graders.grade(spec, on, text)


def test_grade_tells_what_it_read() -> None:
    assert graded("numeric", "so 41", item("42")) == Grade(score=0.0, extracted="41")
    assert graded("numeric", "none", item("42")) == Grade(ungraded=Ungraded.NO_ANSWER)


def test_unknown_grader() -> None:
    (problem,) = graders.problems(GraderSpec(kind="numerical"), item())
    assert str(problem) == ("grader.kind: unknown grader 'numerical' (did you mean numeric?)")


def test_no_target() -> None:
    bare = Item(id=item().id, input="?", target=(), digest=item().digest)
    assert found_wrong("exact", bare) == ["target: no target to compare with"]


@pytest.mark.parametrize(
    ("target", "kind", "options"),
    [
        ("42", "numeric", {}),
        ("$1,200", "numeric", {"answer": "stated"}),
        ("Paris", "normalised", {"marker": ">>"}),
        ("Paris", "exact", {"answer": "stated"}),
        ("Paris", "regex", {"pattern": r"(?i)answer: (\w+)"}),
        ("Paris", "regex", {"pattern": r"the very end is (\w+)"}),
    ],
)
async def test_target_is_right_by_its_own_grader(target: str, kind: str, options: Any) -> None:  # noqa: ANN401
    assert await graders.self_check(suite(item(target), kind, **options), here) == []


async def test_letters_in_targets_are_those_before_shuffling() -> None:
    shuffled = replace(item("A", "y", choices=("x", "y", "z")), order=(2, 0, 1))
    assert await graders.self_check(suite(shuffled, "choice"), here) == []


@pytest.mark.parametrize(
    ("target", "kind", "options"),
    [
        ("The answer is blowing", "normalised", {}),
        ("AB-12", "regex", {"pattern": r"\w+"}),
        ("`x`", "exact", {"marker": ">>"}),
    ],
)
async def test_target_that_its_own_grader_takes_for_wrong(
    target: str,
    kind: str,
    options: Any,  # noqa: ANN401
) -> None:
    (problem,) = await graders.self_check(suite(item(target), kind, **options), here)
    assert problem.where == "item 1, target"
    assert kind in problem.todo


async def test_the_first_target_that_takes_too_long_is_the_last() -> None:
    asked: list[str] = []

    async def slow(_spec: GraderSpec, _on: Item, text: str) -> Grade:
        asked.append(text)
        return Grade(ungraded=Ungraded.TIME_LIMIT)

    slowly = suite(item("a", "b", "c"), "regex", pattern="(a+)+$")
    (problem,) = await graders.self_check(slowly, slow)
    assert asked == ["a"]
    assert "takes too long" in problem.what
