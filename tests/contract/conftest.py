"""One installation of every implementation of bus, submission and archive."""

import itertools
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from tests.contract.installations import Installation, KafkaInstallation, SqliteInstallation


@pytest.fixture(params=["sqlite", pytest.param("kafka", marks=pytest.mark.kafka)])
def install(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Installation]:
    if request.param == "kafka":
        bootstrap: str = request.getfixturevalue("kafka_bootstrap")
        return lambda: KafkaInstallation(bootstrap)
    numbers = itertools.count()
    return lambda: SqliteInstallation(tmp_path / str(next(numbers)))


@pytest.fixture
async def installation(install: Callable[[], Installation]) -> AsyncIterator[Installation]:
    made = install()
    yield made
    await made.close()
