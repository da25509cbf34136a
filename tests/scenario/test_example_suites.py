"""Each example suite from the shell, against an endpoint that answers in its form."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rules import repository
from tests.scenario import daemon
from tests.scenario.daemon import SimulatedEndpoint, call, simulated_endpoint

SUITES = repository.ROOT / "deploy/examples/suites"
ACCURACY = 0.8


@pytest.fixture(params=["arithmetic", "json_extraction", "multiple_choice"])
def suite(request: pytest.FixtureRequest) -> Path:
    return SUITES / str(request.param)


@pytest.fixture
def endpoint(suite: Path, tmp_path: Path) -> Iterator[SimulatedEndpoint]:
    with simulated_endpoint(tmp_path, suite, "--model", f"good={ACCURACY}") as found:
        yield found


def test_all_items_are_asked_and_graded(suite: Path, endpoint: SimulatedEndpoint) -> None:
    place = ("--base-url", endpoint.base_url, "--model", "good", "--budget", "100%")
    ended = call("evaluate", "--suite", suite, *place, "--at-least", "0.5", "--json")
    assert ended.returncode == 0, ended.stderr
    statistics = daemon.document(ended)["data"]["statistics"]
    items = (suite / "items.jsonl").read_bytes().count(b"\n")
    assert sum(statistics["counts"].values()) == items
    assert statistics["estimate"]["value"] == pytest.approx(endpoint.truth()["good"])


def test_the_demo_can_ask_it() -> None:
    ended = call("demo", "--suite", SUITES / "json_extraction")
    assert ended.returncode == 0, ended.stderr
    assert "each is asked 48% of 210 items" in ended.stdout
    assert "4 of 4 results agree to the byte" in ended.stdout


def test_a_demo_of_no_suite_says_so(tmp_path: Path) -> None:
    ended = call("demo", "--suite", tmp_path)
    assert ended.returncode == 2
    assert "suite.yaml: no such file" in ended.stderr
