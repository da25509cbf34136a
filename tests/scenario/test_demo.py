"""The demo, as a stranger runs it."""

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.scenario import daemon as product

VERDICTS = {"v1": "MET", "v2-better": "MET", "v3-same": "MET", "v4-worse": "NOT_MET"}

Done = subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("state")


@pytest.fixture(scope="module")
def runs(state: Path) -> tuple[Done, Done]:
    """Two runs that have nothing to do with each other; the first keeps its state."""
    with ThreadPoolExecutor() as threads:
        kept = threads.submit(product.call, "demo", "--state", state)
        forgotten = threads.submit(product.call, "demo")
        return kept.result(), forgotten.result()


@pytest.fixture(scope="module")
def shown(runs: tuple[Done, Done], state: Path) -> list[dict[str, Any]]:
    """The same results once more, as JSON: nothing has to be bought for them."""
    assert runs[0].returncode == 0, runs[0].stderr
    again = product.call("demo", "--json", "--state", state)
    assert (again.returncode, again.stderr) == (0, "")
    found: list[dict[str, Any]] = json.loads(again.stdout)
    return found


def test_it_ends_by_itself_and_prints_the_same_each_time(runs: tuple[Done, Done]) -> None:
    first, second = runs
    assert (first.returncode, second.returncode) == (0, 0)
    assert first.stdout == second.stdout


def test_it_prints_every_verdict_and_the_metrics_page(runs: tuple[Done, Done]) -> None:
    lines = runs[0].stdout.splitlines()
    for version, verdict in VERDICTS.items():
        (row,) = [line.split() for line in lines if line.split()[:1] == [version]]
        assert verdict in row
    not_met = 'suite="arithmetic",variant="chat",verdict="NOT_MET"'
    assert f"variant_monitor_verdict{{{not_met}}} 1.0" in lines
    assert not any('verdict="MET"' in line for line in lines)


def test_only_the_worse_version_is_not_met(shown: list[dict[str, Any]]) -> None:
    found = {each["subject"]["version"]: each["verdict"]["outcome"] for each in shown}
    assert found == VERDICTS
    assert shown[-1]["verdict"]["severity"] == "critical"


def test_each_version_is_compared_with_the_one_before(shown: list[dict[str, Any]]) -> None:
    versions = list(VERDICTS)
    compared = [each["difference"] and each["difference"]["previous_version"] for each in shown]
    assert compared == [None, *versions[:-1]]


def test_every_answer_is_there(shown: list[dict[str, Any]]) -> None:
    assert [each["counts"] for each in shown] == [{"graded": 400}] * len(VERDICTS)
