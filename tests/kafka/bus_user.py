"""A process that commits for ever in every partition it is given, until it is killed.

`bus_user.py BOOTSTRAP GROUP`: two workers for each partition. Commit k of a worker is two journal
rows and a message, k being how many of its commits the journal holds. It prints `asks WORKER k`
before a commit and `done WORKER k` after it.
"""

import asyncio
import sys
from collections.abc import Mapping, Sequence

from monitor.adapters.kafka.bus import KafkaBus
from monitor.adapters.kafka.clients import Cluster
from monitor.domain.errors import OwnershipLost
from monitor.domain.identifiers import EvaluationId
from monitor.ports import Assigned, Commit, Entry, Message, Record, Revoked
from monitor.settings import TopicSettings

WORKERS = ("a", "b")
SESSION_SECONDS = 2.0
TOPIC = "notes"


def cluster_of(bootstrap: str, group: str) -> Cluster:
    return Cluster(
        bootstrap_servers=(bootstrap,),
        group=group,
        client_id="monitor",
        topics=TopicSettings(),
        journal="model-evaluations-journal",
        session_seconds=SESSION_SECONDS,
        heartbeat_seconds=0.2,
    )


def worker_names(partition: int) -> Sequence[str]:
    return [f"{partition}{name}" for name in WORKERS]


def commit_of(worker: str, number: int) -> Commit:
    value = b"%d" % number
    entries = [
        Entry(evaluation_id=EvaluationId(worker), sequence=2 * number + half, value=value * 50)
        for half in (0, 1)
    ]
    message = Message(topic=TOPIC, key=worker.encode(), value=value)
    return Commit(partition=int(worker[:-1]), entries=tuple(entries), messages=(message,))


def written(journals: Mapping[EvaluationId, Sequence[Entry]], worker: str) -> int:
    """How many commits of a worker the journal holds."""
    return len(journals.get(EvaluationId(worker), [])) // 2


def say(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


async def commit_for_ever(bus: KafkaBus, worker: str, number: int) -> None:
    try:
        while True:
            await bus.confirm(int(worker[:-1]))
            say("asks", worker, number)
            await bus.commit(commit_of(worker, number))
            say("done", worker, number)
            number += 1
    except OwnershipLost:
        say("lost", worker, number)


async def main(bootstrap: str, group: str) -> None:
    bus = await KafkaBus.open(cluster_of(bootstrap, group))
    tasks: dict[int, list[asyncio.Task[None]]] = {}
    while True:
        match await bus.receive():
            case Assigned(partition=partition, journals=journals):
                say("assigned", partition)
                tasks[partition] = [
                    asyncio.create_task(commit_for_ever(bus, name, written(journals, name)))
                    for name in worker_names(partition)
                ]
            case Revoked(partition=partition):
                say("revoked", partition)
                for task in tasks.pop(partition):
                    task.cancel()
            case Record():
                pass


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
