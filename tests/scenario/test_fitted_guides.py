"""A guide that is fitted on one machine and used on another, which has no file of outcomes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.scenario import daemon as product
from tests.scenario.daemon import Installation, SimulatedEndpoint

ITEMS, BUDGET = 200, 45


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pool")
    product.write_pool(folder, items=ITEMS, seed=5)
    return folder


@pytest.fixture(scope="module")
def endpoint(pool: Path) -> Iterator[SimulatedEndpoint]:
    models = ("--model", "good=0.7", "--seed", "5")
    with product.simulated_endpoint(pool, pool / "suite", *models) as found:
        yield found


@pytest.fixture(scope="module")
def guide(pool: Path) -> Path:
    file, history = pool / "guide.safetensors", pool / "history.npz"
    done = product.call(
        "history", "fit", "--suite", pool / "suite", "--outcomes", history, "--out", file
    )
    assert done.returncode == 0, done.stderr
    assert "by the guide" in done.stdout
    return file


def evaluate(pool: Path, endpoint: SimulatedEndpoint, *options: str | Path) -> dict[str, Any]:
    """The statistical part of an evaluation's result."""
    place = ("--suite", pool / "suite", "--base-url", endpoint.base_url, "--model", "good")
    done = product.call("evaluate", *place, "--budget", str(BUDGET), "--json", *options)
    found: dict[str, Any] = product.document(done)["data"]["statistics"]
    return found


def test_a_guide_and_its_history_come_to_the_same(
    pool: Path, endpoint: SimulatedEndpoint, guide: Path
) -> None:
    by_guide = evaluate(pool, endpoint, "--guide", guide)
    assert by_guide["plan"]["inference"]["design"] == "without_replacement"
    assert by_guide["answered"] == BUDGET
    assert by_guide == evaluate(pool, endpoint, "--history", pool / "history.npz")


@pytest.fixture(scope="module")
def installation(
    tmp_path_factory: pytest.TempPathFactory, pool: Path, endpoint: SimulatedEndpoint, guide: Path
) -> Installation:
    installation = Installation(folder=tmp_path_factory.mktemp("installation"))
    installation.configure(
        suites=[{"path": pool / "suite", "guide": guide}],
        endpoints={"production": {"base_url": endpoint.base_url, "model": "good"}},
        policies=[{"budget": BUDGET}],
    )
    return installation


def test_a_daemon_with_a_guide_needs_no_history(installation: Installation) -> None:
    checked = product.call("check", "--config", installation.config)
    assert checked.returncode == 0
    assert "fitted to 40 models" in checked.stdout
    data = {"variant": product.VARIANT, "version": "1", "endpoint": "production"}
    installation.put(product.version_event("1", data))
    with installation.daemon() as daemon:
        daemon.told("evaluation_ended", version="1")
    found = installation.found("1")
    assert found.plan is not None
    assert found.plan.inference.design == "without_replacement"
    replayed = product.call("replay", found.subject.evaluation_id, "--config", installation.config)
    assert replayed.returncode == 0, replayed.stderr


def test_a_damaged_guide_keeps_the_daemon_from_starting(pool: Path, tmp_path: Path) -> None:
    damaged = Installation(folder=tmp_path)
    (tmp_path / "guide.safetensors").write_bytes(b"no guide")
    damaged.configure(suites=[{"path": pool / "suite", "guide": "guide.safetensors"}])
    done = product.call("run", "--config", damaged.config)
    assert done.returncode == 2
    assert f"{tmp_path / 'guide.safetensors'}: is no safetensors file, or damaged" in done.stderr
