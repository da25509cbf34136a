import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from monitor.domain.errors import SuiteError
from monitor.wire.imports.readings import Reading
from tests.unit.wire.imports import files

SAMPLE = {"id": 1, "epoch": 1, "input": "2 + 2?", "target": "4", "scores": {}, "uuid": "x"}


MATCH = {"name": "match", "options": {"numeric": True}}


def log(*samples: Mapping[str, Any], whole: int = 1, scorer: object = None) -> str:
    dataset = {"name": "sums", "samples": whole}
    scorers = [scorer] if scorer else None
    return json.dumps(
        {
            "version": 2,
            "status": "success",
            "eval": {"dataset": dataset, "scorers": scorers},
            "samples": samples,
        }
    )


def test_samples_are_taken_without_what_the_run_made_of_them() -> None:
    found = files.read("log.json", log(SAMPLE | {"metadata": {"op": "add"}, "messages": []}))
    assert files.documents(found) == [
        {"id": "1", "input": "2 + 2?", "target": ["4"], "metadata": {"op": "add"}}
    ]
    assert found.notes == ["log.json: an Inspect log of 1 samples"]


def test_a_run_on_a_part_is_told() -> None:
    found = files.read("log.json", log(SAMPLE, SAMPLE | {"epoch": 2}, whole=12, scorer=MATCH))
    (change,) = files.changed(found)
    assert change.startswith("log.json: holds 1 of the 12 samples of its data set (import the ")


def test_attachments_are_put_in_place() -> None:
    long = SAMPLE | {"input": "attachment://abc", "attachments": {"abc": "A long question?"}}
    lost = SAMPLE | {"target": ["attachment://def"]}
    found = files.read("log.json", log(long, lost))
    assert files.asked(found) == [("A long question?", ["4"])]
    assert files.left_out(found) == [
        "log.json: samples[1]: target: is kept apart from the log's text, and is not there"
    ]


SCORERS = [
    (MATCH, {"kind": "numeric"}),
    ({"name": "match", "options": {}}, None),
    ({"name": "inspect_evals/choice"}, {"kind": "choice"}),
    (
        {"name": "pattern", "options": {"pattern": r"(\d+)"}},
        {"kind": "regex", "pattern": r"(?i)(\d+)", "normalise": True},
    ),
    (
        {"name": "pattern", "options": {"pattern": r"(?s)(\d+)", "ignore_case": False}},
        {"kind": "regex", "pattern": r"(?s)(\d+)"},
    ),
    ({"name": "pattern", "options": {"pattern": r"(\d+)|(\w+)"}}, None),
    ({"name": "pattern", "options": {"pattern": "("}}, None),
    ({"name": "includes", "options": {}}, {"kind": "include", "inside_words": True}),
    (
        {"name": "includes", "options": {"ignore_case": False}},
        {"kind": "include", "inside_words": True, "case_sensitive": True},
    ),
    ({"name": "model_graded_qa"}, None),
    (None, None),
]


@pytest.mark.parametrize(("scorer", "grader"), SCORERS)
def test_scorers_with_a_counterpart_are_taken_over(scorer: object, grader: object) -> None:
    assert files.read("log.json", log(SAMPLE, scorer=scorer)).grader == grader


def test_scorers_and_solvers_that_are_not_taken_over_are_told() -> None:
    document = json.loads(log(SAMPLE, scorer={"name": "model_graded_qa"}))
    document["plan"] = {"steps": [{"solver": "system_message"}, {"solver": "generate"}]}
    graded, solved = files.changed(files.read("log.json", json.dumps(document)))
    assert graded.startswith("log.json: eval.scorers: 'model_graded_qa' has no counterpart, so")
    assert solved.startswith("log.json: plan.steps: the solver 'system_message' is not imported")
    document["eval"]["scorers"] = [{"name": "choice"}, {"name": "exact"}]
    told = files.changed(files.read("log.json", json.dumps(document)))[0]
    assert told.startswith("log.json: eval.scorers: 'exact' is not imported: an item has one")


def test_scorers_may_stand_in_the_results_alone() -> None:
    score = {"name": "x", "scorer": "match", "params": {"numeric": True}, "metrics": {}}
    document = json.loads(log(SAMPLE)) | {"results": {"scores": [score, score | {"name": "y"}]}}
    found = files.read("log.json", json.dumps(document))
    assert (found.grader, files.changed(found)) == ({"kind": "numeric"}, [])


def test_a_log_without_scorers_is_told() -> None:
    (change,) = files.changed(files.read("log.json", log(SAMPLE)))
    assert change.startswith("log.json: eval.scorers: names none, so that the grader is a guess")


def test_a_log_without_samples_is_an_error() -> None:
    with pytest.raises(SuiteError, match=r"log.json: holds no samples \(convert the whole log"):
        files.read("log.json", log())


def test_a_sample_that_is_none_is_left_out() -> None:
    found = files.read("log.json", '{"eval": {}, "samples": [3]}')
    assert files.left_out(found) == ["log.json: samples[0]: is no sample"]


def recorded(folder: Path, name: str) -> Reading:
    return files.read(name, (folder / "eval_logs/inspect" / name).read_bytes())


def test_recorded_logs(shared_data: Path) -> None:
    epochs = recorded(shared_data, "a_arith_epochs.json")
    assert len(epochs.drafts) == 24
    assert {each["id"] for each in files.documents(epochs)} == {f"ar-{n:02}" for n in range(1, 13)}
    part = recorded(shared_data, "b_arith_epochs_limit5.json")
    assert "holds 5 of the 12 samples" in files.changed(part)[0]
    choices = recorded(shared_data, "a_mcq_choice.json")
    assert (len(choices.drafts), len(choices.left_out)) == (11, 1)
    assert choices.grader == {"kind": "choice"}
