"""Real processes on a real broker: killed, stopped and cut off at any moment."""

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from tests.broker import kafka_topics
from tests.broker.local import LocalBroker
from tests.kafka import bus_user
from tests.kafka.processes import User, assert_whole

pytestmark = pytest.mark.kafka

GROUP, PARTITIONS, KILLS = "g", 2, 8


@contextmanager
def using(broker: LocalBroker, partitions: int) -> Iterator[list[User]]:
    """A list of users to be added to; none outlives the block."""
    kafka_topics.renew(bus_user.cluster_of(broker.bootstrap, GROUP), partitions)
    users: list[User] = []
    try:
        yield users
    finally:
        for user in users:
            user.kill()


def finish(users: list[User]) -> None:
    for user in users:
        user.kill()


def test_kills_lose_nothing_and_repeat_nothing(local_broker: LocalBroker) -> None:
    moments = np.random.default_rng(20_261)
    with using(local_broker, PARTITIONS) as users:
        users += [User(local_broker.bootstrap, GROUP) for _ in range(2)]
        for number in range(KILLS):
            living = [user for user in users if user.process.poll() is None]
            living[int(moments.integers(len(living)))].wait_for("done", 1)
            # Spreads the kills over all that a commit and a takeover do.
            time.sleep(float(moments.uniform(0, 0.5)))
            living[int(moments.integers(len(living)))].kill()
            if number == KILLS // 2:
                local_broker.stop(signal.SIGKILL)
                local_broker.start()
            users.append(User(local_broker.bootstrap, GROUP))
            users[-1].wait_for("done", 1)
        finish(users)
        assert assert_whole(local_broker.bootstrap, GROUP, users, PARTITIONS) > KILLS


def test_an_outage_ends_no_commit(local_broker: LocalBroker) -> None:
    with using(local_broker, PARTITIONS) as users:
        users.append(User(local_broker.bootstrap, GROUP))
        for _ in range(3):
            users[0].wait_for("done", len(users[0].said("done")) + 20)
            local_broker.stop(signal.SIGKILL)
            local_broker.start()
        users[0].wait_for("done", len(users[0].said("done")) + 20)
        finish(users)
        assert_whole(local_broker.bootstrap, GROUP, users, PARTITIONS)


def test_a_process_that_was_replaced_asks_and_writes_nothing(local_broker: LocalBroker) -> None:
    with using(local_broker, 1) as users:
        users.append(User(local_broker.bootstrap, GROUP))
        users[0].wait_for("done", 10)
        users[0].process.send_signal(signal.SIGSTOP)
        users.append(User(local_broker.bootstrap, GROUP))
        users[1].wait_for("done", 10)
        before = len(users[0].said("asks"))
        users[0].process.send_signal(signal.SIGCONT)
        users[0].wait_for("revoked", 1)
        # Whoever had just been told to go on when the process was stopped cannot be called back.
        assert len(users[0].said("asks")) - before <= len(bus_user.WORKERS)
        users[1].wait_for("done", len(users[1].said("done")) + 10)
        finish(users)
        assert_whole(local_broker.bootstrap, GROUP, users, 1)
