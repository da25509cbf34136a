from dataclasses import replace
from pathlib import Path

import pytest

from monitor.adapters.suite_files import write_suite
from monitor.app import grading, suite_checks
from monitor.domain.answers import Grade
from monitor.domain.suites import GraderSpec
from monitor.settings import GraderSettings, SuiteSettings
from tests.unit.app import installations
from tests.unit.app.installations import SUITE

TWO_JUDGES = GraderSpec(kind="judge", options={"judges": 2})
TESTS = GraderSpec(kind="command", options={"name": "tests"})
SANDBOX = GraderSpec(kind="http", options={"name": "sandbox"})
ALLOWED = GraderSettings(
    commands={"tests": ("/bin/true",)}, urls={"sandbox": "http://sandbox:8000/grade"}
)


def lacks(spec: GraderSpec, *judges: str, allowed: GraderSettings = ALLOWED) -> list[str]:
    own = SuiteSettings(path=Path("suite"), judges=judges)
    return [str(each) for each in grading.problems(replace(SUITE, grader=spec), own, allowed)]


@pytest.mark.parametrize(
    ("spec", "judges"),
    [(SUITE.grader, ()), (TWO_JUDGES, ("a", "b")), (TESTS, ()), (SANDBOX, ())],
)
def test_what_is_configured_is_ready(spec: GraderSpec, judges: tuple[str, ...]) -> None:
    assert lacks(spec, *judges) == []


@pytest.mark.parametrize(
    ("spec", "judges", "what"),
    [
        (TWO_JUDGES, (), "wants 2 judges, but the configuration names 0 (name so many"),
        (TWO_JUDGES, ("a",), "wants 2 judges, but the configuration names 1 (name so many"),
        (GraderSpec(kind="judge"), (), "wants 1 judge, but the configuration names 0"),
        (GraderSpec(kind="judge"), ("a", "b"), "wants 1 judge, but the configuration names 2"),
        (SUITE.grader, ("a",), "names judges that no grader of it asks"),
    ],
)
def test_judges_are_as_many_as_the_suite_wants(
    spec: GraderSpec, judges: tuple[str, ...], what: str
) -> None:
    (problem,) = lacks(spec, *judges)
    assert problem.startswith(f"suite 'arithmetic': {what}")


@pytest.mark.parametrize(
    ("spec", "place"), [(TESTS, "`graders`, `commands`"), (SANDBOX, "`graders`, `urls`")]
)
def test_programs_must_be_allowed(spec: GraderSpec, place: str) -> None:
    (problem,) = lacks(spec, allowed=GraderSettings())
    assert spec.options["name"] in problem
    assert place in problem


@pytest.mark.parametrize("program", ["true", "/nowhere/tests", "/"])
def test_commands_must_be_there(program: str) -> None:
    allowed = GraderSettings(commands={"tests": (program, "--strict")})
    (problem,) = lacks(TESTS, allowed=allowed)
    assert f"{program!r}, which is no program that can be run (give its whole path" in problem


def test_each_problem_is_told_once_for_all_items() -> None:
    others = [replace(item, grader=TESTS) for item in SUITE.items]
    own = SuiteSettings(path=Path("suite"))
    suite = replace(SUITE, items=tuple(others))
    assert len(grading.problems(suite, own, GraderSettings())) == 1


async def test_all_graders_are_opened_together(tmp_path: Path) -> None:
    script = tmp_path / "half"
    script.write_text("#!/bin/sh\necho '{\"score\": 0.5}'\n")
    script.chmod(0o755)
    settings = installations.configured(
        installations.write_pool(tmp_path), graders={"commands": {"tests": [str(script)]}}
    )
    async with grading.open_graders(settings) as runner:
        assert await runner.grade(TESTS, SUITE.items[0], "4") == Grade(score=0.5)
        item = SUITE.items[0]
        assert (await runner.grade(SUITE.grader, item, item.target[0])).score == 1.0


@pytest.mark.parametrize("judges", [[], ["good"]])
async def test_what_judges_say_is_kept_where_there_are_judges(
    judges: list[str], tmp_path: Path
) -> None:
    folder = installations.write_pool(tmp_path)
    suites = [{"path": str(folder / "suite"), "judges": judges}]
    settings = installations.configured(folder, suites=suites)
    async with grading.open_paid_answers(settings) as paid:
        assert (paid is not None) == bool(judges)
    assert (folder / "state").exists() == bool(judges)


async def test_a_check_says_what_a_suite_needs_and_asks_nobody(tmp_path: Path) -> None:
    write_suite(replace(SUITE, grader=TWO_JUDGES), tmp_path / "suite")
    checked = await suite_checks.check_file(tmp_path / "suite")
    assert checked.report.problems == []
    needs = "the grader judge is not tried here; it needs judges under `suites`"
    assert any(needs in note for note in checked.report.notes)
