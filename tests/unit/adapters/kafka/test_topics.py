from collections.abc import Mapping
from typing import Any

import pytest
from kafka.errors import TopicAuthorizationFailedError, UnknownTopicOrPartitionError

from monitor.adapters.kafka import topics
from monitor.adapters.kafka.clients import Cluster
from tests.unit.adapters.kafka.examples import CLUSTER

NAMES = CLUSTER.topics
DEFAULTS = {
    "cleanup.policy": "delete",
    "retention.ms": "604800000",
    "max.message.bytes": "1048588",
}


class Admin:
    """Topics as `create_topics` makes them, but for some changes."""

    def __init__(self, changed: Mapping[str, Mapping[str, object]]) -> None:
        self._topics: dict[str, dict[str, Any]] = {
            name: {"partitions": 4, "error": 0} | DEFAULTS | dict(config)
            for name, config in topics.configs(CLUSTER).items()
        }
        for name, change in changed.items():
            self._topics[name] |= change

    def describe_topics(self, names: list[str]) -> list[dict[str, object]]:
        return [
            {
                "name": name,
                "error_code": self._topics[name]["error"],
                "partitions": [{}] * self._topics[name]["partitions"],
            }
            for name in names
        ]

    def describe_configs(self, _resources: object, *, config_filter: str) -> dict[str, object]:
        assert config_filter == "all"
        configs = {
            name: {key: {"value": topic[key]} for key in DEFAULTS if topic[key] is not None}
            for name, topic in self._topics.items()
        }
        return {"topic": configs}

    def close(self) -> None: ...


def found(monkeypatch: pytest.MonkeyPatch, topic: str, **change: object) -> list[str]:
    dotted = {key.replace("_", "."): value for key, value in change.items()}
    monkeypatch.setattr(Cluster, "admin", lambda _: Admin({topic: dotted}))
    return [str(problem) for problem in topics.problems(CLUSTER)]


def test_topics_as_they_are_made_are_right(monkeypatch: pytest.MonkeyPatch) -> None:
    assert found(monkeypatch, NAMES.versions) == []


@pytest.mark.parametrize(
    ("topic", "change", "problem"),
    [
        ("journal", {"partitions": 3}, "journal: has 3 partitions, model-versions has 4"),
        ("journal", {"cleanup_policy": "delete"}, "journal: is not compacted"),
        ("journal", {"retention_ms": "1000"}, "journal: forgets which evaluations have ended"),
        (NAMES.versions, {"retention_ms": "-1"}, "journal: forgets which evaluations have ended"),
        (NAMES.outcomes, {"cleanup_policy": "compact"}, "model-outcomes: is compacted"),
        (NAMES.dead_letter, {"max_message_bytes": "1000"}, "dead-letter: takes 1000 bytes at most"),
        (NAMES.outcomes, {"error": UnknownTopicOrPartitionError.errno}, "does not exist"),
        (NAMES.versions, {"error": TopicAuthorizationFailedError.errno}, "TopicAuthorization"),
    ],
)
def test_what_is_wrong_is_said(
    monkeypatch: pytest.MonkeyPatch, topic: str, change: dict[str, object], problem: str
) -> None:
    (only,) = found(monkeypatch, topic, **change)
    assert problem in only


def test_what_may_not_be_looked_at_is_taken_as_right(monkeypatch: pytest.MonkeyPatch) -> None:
    hidden = dict.fromkeys(("cleanup_policy", "retention_ms", "max_message_bytes"))
    for topic in topics.configs(CLUSTER):
        assert found(monkeypatch, topic, **hidden) == []


def test_a_journal_that_is_compacted_alone_never_forgets(monkeypatch: pytest.MonkeyPatch) -> None:
    assert found(monkeypatch, "journal", cleanup_policy="compact", retention_ms="1000") == []
