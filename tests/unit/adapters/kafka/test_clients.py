import logging
import threading
from collections.abc import Callable

import pytest
from kafka.errors import KafkaTimeoutError

from monitor.adapters.kafka import clients
from tests.unit.adapters.kafka.examples import CLUSTER


def test_what_takes_too_long_is_left_to_itself() -> None:
    end = threading.Event()
    with pytest.raises(TimeoutError, match=r"no answer within 0.01 seconds"):
        clients.within(0.01, end.wait)
    end.set()


def test_what_is_done_in_time_returns_or_raises_as_it_would() -> None:
    assert clients.within(10.0, lambda: 5) == 5
    with pytest.raises(ZeroDivisionError):
        clients.within(10.0, lambda: 1 / 0)


class Stubborn:
    """A producer whose close gives up, as the client's does while records are pending."""

    def __init__(self) -> None:
        self.forced = False
        self._sender = self
        self._closed = False

    def close(self, *, timeout: float) -> None:
        raise KafkaTimeoutError(timeout)

    def force_close(self) -> None:
        self.forced = True


def test_a_producer_that_will_not_close_is_ended_all_the_same() -> None:
    producer = Stubborn()
    clients.discard(producer)
    assert producer.forced
    assert producer._closed  # noqa: SLF001 - what keeps the garbage collector from closing it


def failure(make: Callable[[], object]) -> str:
    try:
        make()
    except KafkaTimeoutError as error:
        return clients.in_words(error)
    return ""


def test_a_client_that_finds_no_broker_leaves_no_thread_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(clients, "BOOTSTRAP_SECONDS", 0.05)
    before = threading.active_count()
    for make in (CLUSTER.consumer, CLUSTER.producer, CLUSTER.admin):
        assert "no broker answers" in failure(make)
    assert threading.active_count() == before


def test_passwords_are_shown_nowhere() -> None:
    assert "secret-password" not in repr(CLUSTER)
    assert logging.getLogger("kafka").getEffectiveLevel() >= logging.WARNING
