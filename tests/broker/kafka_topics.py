"""What tests do to topics and groups beside the code that they test."""

import time
from collections.abc import Sequence
from contextlib import closing
from typing import Any

from kafka.admin import MemberToRemove
from kafka.errors import KafkaError
from kafka.structs import TopicPartition

from monitor.adapters.kafka import topics
from monitor.adapters.kafka.clients import Cluster
from monitor.ports import Record

SECONDS = 30.0
NOTES = "notes"


def renew(cluster: Cluster, partitions: int) -> None:
    """Make all topics anew; whatever was in them is gone."""
    both = {cluster.topics.versions, cluster.journal}
    configs = {**topics.configs(cluster), NOTES: {}}
    names = list(configs)
    wanted = {
        name: {
            "num_partitions": partitions if name in both else 1,
            "replication_factor": 1,
            "configs": config,
        }
        for name, config in configs.items()
    }
    with closing(cluster.admin()) as admin:
        there = set(admin.list_topics()) & set(names)
        if there:
            admin.delete_topics(list(there))
        deadline = time.monotonic() + SECONDS
        while set(admin.list_topics()) & set(names) and time.monotonic() < deadline:
            time.sleep(0.01)
        admin.create_topics(wanted, wait_for_metadata=True)


def expel(cluster: Cluster, *, members: int) -> None:
    """Once a group has so many members, throw out those that are called as the cluster's client."""
    with closing(cluster.admin()) as admin:
        deadline = time.monotonic() + SECONDS
        group = admin.describe_groups([cluster.group])[cluster.group]
        while len(group["members"]) != members or group["group_state"] != "Stable":
            assert time.monotonic() < deadline, group
            time.sleep(0.02)
            group = admin.describe_groups([cluster.group])[cluster.group]
        ours = [each for each in group["members"] if each["client_id"] == cluster.client_id]
        admin.remove_group_members(
            cluster.group, [MemberToRemove(member_id=each["member_id"]) for each in ours]
        )


def committed(cluster: Cluster, topic: str) -> Sequence[Record]:
    """Everything that a reader of committed records sees, in the order of partition and offset."""
    with cluster.reading() as every:
        parts = [TopicPartition(topic, number) for number in every.partitions_for_topic(topic)]
        ends = every.end_offsets(parts)
    with closing(
        cluster.consumer(isolation_level="read_committed", fetch_max_wait_ms=50)
    ) as reader:
        reader.assign(parts)
        reader.seek_to_beginning()
        found: list[Record] = []
        deadline = time.monotonic() + SECONDS
        while any(reader.position(part) < ends[part] for part in parts):
            polled = reader.poll(timeout_ms=50)
            found += [_record(each) for records in polled.values() for each in records]
            if time.monotonic() > deadline:
                raise KafkaError(f"{topic} could not be read to its end")
    return sorted(found, key=lambda record: (record.partition, record.offset))


def _record(record: Any) -> Record:  # noqa: ANN401 - the client has no types
    return Record(
        topic=record.topic,
        partition=record.partition,
        offset=record.offset,
        key=record.key,
        value=record.value,
        headers=tuple(record.headers),
    )
