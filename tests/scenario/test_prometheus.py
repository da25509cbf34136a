"""From an event to somebody's pager: the daemon, Prometheus and Alertmanager as they are."""

from collections.abc import Iterator

import pytest

from monitor.domain.results import Difference
from monitor.wire import results
from tests.scenario import alerting, daemon as product
from tests.scenario.alerting import Alerting
from tests.scenario.daemon import Installation

DRAWS = 100
REGRESSION = 'ALERTS{alertname="VariantRegression",alertstate="firing"}'
WORSE = 'variant_suite:variant_monitor_verdict:newest{verdict="NOT_MET"}'


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """One whose versions answer well, badly, and well again."""
    folder = tmp_path_factory.mktemp("installation")
    product.write_pool(folder, items=400, seed=5)
    models = ("--model", "good=0.85", "--model", "bad=0.55:good", "--seed", "5")
    with product.simulated_endpoint(folder, folder / "suite", *models) as endpoint:
        found = Installation(folder=folder)
        found.configure(
            suites=[{"path": "suite", "history": [{"file": "history.npz"}]}],
            endpoints={
                name: {"base_url": endpoint.base_url, "model": name} for name in ("good", "bad")
            },
            policies=[{"budget": DRAWS}],
            http={"port": alerting.free_port()},
        )
        yield found


def evaluate(installation: Installation, version: str, *, model: str) -> results.Statistics:
    done = installation.submit(
        *("--variant", product.VARIANT, "--version", version, "--endpoint", model),
        *("--wait", str(product.SECONDS)),
    )
    assert done.returncode in {0, 1}, done.stderr
    return installation.found(version)


@pytest.fixture(scope="module")
def watched(installation: Installation) -> Iterator[Alerting]:
    """The daemon, scraped."""
    with installation.daemon() as daemon:
        port = daemon.told("service_started")["port"]
        with alerting.alerting(installation.folder, target=int(str(port))) as found:
            yield found


def text_of(difference: Difference) -> str:
    """What whoever is woken by it reads."""
    interval = difference.interval
    change, lower, upper = (
        f"{100 * ratio:.4g}%" for ratio in (difference.value, interval.lower, interval.upper)
    )
    return (
        f"Version v2 changes the share of right answers by {change}, interval {lower} to {upper}; "
        "a drop of 2% is tolerated."
    )


def test_a_regression_pages_with_its_numbers_and_is_resolved_by_a_better_version(
    installation: Installation, watched: Alerting
) -> None:
    evaluate(installation, "v1", model="good")
    worse = evaluate(installation, "v2", model="bad")
    assert worse.difference
    page = watched.receivers.wait("VariantRegression", "firing")
    assert (page.receiver, page.labels["severity"]) == ("pager", "critical")
    assert text_of(worse.difference) == page.annotations["description"]

    evaluate(installation, "v3", model="good")
    watched.receivers.wait("VariantRegression", "resolved")
    kept = f"(count({REGRESSION}) and on () ({WORSE} == 0))[5m:1s]"
    assert watched.query(f"max_over_time({kept})") == [1.0]
