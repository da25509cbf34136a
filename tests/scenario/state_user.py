"""A process that uses a state directory until it is done or killed.

`state_user.py commit DIRECTORY`: four workers commit for ever. Commit k of a worker is two
journal rows and a message; a line "worker k" says that it was acknowledged.
`state_user.py submit DIRECTORY NAME COUNT`: submits that many requests.
"""

import asyncio
import sys
from pathlib import Path

from monitor.adapters.embedded.bus import SqliteBus
from monitor.adapters.embedded.submission import SqliteSubmission
from monitor.domain.identifiers import EvaluationId
from monitor.ports import Commit, Entry, Message

WORKERS = ("a", "b", "c", "d")


def commit_of(worker: str, number: int) -> Commit:
    name = EvaluationId(worker)
    value = b"%d" % number
    return Commit(
        partition=0,
        entries=tuple(
            Entry(evaluation_id=name, sequence=2 * number + half, value=value * 50)
            for half in (0, 1)
        ),
        messages=(Message(topic=worker, key=None, value=value),),
    )


async def commit_for_ever(bus: SqliteBus, worker: str, number: int) -> None:
    while True:
        await bus.commit(commit_of(worker, number))
        sys.stdout.write(f"{worker} {number}\n")
        sys.stdout.flush()
        number += 1


async def commit(directory: Path) -> None:
    bus = await SqliteBus.open(directory)
    assigned = await bus.receive()
    async with asyncio.TaskGroup() as group:
        for worker in WORKERS:
            rows = getattr(assigned, "journals", {}).get(worker, [])
            group.create_task(commit_for_ever(bus, worker, len(rows) // 2))


async def submit(directory: Path, name: str, count: int) -> None:
    submission = await SqliteSubmission.open(directory)
    for number in range(count):
        value = b"%s %d" % (name.encode(), number)
        await submission.submit(Message(topic="model-versions", key=None, value=value))
    await submission.close()


if __name__ == "__main__":
    what, where, *rest = sys.argv[1:]
    if what == "commit":
        asyncio.run(commit(Path(where)))
    else:
        asyncio.run(submit(Path(where), rest[0], int(rest[1])))
