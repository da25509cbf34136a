"""Where tests get a broker from: a container if Docker answers, else one from Maven's jars."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from testcontainers.community.kafka import KafkaContainer

from tests.broker.local import LocalBroker, Unavailable

IMAGE = "confluentinc/cp-kafka:7.6.0"
ENVIRONMENT = {
    "KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR": "1",
    "KAFKA_TRANSACTION_STATE_LOG_MIN_ISR": "1",
    "KAFKA_GROUP_MIN_SESSION_TIMEOUT_MS": "1000",
    "KAFKA_AUTO_CREATE_TOPICS_ENABLE": "false",
}


@contextmanager
def any_broker(directory: Path) -> Iterator[str]:
    """Address of a broker that ends with the block; skips the test where none can be had."""
    if docker_answers():
        with KafkaContainer(IMAGE).with_kraft().with_envs(**ENVIRONMENT) as container:
            yield container.get_bootstrap_server()
        return
    broker = prepared(directory)
    try:
        broker.start()
        yield broker.bootstrap
    finally:
        broker.stop()


def docker_answers() -> bool:
    """Whether there is a Docker engine; its Python client would leave a socket open to find out."""
    command = shutil.which("docker")
    return (
        command is not None
        and not subprocess.run([command, "version"], capture_output=True, check=False).returncode
    )


def prepared(directory: Path, *, settings: str = "") -> LocalBroker:
    """A broker that has yet to be started; skips the test where none can be had."""
    try:
        return LocalBroker(cache(), directory, settings=settings)
    except Unavailable as reason:
        pytest.skip(f"no broker: VARIANT_MONITOR_TEST_KAFKA is not set, no Docker, {reason}")


def cache() -> Path:
    """Folder for what is fetched once, outside the repository."""
    named = os.environ.get("XDG_CACHE_HOME")
    return (Path(named) if named else Path.home() / ".cache") / "model-variant-monitor"
