"""docs/suites.md: its examples can be used as they stand, and it leaves nothing out."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from monitor.domain.answers import Grade
from monitor.domain.suites import GraderSpec, Item
from monitor.grading import (
    choice,
    exact,
    external,
    graders,
    include,
    json_fields,
    judge,
    lists,
    math_equality,
    normalised,
    numeric,
    regex,
    token_f1,
)
from monitor.history import outcomes
from monitor.simulation import knobs
from monitor.wire import suite_models
from monitor.wire.imports.assertions import COUNTERPARTS
from monitor.wire.imports.readings import Format
from monitor.wire.suites import Source, decode_suite
from tests.rules import suite_examples
from tests.rules.suite_examples import Example

EXAMPLES = suite_examples.suites()
OPTIONS = {
    "exact": exact.OPTIONS,
    "normalised": normalised.OPTIONS,
    "include": include.OPTIONS,
    "token_f1": token_f1.OPTIONS,
    "choice": choice.OPTIONS,
    "numeric": numeric.OPTIONS,
    "math": math_equality.OPTIONS,
    "list": lists.OPTIONS,
    "set": lists.OPTIONS,
    "json": json_fields.OPTIONS,
    "regex": regex.OPTIONS,
    "judge": judge.OPTIONS,
    "command": external.OPTIONS,
    "http": external.OPTIONS,
}
MODELS = (
    suite_models.SuiteModel,
    suite_models.PromptModel,
    suite_models.ExampleModel,
    suite_models.PartModel,
    suite_models.ChoicesModel,
    suite_models.GenerationModel,
    suite_models.AnswersModel,
)


async def grade(spec: GraderSpec, item: Item, text: str) -> Grade:
    """Grade in this process."""
    return graders.grade(spec, item, text)


@pytest.mark.parametrize("example", EXAMPLES)
async def test_suites_can_be_used(example: Example) -> None:
    suite = decode_suite(
        Source(name="suite.yaml", content=example.manifest.encode()),
        Source(name="items.jsonl", content=example.items.encode()),
    )
    assert await graders.self_check(suite, grade) == []


def test_every_grader_has_an_example() -> None:
    shown = "".join(example.manifest for example in EXAMPLES)
    kinds = [*graders.GRADERS, *graders.OUTSIDE]
    assert [kind for kind in kinds if f"kind: {kind}" not in shown] == []


@pytest.mark.parametrize("kind", [*graders.GRADERS, *graders.OUTSIDE])
def test_options_of_graders_are_documented(kind: str) -> None:
    assert suite_examples.rows(kind) == set(OPTIONS[kind])


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_fields_of_suites_are_in_an_example(model: type[suite_models.StrictModel]) -> None:
    shown = "".join(example.manifest for example in EXAMPLES)
    assert [name for name in model.model_fields if f"{name}:" not in shown] == []


def test_fields_of_items_are_documented() -> None:
    fields = {*suite_models.TextItemModel.model_fields}
    assert suite_examples.rows("items.jsonl") == fields


@pytest.mark.parametrize("name", [*Format, *COUNTERPARTS])
def test_what_can_be_imported_is_documented(name: str) -> None:
    _, _, text = suite_examples.TEXT.partition("## Import\n")
    assert f"`{name}`" in text


def test_arrays_are_documented_and_the_example_writes_them(tmp_path: Path) -> None:
    assert suite_examples.rows("Outcomes of earlier models") == {
        *outcomes.REQUIRED,
        *outcomes.OPTIONAL,
    }
    (script,) = suite_examples.blocks("python")
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True)
    assert outcomes.read_outcomes(tmp_path / "history.npz").items == ("fr", "bo")


def test_knobs_are_documented() -> None:
    everything = knobs.knobs_document(knobs.Knobs())
    assert suite_examples.rows("A simulated endpoint") == set(everything)
    assert [fault for fault in knobs.Fault if f"`{fault}`" not in suite_examples.TEXT] == []
    (shown,) = suite_examples.blocks("json knobs")
    assert knobs.parse_knobs(json.loads(shown)).latency == 0.2
