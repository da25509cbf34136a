"""What a bus on a real broker does beyond what any bus does."""

import asyncio
import signal
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import closing

import pytest
from kafka.admin import ConfigResource, ConfigResourceType
from kafka.structs import TopicPartition

from monitor.adapters.kafka import membership, topics
from monitor.adapters.kafka.bus import KafkaBus
from monitor.adapters.kafka.clients import MAX_REQUEST_BYTES, Cluster
from monitor.adapters.kafka.topics import Layout
from monitor.domain.errors import StateError
from monitor.ports import Assigned, Commit, Message, Published, Record
from tests.broker.local import LocalBroker
from tests.contract import test_archive as results
from tests.contract.installations import A, KafkaInstallation, records, row, submit, take, until

pytestmark = pytest.mark.kafka


@pytest.fixture
async def installation(kafka_bootstrap: str) -> AsyncIterator[KafkaInstallation]:
    made = KafkaInstallation(kafka_bootstrap)
    yield made
    await made.close()


def change(cluster: Cluster, topic: str, **config: object) -> None:
    dotted = {name.replace("_", "."): str(value) for name, value in config.items()}
    with closing(cluster.admin()) as admin:
        admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, topic, dotted)])


def forget(cluster: Cluster, topic: str) -> None:
    """Delete every record of a topic with one partition, as its retention would."""
    with closing(cluster.admin()) as admin:
        admin.delete_records({TopicPartition(topic, 0): -1})


async def test_more_events_than_are_read_ahead_all_arrive(installation: KafkaInstallation) -> None:
    bus = await installation.bus(partitions=2)
    values = [b"%d" % number * 100 for number in range(6 * membership.READ_AHEAD)]
    for key in (b"chat", b"search"):
        await submit(installation, *values, key=key)
    received = await records(bus, 2 * len(values))
    by_key = {key: [it.value for it in received if it.key == key] for key in (b"chat", b"search")}
    assert by_key == {b"chat": values, b"search": values}


async def test_a_reader_that_does_not_ask_is_not_flooded(installation: KafkaInstallation) -> None:
    bus = await installation.bus()
    count, value = 40 * membership.READ_AHEAD, b"v" * 1000
    async with asyncio.TaskGroup() as group:
        for _ in range(count):
            group.create_task(submit(installation, value))
    waiting = bus._deliveries  # noqa: SLF001 - nothing else tells how much is held
    await until(lambda: waiting.records(0) >= membership.READ_AHEAD, bus)
    await asyncio.sleep(5 * membership.POLL_MS / 1000)
    # What one fetch brings cannot be divided.
    limit = membership.READ_AHEAD + 2 * membership.FETCH_BYTES / len(value)
    assert waiting.records(0) <= limit < count
    assert [it.offset for it in await records(bus, count)] == list(range(count))


async def test_two_replicas_share_the_partitions_and_take_over(
    installation: KafkaInstallation,
) -> None:
    first = await installation.bus(partitions=4)
    second = await installation.open(installation.cluster)
    await until(lambda: Counter(map(len, (first.partitions, second.partitions))) == {2: 2}, second)
    assert first.partitions | second.partitions == {0, 1, 2, 3}
    await first.close()
    await until(lambda: len(second.partitions) == 4, second)


async def test_what_the_brokers_refuse_takes_nothing_with_it(
    installation: KafkaInstallation,
) -> None:
    bus = await installation.bus()
    await asyncio.to_thread(change, installation.cluster, "notes", max_message_bytes=2000)
    good = Commit(partition=0, entries=(row(A, 0),))
    large = Message(topic="notes", key=None, value=b"v" * 3000)
    async with asyncio.TaskGroup() as group:
        committed = group.create_task(bus.commit(good))
        refused = group.create_task(settled(bus, Commit(partition=0, messages=(large,))))
    assert committed.done()
    assert "refuse a record" in str(refused.result())
    await bus.commit(Commit(partition=0, entries=(row(A, 1),)))
    await bus.close()
    (assigned,) = await take(await installation.bus(), 1)
    assert assigned == Assigned(partition=0, journals={A: [row(A, 0), row(A, 1)]})


async def settled(bus: KafkaBus, commit: Commit) -> StateError | None:
    try:
        await bus.commit(commit)
    except StateError as error:
        return error
    return None


async def test_the_largest_event_still_fits_when_it_is_put_aside(
    installation: KafkaInstallation,
) -> None:
    bus = await installation.bus()
    topic = installation.cluster.topics.dead_letter
    letter = Message(topic=topic, key=None, value=b"v" * (MAX_REQUEST_BYTES - 1000))
    await bus.commit(Commit(partition=0, messages=(letter,)))
    (read,) = await installation.published(topic)
    assert read.value == letter.value


async def test_results_that_the_topic_forgot_are_not_found(
    installation: KafkaInstallation,
) -> None:
    wanted = results.published("a", b"one")
    await results.publish(installation, results.commit(wanted))
    archive = await installation.archive()
    assert await archive.find(wanted.evaluation_id) == wanted
    await asyncio.to_thread(forget, installation.cluster, installation.cluster.topics.outcomes)
    without = Published(evaluation_id=wanted.evaluation_id, result=wanted.result, outcomes=())
    assert await archive.find(wanted.evaluation_id) == without
    await asyncio.to_thread(forget, installation.cluster, installation.cluster.topics.evaluations)
    assert await archive.find(wanted.evaluation_id) is None
    assert list(await archive.newest()) == []


async def test_brokers_and_topics_may_come_later(idle_broker: LocalBroker) -> None:
    installation = KafkaInstallation(idle_broker.bootstrap)
    bus = await installation.open(installation.cluster)
    try:
        await until(lambda: "no broker answers" in str(bus.trouble), bus)
        await asyncio.to_thread(idle_broker.start)
        await until(lambda: "model-versions: does not exist" in str(bus.trouble), bus)
        made = await topics.create_topics(installation.cluster, Layout(partitions=2))
        assert set(made) == set(topics.configs(installation.cluster))
        assert await topics.create_topics(installation.cluster, Layout(partitions=9)) == []
        assert list(await topics.check_topics(installation.cluster)) == []
        await until(lambda: len(bus.partitions) == 2, bus)
        assert bus.trouble is None
        await bus.commit(Commit(partition=0, settled=0, entries=(row(A, 0),)))
    finally:
        await installation.close()


async def test_commits_wait_for_a_broker_that_is_away(local_broker: LocalBroker) -> None:
    installation = KafkaInstallation(local_broker.bootstrap)
    bus = await installation.bus()
    await submit(installation, b"0", b"1")
    taken: Sequence[Record] = await records(bus, 2)
    local_broker.stop(signal.SIGKILL)
    waiting = asyncio.create_task(bus.commit(Commit(partition=0, entries=(row(A, 0),), settled=1)))
    await asyncio.wait([waiting], timeout=2 * membership.POLL_MS / 1000)
    assert not waiting.done()
    await asyncio.to_thread(local_broker.start)
    await waiting
    await bus.close()
    assert await records(await installation.bus(), 1) == taken[1:]
    await installation.close()
