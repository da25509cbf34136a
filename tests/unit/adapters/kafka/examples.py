"""A cluster that nobody asks, and commits to it."""

from monitor.adapters.kafka.clients import Cluster
from monitor.domain.identifiers import EvaluationId
from monitor.ports import Commit, Entry, Message
from monitor.settings import TopicSettings

CLUSTER = Cluster(
    bootstrap_servers=("127.0.0.1:1",),
    group="group",
    client_id="client",
    topics=TopicSettings(),
    journal="journal",
    security={"sasl_plain_password": "secret-password"},
)


def entry(sequence: int, value: bytes | None = b"row") -> Entry:
    return Entry(evaluation_id=EvaluationId("a/b"), sequence=sequence, value=value)


def message(topic: str, *, evaluation: str = "a", value: bytes = b"v") -> Message:
    headers = (("evaluation_id", evaluation.encode()),)
    return Message(topic=topic, key=b"k", value=value, headers=headers)


def commit(*entries: Entry, messages: tuple[Message, ...] = ()) -> Commit:
    return Commit(partition=3, entries=entries, messages=messages)
