import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from monitor.app import suite_checks
from monitor.app.suite_checks import Checked, Figures

SHOWN = "{{ input }} {% for letter, text in choices %}{{ letter }}) {{ text }} {% endfor %}"
CHOICES = {"choices": ["red", "green"], "target": "A"}


def check(
    folder: Path, *items: Mapping[str, Any], grader: str = "exact", prompt: str = SHOWN
) -> Checked:
    """Check a suite of such items; what they leave out is filled in."""
    manifest = {"name": "s", "grader": {"kind": grader}, "prompt": {"user": prompt}}
    lines = [
        json.dumps({"id": str(n), "input": f"{n}?", "target": f"answer {n}", **item})
        for n, item in enumerate(items)
    ]
    (folder / "suite.yaml").write_text(json.dumps(manifest))
    (folder / "items.jsonl").write_text("\n".join(lines))
    return asyncio.run(suite_checks.check_file(folder))


def warnings(checked: Checked) -> list[str]:
    assert checked.report.problems == []
    return [warning.what for warning in checked.report.warnings]


def test_a_suite_that_cannot_be_read_has_problems_and_no_figures(tmp_path: Path) -> None:
    checked = asyncio.run(suite_checks.check_file(tmp_path))
    assert len(checked.report.problems) == 1
    assert checked.figures is None


def test_a_target_that_its_grader_does_not_take_is_a_problem(tmp_path: Path) -> None:
    checked = check(tmp_path, {"grader": {"kind": "regex", "pattern": "(b)"}, "target": "abc"})
    (problem,) = checked.report.problems
    assert problem.where == "item 0, target"


PECULIAR = [
    ({**CHOICES, "grader": {"kind": "choice"}}, "{{ input }}", "with choices that the model is"),
    (CHOICES, SHOWN, "with choices, but a grader that does not know them"),
    (
        {"choices": ["red", "Red"], "target": "A", "grader": {"kind": "choice"}},
        SHOWN,
        "with the same choice twice",
    ),
    (
        {"input": "Is the sky blue or red?", "target": "blue", "grader": {"kind": "include"}},
        SHOWN,
        "whose question holds a target",
    ),
]


@pytest.mark.parametrize(("item", "prompt", "warning"), PECULIAR)
def test_a_peculiar_item_is_a_warning(
    item: Mapping[str, Any], prompt: str, warning: str, tmp_path: Path
) -> None:
    (found,) = warnings(check(tmp_path, {}, item, prompt=prompt))
    assert found.startswith(f"1 item {warning}")
    assert found.endswith(", the first is '1'")


PICTURED = [{"role": "user", "content": [{"type": "image", "image": "https://host/p.png"}]}]
SHOWN_OTHERWISE = [
    {"input": "red or green?"},
    {"input": [{"role": "user", "content": "red or green?"}]},
    {"input": PICTURED},
]


@pytest.mark.parametrize("item", SHOWN_OTHERWISE)
def test_choices_may_stand_in_the_question_or_in_a_picture(
    item: Mapping[str, Any], tmp_path: Path
) -> None:
    shown = {**CHOICES, "grader": {"kind": "choice"}, **item}
    assert warnings(check(tmp_path, shown, prompt="{{ input }}")) == []


def test_questions_asked_twice_are_a_warning(tmp_path: Path) -> None:
    same, other = {"input": "a?", "target": "b"}, {"input": "c?"}
    found = warnings(
        check(tmp_path, same, same, other, other, {"input": "a", "choices": ["x", "y"]})
    )
    assert found[-2:] == [
        "1 question asked with different targets, the first by 2, 3",
        "1 question asked more than once, the first by 0, 1",
    ]


def test_one_answer_that_is_right_for_most_is_a_warning(tmp_path: Path) -> None:
    items = [{"target": "Yes"} if n % 3 else {} for n in range(30)]
    assert warnings(check(tmp_path, *items)) == ["67% of the items have the target 'yes'"]
    assert warnings(check(tmp_path, *items[:12])) == []


def test_groups_of_one_are_a_warning(tmp_path: Path) -> None:
    found = warnings(check(tmp_path, {"group": "a"}, {"group": "b"}, {"group": "b"}, {}))
    assert found == ["1 group of a single item, the first is 'a'"]


def test_figures(tmp_path: Path) -> None:
    items = ({"group": "b"}, {"group": "a", "target": "x"}, {"target": "x", "input": "y" * 400})
    assert check(tmp_path, *items, prompt="{{ input }}").figures == Figures(
        items=3,
        groups={"": 1, "a": 1, "b": 1},
        graders={"exact": 3},
        different_targets=2,
        question_tokens=34,
        answer_tokens=512,
    )
