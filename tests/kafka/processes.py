"""Processes that use the bus, what they say, and what their commits must have left behind."""

import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence

from monitor.adapters.kafka import journal
from tests.broker import kafka_topics
from tests.kafka import bus_user

SECONDS = 90.0


class User:
    """A running `bus_user.py` and the lines that it has printed."""

    def __init__(self, bootstrap: str, group: str) -> None:
        self.lines: list[list[str]] = []
        self.process = subprocess.Popen(
            [sys.executable, bus_user.__file__, bootstrap, group],
            stdout=subprocess.PIPE,
            text=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout
        self.lines += (line.split() for line in self.process.stdout if line.endswith("\n"))

    def said(self, word: str) -> list[list[str]]:
        return [line for line in self.lines if line[0] == word]

    def wait_for(self, word: str, count: int) -> None:
        """Wait until a word has been said so many times."""
        wait(lambda: len(self.said(word)) >= count, f"{count} times {word!r}")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self._reader.join()
        assert self.process.stdout
        self.process.stdout.close()

    def acknowledged(self) -> Counter[str]:
        """How many commits of each worker are known to be durable."""
        return Counter({worker: int(number) + 1 for _, worker, number in self.said("done")})


def wait(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.02)


def assert_whole(bootstrap: str, group: str, users: Sequence[User], partitions: int) -> int:
    """Every worker's commits are there once, in order, whole, and all that were acknowledged.

    Returns:
        Number of commits.
    """
    cluster = bus_user.cluster_of(bootstrap, group)
    published = kafka_topics.committed(cluster, bus_user.TOPIC)
    for partition in range(partitions):
        journals = journal.read(cluster, partition, seconds=SECONDS).journals
        for worker in bus_user.worker_names(partition):
            values = [each.value for each in published if each.key == worker.encode()]
            commits = [bus_user.commit_of(worker, number) for number in range(len(values))]
            assert values == [commit.messages[0].value for commit in commits]
            rows = [entry for commit in commits for entry in commit.entries]
            assert list(journals.get(commits[0].entries[0].evaluation_id, [])) == rows
            assert len(values) >= max(user.acknowledged()[worker] for user in users)
    return len(published)
