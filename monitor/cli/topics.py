"""`variant-monitor topics create`."""

import asyncio
from pathlib import Path

from monitor.adapters.kafka.topics import Layout, create_topics
from monitor.app.buses import cluster
from monitor.cli.output import print_line
from monitor.domain.errors import UsageError
from monitor.settings import KafkaBus, load_settings


def create(config: Path, *, partitions: int, replication: int) -> None:
    """Make the topics that are missing.

    Raises:
        UsageError: the configuration names no Kafka.
        StateError: the brokers do not answer or refuse.
    """
    settings = load_settings(config)
    if not isinstance(settings.bus, KafkaBus):
        raise UsageError("the embedded bus makes its topics by itself; bus.kind is not kafka")
    layout = Layout(partitions=partitions, replication=replication)
    made = asyncio.run(create_topics(cluster(settings, settings.bus), layout))
    for name in made:
        print_line(f"made {name}")
    if not made:
        print_line("all topics are there already")
