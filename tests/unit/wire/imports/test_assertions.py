from typing import Any

import pytest

from monitor.domain.identifiers import ItemId
from monitor.domain.suites import GraderSpec, Item, item_digest
from monitor.grading import graders
from monitor.wire.imports import assertions
from monitor.wire.imports.assertions import Counterpart
from monitor.wire.imports.readings import Remark

# Type and value, answers that promptfoo passes, and answers that it fails.
GRADED = [
    ("equals", "Paris", ["Paris"], ["paris", "Paris!", "It is Paris"]),
    ("equals", 12, ["12"], ["012", "12.0"]),
    ("equals", {"sum": 5}, ['{"sum": 5}'], ['{"sum": 6}', "5"]),
    ("contains", "cat", ["the cat", "concatenate"], ["CAT", "dog"]),
    ("icontains", "cat", ["the CAT", "concatenate"], ["dog"]),
    ("contains-any", ["cat", "dog"], ["a dog", "a cat"], ["a Cat", "a cow"]),
    ("contains-any", "cat, dog", ["a dog"], ["a cow"]),
    ("contains-any", '"cat, dog", cow', ["a cat, dog"], ["a cat"]),
    ("icontains-any", ["cat", "dog"], ["a DOG"], ["a cow"]),
    ("starts-with", "Yes.", ["Yes. It is"], ["Yes, it is", "No. Yes."]),
]


def score(found: Counterpart, text: str) -> float | None:
    options = {name: value for name, value in found.grader.items() if name != "kind"}
    target = tuple(found.target)
    item = Item(
        id=ItemId("1"), input="?", target=target, digest=item_digest(input="?", target=target)
    )
    spec = GraderSpec(kind=found.grader["kind"], options=options)
    assert graders.problems(spec, item) == []
    return graders.grade(spec, item, text).score


@pytest.mark.parametrize(("kind", "value", "passes", "fails"), GRADED)
def test_counterparts_agree(kind: str, value: object, passes: list[str], fails: list[str]) -> None:
    found = assertions.counterpart({"type": kind, "value": value})
    assert isinstance(found, Counterpart)
    assert [score(found, text) for text in passes] == [1.0] * len(passes)
    assert [score(found, text) or 0.0 for text in fails] == [0.0] * len(fails)


WITHOUT = [
    ({"type": "javascript", "value": "true"}, "'javascript' is code, which is not run"),
    ({"type": "llm-rubric", "value": "kind"}, "'llm-rubric' asks another model"),
    ({"type": "not-contains", "value": "x"}, "'not-contains' forbids something"),
    ({"type": "regex", "value": r"\d"}, "'regex' has no counterpart"),
    ({"type": "new-thing"}, "'new-thing' has no counterpart"),
    ({"$ref": "#/assertionTemplates/a"}, "refers to what stands elsewhere"),
    ({}, "'None' has no counterpart"),
    ({"type": "equals", "value": "file://a.txt"}, "'equals' has its value in another file"),
    ({"type": "equals"}, "'equals' has its value in another file, or none"),
    ({"type": "equals", "value": ""}, "'equals' looks for an empty text"),
    ({"type": "equals", "value": "a", "transform": "output.x"}, "'equals' looks at what code"),
]


@pytest.mark.parametrize(("assertion", "reason"), WITHOUT)
def test_what_has_no_counterpart_has_a_reason(assertion: dict[str, Any], reason: str) -> None:
    found = assertions.counterpart(assertion)
    assert isinstance(found, Remark)
    assert found.what.startswith(reason)


WRITTEN = [
    ("Paris", {"type": "equals", "value": "Paris"}),
    ("icontains: Paris", {"type": "icontains", "value": "Paris"}),
    ("not-contains:x", {"type": "not-contains", "value": "x"}),
    ("similar(0.8): hello", {"type": "similar", "value": "hello"}),
    ("f-score(0.5): x", {"type": "f-score", "value": "x"}),
    ("is-json", {"type": "is-json", "value": None}),
    ("fn: output > 3", {"type": "javascript", "value": "output > 3"}),
    ("grade: is kind", {"type": "llm-rubric", "value": "is kind"}),
    ("Paris: a city", {"type": "equals", "value": "Paris: a city"}),
    ("note: 3", {"type": "equals", "value": "note: 3"}),
]


@pytest.mark.parametrize(("text", "assertion"), WRITTEN)
def test_assertions_in_tables(text: str, assertion: dict[str, Any]) -> None:
    assert assertions.written(text) == assertion
