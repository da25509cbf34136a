"""Answers graded by a program of the installation, over HTTP and to the published result."""

import sys
from dataclasses import replace
from pathlib import Path

from monitor.domain.answers import Status
from monitor.domain.suites import GraderSpec
from monitor.simulation import suites
from tests.scenario.single_runs import Seen, Setting, run

ITEMS = 30
POOL = suites.arithmetic_suite(ITEMS, seed=4)
HALF_CREDIT = """\
import json, sys
asked = json.load(sys.stdin)
right = asked["answer"].startswith(asked["item"]["target"][0])
"""
SCORES = HALF_CREDIT + 'print(json.dumps({"score": 1.0 if right else 0.5}))\n'
CRASHES = HALF_CREDIT + 'print(json.dumps({"score": 1.0}))\nraise SystemExit(0 if right else 1)\n'


async def graded(folder: Path, script: str) -> Seen:
    """An evaluation of every item by a script; the simulated model is right on some."""
    program = folder / "grader.py"
    program.write_text(script)
    grader = GraderSpec(kind="command", options={"name": "script"})
    setting = Setting(
        suite=replace(POOL, grader=grader),
        budget=ITEMS,
        policy={"missing_limit": 0.9},
        groups={"graders": {"commands": {"script": [sys.executable, "-I", str(program)]}}},
    )
    return await run(setting, folder)


async def test_the_score_of_a_program_is_the_score(tmp_path: Path) -> None:
    seen = await graded(tmp_path, SCORES)
    right = sum(map(bool, seen.right.values()))
    assert seen.estimate.value == (right + 0.5 * (ITEMS - right)) / ITEMS
    assert seen.findings.counts == {Status.GRADED: ITEMS}


async def test_a_program_that_fails_leaves_answers_missing(tmp_path: Path) -> None:
    seen = await graded(tmp_path, CRASHES)
    right = sum(map(bool, seen.right.values()))
    assert 0 < right < ITEMS
    assert seen.findings.counts == {Status.GRADED: right, Status.GRADER: ITEMS - right}
    assert seen.estimate.value == 1.0
