"""What every test may use: the recorded data, where it is there, and one way to run Hypothesis."""

import os
from pathlib import Path

import hypothesis
import pytest

ROOT = Path(__file__).parents[1]

# The same examples each time, and no deadline: a slow machine is not a fault.
hypothesis.settings.register_profile("repeatable", derandomize=True, deadline=None)
hypothesis.settings.load_profile("repeatable")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "shared_data" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.shared)


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
