"""Replicas of the real daemon on a real broker, and what is on the topics afterwards."""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from monitor.adapters.kafka.clients import Cluster
from monitor.app.buses import cluster
from monitor.domain.identifiers import VariantName
from monitor.ports import Record
from monitor.settings import KafkaBus, load_settings
from monitor.wire import results
from tests.broker import kafka_topics
from tests.scenario.daemon import Daemon, Installation, call, started

PARTITIONS = 4
TOPICS = ("versions", "evaluations", "outcomes", "dead_letter")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """Some replicas' common configuration, on topics of their own."""

    installation: Installation
    bootstrap: str
    name: str = field(default_factory=lambda: f"test-{uuid.uuid4().hex[:12]}")

    def configure(self, base_url: str, *, limits: Mapping[str, object]) -> None:
        """Write the configuration of every replica."""
        folder = self.installation.folder
        self.installation.configure(
            suites=[
                {"path": folder / "suite", "history": [{"file": folder / "history.npz"}]},
            ],
            endpoints={name: {"base_url": base_url, "model": name} for name in ("good", "bad")},
            limits=limits,
            bus={
                "kind": "kafka",
                "bootstrap_servers": [self.bootstrap],
                "group": self.name,
                "topics": {topic: f"{self.name}-{topic}" for topic in TOPICS},
                "journal": f"{self.name}-journal",
                "session_seconds": 3,
            },
        )

    @property
    def cluster(self) -> Cluster:
        """The brokers and topics, as the adapters know them."""
        settings = load_settings(self.installation.config)
        assert isinstance(settings.bus, KafkaBus)
        return cluster(settings, settings.bus)

    def create_topics(self, partitions: int = PARTITIONS) -> None:
        """The command."""
        config = self.installation.config
        options = ["--partitions", str(partitions), "--replication", "1"]
        done = call("topics", "create", "--config", config, *options)
        assert done.returncode == 0, done.stderr

    @contextmanager
    def replica(self, name: str) -> Iterator[Daemon]:
        """A daemon, killed where the block ends if it has not ended before."""
        log = self.installation.folder / f"{name}.log"
        with started(["run", "--config", self.installation.config], log=log) as process:
            yield Daemon(process=process, log=log)

    def put(self, value: bytes, variant: str) -> None:
        """Append a value to the request topic."""
        self.installation.put(value, variant=VariantName(variant))

    def messages(self, topic: str) -> Sequence[Record]:
        """What a reader of committed records finds on a topic."""
        return kafka_topics.committed(self.cluster, f"{self.name}-{topic}")

    def results(self) -> list[results.Statistics]:
        """Statistics of every published result."""
        values = [record.value for record in self.messages("evaluations")]
        return [results.decode(value).data.statistics for value in values]
