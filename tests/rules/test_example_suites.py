"""The example suites: made by their generator to the byte, and nothing to be said against them."""

import asyncio
import operator
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from monitor.adapters.suite_files import read_suite
from monitor.app import suite_checks
from monitor.domain.suites import Suite
from tests.rules import repository, suite_examples

FOLDER = repository.ROOT / "deploy/examples/suites"
SUITES = ("arithmetic", "json_extraction", "multiple_choice")
FEWEST_ITEMS = 200
SUM = re.compile(r"What is (\d+) ([-+x]) (\d+)\?")


def test_the_generator_makes_them_to_the_byte(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-B", FOLDER / "generator", tmp_path], check=True)
    made = {path.relative_to(tmp_path): path.read_bytes() for path in tmp_path.rglob("*.*")}
    assert made == {path: (FOLDER / path).read_bytes() for path in made}
    assert {path.parts[0] for path in made} == {*SUITES}


@pytest.mark.parametrize("name", SUITES)
def test_they_pass_the_check(name: str) -> None:
    checked = asyncio.run(suite_checks.check_file(FOLDER / name))
    assert (checked.report.problems, checked.report.warnings) == ([], [])
    assert checked.figures is not None
    assert checked.figures.items >= FEWEST_ITEMS
    assert min(checked.figures.groups.values()) >= 20
    shown = f"| `{name}` | {checked.figures.items} in {len(checked.figures.groups)} groups |"
    assert shown in suite_examples.TEXT


def example(name: str) -> Suite:
    return read_suite(FOLDER / name)


SIGNS = {"+": operator.add, "-": operator.sub, "x": operator.mul}


def test_sums_are_right() -> None:
    """Those that are written as such are worked out anew."""
    items = example("arithmetic").items
    sums = [(item, found) for item in items if (found := SUM.fullmatch(str(item.input)))]
    assert len(sums) > 10
    for item, found in sums:
        assert item.target == (str(SIGNS[found[2]](int(found[1]), int(found[3]))),)


def test_snippets_show_what_python_shows() -> None:
    items = [item for item in example("multiple_choice").items if item.group == "python"]
    right = [item.choices["ABCD".index(item.target[0])] for item in items]
    script = "\n".join(f"print({str(item.input).split('`')[1]})" for item in items)
    shown = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert shown.stdout.split() == right


def test_no_letter_is_worth_guessing() -> None:
    letters = Counter(item.target[0] for item in example("multiple_choice").items)
    assert max(letters.values()) < 0.33 * letters.total()
