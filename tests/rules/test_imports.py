"""The layers hold in the code, and the contracts that say so notice when they do not."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.rules import repository

LINTER = Path(sys.executable).with_name("lint-imports")
PACKAGES = [
    "adapters",
    "domain",
    "engine",
    "grading",
    "history",
    "prompting",
    "service",
    "simulation",
    "stats",
    "surrogate",
    "wire",
]


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(LINTER), "--no-logo", "--no-cache"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def skeleton(tmp_path: Path) -> Path:
    """A package with the right folders, nothing in them, and this repository's contracts."""
    shutil.copy(repository.ROOT / "pyproject.toml", tmp_path)
    for package in ("", *PACKAGES):
        folder = tmp_path / "monitor" / package
        folder.mkdir()
        (folder / "__init__.py").touch()
    return tmp_path


def test_contracts_hold() -> None:
    outcome = lint_imports(repository.ROOT)
    assert outcome.returncode == 0, outcome.stdout


def test_contracts_allow_what_they_should(skeleton: Path) -> None:
    monitor = skeleton / "monitor"
    (monitor / "adapters/endpoint.py").write_text("import httpx2, openai, starlette, sqlite3\n")
    (monitor / "stats/weights.py").write_text("import numpy, scipy\n")
    (monitor / "engine/steps.py").write_text("import monitor.stats.weights\n")
    (monitor / "settings.py").write_text("import os, pydantic\n")
    (monitor / "service/runner.py").write_text("import asyncio, monitor.settings\n")
    outcome = lint_imports(skeleton)
    assert outcome.returncode == 0, outcome.stdout


VIOLATIONS = [
    ("Imports point one way", "domain/plans.py", "import monitor.engine"),
    ("Imports point one way", "grading/exact.py", "import monitor.prompting"),
    ("Imports point one way", "stats/weights.py", "import monitor.domain"),
    ("Imports point one way", "service/runner.py", "import monitor.adapters"),
    ("Imports point one way", "surprise.py", ""),
    ("The core knows no clock", "engine/steps.py", "import time"),
    ("The core knows no clock", "wire/events.py", "from os import path"),
    ("The core knows no clock", "domain/plans.py", "def late():\n    import random"),
    ("The service reaches", "service/runner.py", "import socket"),
    ("Client libraries", "service/runner.py", "import openai"),
    ("Client libraries", "history/store.py", "import sqlite3"),
    ("Client libraries", "ports.py", "from kafka import KafkaConsumer"),
    ("HTTP servers", "service/runner.py", "import starlette.applications"),
    ("Arrays are opened", "engine/steps.py", "import numpy as np"),
    ("Numerical libraries", "history/fits.py", "import scipy.stats"),
    ("Numerical libraries", "app.py", "import torch"),
    ("Validation stands", "domain/plans.py", "import pydantic"),
    ("Validation stands", "app.py", "from pydantic import BaseModel"),
]


@pytest.mark.parametrize(("contract", "path", "code"), VIOLATIONS)
def test_contracts_are_broken_by(contract: str, path: str, code: str, skeleton: Path) -> None:
    (skeleton / "monitor" / path).write_text(code + "\n")
    lines = lint_imports(skeleton).stdout.splitlines()
    broken = [line for line in lines if line.endswith("BROKEN")]
    assert len(broken) == 1, "\n".join(lines)
    assert broken[0].startswith(contract)
