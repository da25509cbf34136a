"""One installation of every implementation of bus, submission and archive."""

import itertools
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from tests.contract.installations import INSTALLATIONS, Installation


@pytest.fixture(params=INSTALLATIONS)
def install(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Installation]:
    numbers = itertools.count()
    return lambda: request.param(tmp_path / str(next(numbers)))


@pytest.fixture
async def installation(install: Callable[[], Installation]) -> AsyncIterator[Installation]:
    made = install()
    yield made
    await made.close()
