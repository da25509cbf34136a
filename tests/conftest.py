"""What every test may use: recorded data and a broker, where they can be had."""

import gc
import os
import warnings
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import pytest

if TYPE_CHECKING:
    from tests.broker.local import LocalBroker

ROOT = Path(__file__).parents[1]

# The same examples each time, and no deadline: a slow machine is not a fault.
hypothesis.settings.register_profile("repeatable", derandomize=True, deadline=None)
# Of `make check`, which is run before each commit.
hypothesis.settings.register_profile("quick", derandomize=True, deadline=None, max_examples=20)
hypothesis.settings.load_profile("repeatable")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "shared_data" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.shared)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None]:
    yield
    if item.get_closest_marker("kafka") is not None:
        # kafka-python, closed while it connects, leaves that socket to whoever collects garbage.
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "unclosed <socket", ResourceWarning)
            gc.collect()


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of recorded outcomes and logs; too large for the repository, so it may be absent.

    Returns:
        The folder `data` below what VARIANT_MONITOR_SHARED names, else below `../shared`.
    """
    named = os.environ.get("VARIANT_MONITOR_SHARED")
    data = (Path(named) if named else ROOT.parent / "shared") / "data"
    if data.is_dir():
        return data
    if named:
        pytest.fail(f"VARIANT_MONITOR_SHARED is {named}, but there is no folder {data}")
    pytest.skip(f"no recorded data: {data} is missing and VARIANT_MONITOR_SHARED is not set")


@pytest.fixture(scope="session")
def kafka_bootstrap(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a broker whose topics tests may delete; skips where none can be had.

    VARIANT_MONITOR_TEST_KAFKA names one; else a container is tried, then one from Maven's jars.
    """
    named = os.environ.get("VARIANT_MONITOR_TEST_KAFKA")
    if named:
        yield named
        return
    from tests.broker import brokers  # noqa: PLC0415 - its imports are slow and few tests need it

    with brokers.any_broker(tmp_path_factory.mktemp("kafka")) as bootstrap:
        yield bootstrap


@pytest.fixture
def idle_broker(tmp_path: Path) -> Iterator["LocalBroker"]:
    """A broker of the test's own that has yet to be started; skips where none can be had."""
    from tests.broker import brokers  # noqa: PLC0415 - as above

    broker = brokers.prepared(tmp_path)
    yield broker
    broker.stop()


@pytest.fixture
def local_broker(idle_broker: "LocalBroker") -> "LocalBroker":
    """A broker of the test's own, which it may kill and start again."""
    idle_broker.start()
    return idle_broker
