"""The tools' settings are really read: a misspelt table would switch a check off in silence."""

import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from tests.rules import repository

BIN = Path(sys.executable).parent


def run_tool(*command: str | Path, source: str = "") -> str:
    return subprocess.run(
        command, cwd=repository.ROOT, input=source, capture_output=True, text=True, check=False
    ).stdout


def test_pytest_reads_the_project_file(pytestconfig: pytest.Config) -> None:
    assert pytestconfig.inipath == repository.ROOT / "pyproject.toml"


def test_warnings_are_errors() -> None:
    with pytest.raises(UserWarning, match="noticed"):
        warnings.warn("noticed", stacklevel=1)


def test_markers_are_known_or_refused() -> None:
    _ = pytest.mark.shared
    with pytest.raises(pytest.fail.Exception, match="no_such_marker"):
        _ = pytest.mark.no_such_marker


async def test_coroutines_are_awaited(request: pytest.FixtureRequest) -> None:
    assert request.node.get_closest_marker("asyncio")


def test_mypy_is_strict_everywhere(tmp_path: Path) -> None:
    lax = tmp_path / "lax.py"
    lax.write_text("def f(x):\n    return x\n")
    report = run_tool(BIN / "mypy", "--cache-dir", tmp_path / "cache", lax)
    assert "[no-untyped-def]" in report


RUFF_FINDINGS = [
    ("monitor/engine/steps.py", "import random\n", "TID251"),
    ("monitor/engine/steps.py", "import os\n\nHOME = os.environ\n", "TID251"),
    ("monitor/engine/steps.py", "import time\n\nNOW = time.time()\n", "TID251"),
    ("monitor/engine/steps.py", "import pickle\n", "TID251"),
    ("monitor/engine/steps.py", "from .plans import Plan\n", "TID252"),
    ("tests/unit/engine/test_steps.py", "import random\n", "TID251"),
    ("monitor/engine/steps.py", "def f(a, b, c, d, e, f, g, h): ...\n", "PLR0913"),
    ("monitor/engine/steps.py", "def f(a, b): ...\n" + "# " + "x" * 99 + "\n", "E501"),
    ("monitor/engine/steps.py", "assert 1\n", "S101"),
]


@pytest.mark.parametrize(("path", "source", "code"), RUFF_FINDINGS)
def test_ruff_objects(path: str, source: str, code: str) -> None:
    report = run_tool(BIN / "ruff", "check", "--stdin-filename", path, "-", source=source)
    assert code in report


def test_ruff_allows_the_one_reader_of_the_environment() -> None:
    source = "import os\n\nHOME = os.environ\n"
    path = "monitor/settings/secrets.py"
    report = run_tool(BIN / "ruff", "check", "--stdin-filename", path, "-", source=source)
    assert "TID251" not in report
