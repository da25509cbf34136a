"""Real processes on one state directory: killed at any moment, and working side by side."""

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
import pytest

from monitor.adapters.embedded.archive import SqliteArchive
from monitor.adapters.embedded.bus import SqliteBus
from monitor.domain.errors import StateLocked
from monitor.ports import Assigned, Entry
from tests.contract.installations import SqliteInstallation, records, submit, take
from tests.scenario import state_user

KILLS = 15


@contextmanager
def started(*arguments: str | Path) -> Iterator[subprocess.Popen[str]]:
    """A process that does not outlive the block."""
    command = [sys.executable, state_user.__file__, *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        try:
            yield child
        finally:
            child.kill()


def lines(child: subprocess.Popen[str], count: int) -> list[str]:
    assert child.stdout
    return [child.stdout.readline() for _ in range(count)]


def commit_until_killed(directory: Path, count: int, seconds: float) -> Counter[str]:
    """Kill a process in the midst of committing.

    Args:
        directory: of the state.
        count: acknowledgements to wait for.
        seconds: further wait, which spreads the kills over all that a commit does.

    Returns:
        How many commits each worker saw acknowledged, up to now.
    """
    with started("commit", directory) as child:
        seen = lines(child, count)
        time.sleep(seconds)
        child.kill()
        seen += child.communicate()[0].splitlines(keepends=True)
    whole = [line.split() for line in seen if line.endswith("\n")]
    return Counter({worker: int(number) + 1 for worker, number in whole})


async def stored(directory: Path) -> dict[str, Sequence[Entry]]:
    bus = await SqliteBus.open(directory)
    (assigned,) = await take(bus, 1)
    await bus.close()
    assert isinstance(assigned, Assigned)
    return {str(name): entries for name, entries in assigned.journals.items()}


async def published(directory: Path, worker: str) -> list[bytes]:
    archive = await SqliteArchive.open(directory)
    found = await archive.messages(worker, limit=1_000_000)
    await archive.close()
    return [record.value for record in found]


async def assert_whole(directory: Path, acknowledged: Counter[str]) -> Counter[str]:
    """Every acknowledged commit is there, at most one more a worker, and none in part.

    Returns:
        Number of commits of each worker.
    """
    # The reader comes first: it has to do with what the kill left behind.
    messages = {worker: await published(directory, worker) for worker in state_user.WORKERS}
    journals = await stored(directory)
    for worker, values in messages.items():
        assert len(values) - acknowledged[worker] in {0, 1}
        commits = [state_user.commit_of(worker, number) for number in range(len(values))]
        assert values == [commit.messages[0].value for commit in commits]
        assert list(journals.get(worker, [])) == [
            entry for commit in commits for entry in commit.entries
        ]
    return Counter({worker: len(values) for worker, values in messages.items()})


async def test_a_kill_loses_no_acknowledged_commit_and_halves_none(tmp_path: Path) -> None:
    moments, known = np.random.default_rng(20_261), Counter[str]()
    for _ in range(KILLS):
        count, seconds = int(moments.integers(1, 60)), float(moments.uniform(0, 0.02))
        # The greater of both: a worker may have seen nothing acknowledged this time.
        known |= commit_until_killed(tmp_path, count, seconds)
        known = await assert_whole(tmp_path, known)
    assert min(known[worker] for worker in state_user.WORKERS) > 0


async def test_a_killed_process_leaves_no_lock(tmp_path: Path) -> None:
    with started("commit", tmp_path) as child:
        lines(child, 1)
        with pytest.raises(StateLocked, match=f"process {child.pid}"):
            await SqliteBus.open(tmp_path)
    await (await SqliteBus.open(tmp_path)).close()


async def test_processes_submit_side_by_side_from_the_first_moment_on(tmp_path: Path) -> None:
    directory = tmp_path / "new"
    with ExitStack() as running:
        for name in "abcd":
            running.enter_context(started("submit", directory, name, "25"))
        bus = await SqliteBus.open(directory)
        received = [record.value.decode().split() for record in await records(bus, 100)]
        await bus.close()
    for name in "abcd":
        numbers = [int(number) for submitter, number in received if submitter == name]
        assert numbers == list(range(25))


async def test_a_daemon_is_submitted_to_and_read_while_it_runs(tmp_path: Path) -> None:
    installation = SqliteInstallation(tmp_path)
    with started("commit", tmp_path) as child:
        lines(child, 4)
        await submit(installation, b"request")
        assert await published(tmp_path, "model-versions") == [b"request"]
        lines(child, 4)
    await installation.close()
