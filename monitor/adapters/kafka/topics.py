"""The topics as they must be, made where they are missing and checked where they are not."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from math import inf, nan
from typing import TypeVar

from kafka.admin import ConfigResource, ConfigResourceType
from kafka.errors import KafkaError, NoError, TopicAlreadyExistsError, for_code

from monitor.adapters.kafka.clients import MAX_REQUEST_BYTES, Cluster, in_words, within
from monitor.domain.errors import Problem, StateError

T = TypeVar("T")

DAY_MS = 24 * 3600 * 1000
ADMIN_SECONDS = 30.0
REPAIR = "`variant-monitor topics create` makes what is missing"

# Rows of a journal that nobody reads again go when their segment is compacted, which takes one
# that is closed. Terminal rows stay for much longer than the events that could be delivered again.
JOURNAL = {
    "cleanup.policy": "compact,delete",
    "retention.ms": str(90 * DAY_MS),
    "segment.ms": str(DAY_MS // 48),
    "min.cleanable.dirty.ratio": "0.1",
    "delete.retention.ms": str(DAY_MS // 24),
}
KEPT = {"cleanup.policy": "delete", "retention.ms": "-1"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How topics are made: partitions of requests and journal, copies of everything."""

    partitions: int = 4
    replication: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """A topic that is there; `config` is empty where we may not look at it."""

    partitions: int
    config: Mapping[str, str]

    def number(self, name: str) -> int | None:
        return int(self.config[name]) if name in self.config else None

    @property
    def retention(self) -> float:
        """Milliseconds for which records are kept; NaN where we may not look."""
        kept = self.number("retention.ms")
        return nan if kept is None else inf if kept < 0 else kept


async def create_topics(cluster: Cluster, layout: Layout) -> Sequence[str]:
    """Make the topics that are missing; those that are there stay as they are.

    Returns:
        Names of the topics that were made.

    Raises:
        StateError: the brokers do not answer or refuse.
    """
    return await asyncio.to_thread(_translated, cluster, partial(_create, cluster, layout))


async def check_topics(cluster: Cluster) -> Sequence[Problem]:
    """What is wrong with the topics; nothing is changed.

    Raises:
        StateError: the brokers do not answer.
    """
    return await asyncio.to_thread(_translated, cluster, partial(problems, cluster))


def _translated(cluster: Cluster, work: Callable[[], T]) -> T:
    try:
        return within(ADMIN_SECONDS, work)
    except (KafkaError, OSError) as error:
        raise StateError(f"brokers {cluster.name}: {in_words(error)}") from error


def configs(cluster: Cluster) -> Mapping[str, Mapping[str, str]]:
    """Settings of each topic, where they are not the brokers' own."""
    names = cluster.topics
    # What was put aside is longer than what was read, by the reason in its headers.
    aside = {"retention.ms": str(90 * DAY_MS), "max.message.bytes": str(2 * MAX_REQUEST_BYTES)}
    return {
        names.versions: {},
        cluster.journal: JOURNAL,
        names.evaluations: KEPT,
        names.outcomes: KEPT,
        names.dead_letter: aside,
    }


def _create(cluster: Cluster, layout: Layout) -> list[str]:
    shared = {cluster.topics.versions, cluster.journal}
    wanted = {
        name: {
            "num_partitions": layout.partitions if name in shared else 1,
            "replication_factor": layout.replication,
            "configs": dict(config),
        }
        for name, config in configs(cluster).items()
    }
    with closing(cluster.admin()) as admin:
        answer = admin.create_topics(wanted, raise_errors=False)
        outcomes = {topic["name"]: topic for topic in answer["topics"]}
        for name, topic in outcomes.items():
            kind = for_code(topic["error_code"])
            if kind not in {NoError, TopicAlreadyExistsError}:
                raise StateError(
                    f"topic {name} cannot be made: {topic['error_message'] or kind.__name__}"
                )
        made = [name for name, topic in outcomes.items() if topic["error_code"] == NoError.errno]
        if made:
            admin.wait_for_topics(made)
    return made


def problems(cluster: Cluster) -> list[Problem]:
    """What is wrong with the topics; blocks.

    Raises:
        KafkaError: the brokers do not answer.
    """
    names = list(configs(cluster))
    with closing(cluster.admin()) as admin:
        described = {topic["name"]: topic for topic in admin.describe_topics(names)}
        resources = [ConfigResource(ConfigResourceType.TOPIC, name) for name in names]
        read = admin.describe_configs(resources, config_filter="all").get("topic", {})
    found: dict[str, _Found] = {}
    absent: list[Problem] = []
    for name in names:
        kind = for_code(described[name]["error_code"])
        if kind is NoError:
            config = {key: entry["value"] for key, entry in read.get(name, {}).items()}
            found[name] = _Found(partitions=len(described[name]["partitions"]), config=config)
        else:
            absent.append(_absent(name, kind))
    return absent or list(_unfit(cluster, found))


def _absent(name: str, kind: type[KafkaError]) -> Problem:
    if kind.__name__ == "UnknownTopicOrPartitionError":
        return Problem(where=f"topic {name}", what="does not exist", todo=REPAIR)
    return Problem(where=f"topic {name}", what=f"cannot be used: {kind.__name__}")


def _unfit(cluster: Cluster, found: Mapping[str, _Found]) -> Iterator[Problem]:
    names = cluster.topics
    requests, journal = found[names.versions], found[cluster.journal]
    where = f"topic {cluster.journal}"
    if requests.partitions != journal.partitions:
        what = f"has {journal.partitions} partitions, {names.versions} has {requests.partitions}"
        yield Problem(where=where, what=what, todo="give both as many")
    if "compact" not in journal.config.get("cleanup.policy", "compact"):
        todo = "set cleanup.policy=compact,delete"
        yield Problem(where=where, what="is not compacted, and grows for ever", todo=todo)
    deletes = "delete" in journal.config.get("cleanup.policy", "")
    if deletes and journal.retention < inf and requests.retention >= journal.retention:
        what = f"forgets which evaluations have ended before {names.versions} forgets their events"
        yield Problem(where=where, what=what, todo="raise its retention.ms above that of the other")
    for name in (names.versions, names.evaluations, names.outcomes, names.dead_letter):
        if "compact" in found[name].config.get("cleanup.policy", ""):
            what = "is compacted, which loses all but the last record of a key"
            yield Problem(where=f"topic {name}", what=what, todo="set cleanup.policy=delete")
    yield from _too_small(cluster, found)


def _too_small(cluster: Cluster, found: Mapping[str, _Found]) -> Iterator[Problem]:
    names = cluster.topics
    event = found[names.versions].number("max.message.bytes")
    aside = found[names.dead_letter].number("max.message.bytes")
    if event is not None and aside is not None and aside <= event:
        what = f"takes {aside} bytes at most, {names.versions} takes {event}"
        todo = "raise its max.message.bytes: a dead letter is longer than its event by its headers"
        yield Problem(where=f"topic {names.dead_letter}", what=what, todo=todo)
