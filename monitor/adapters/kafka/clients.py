"""Clients of kafka-python, made alike and let go of safely.

The client blocks for ever in some calls when its broker goes away, and `close` gives up when
records are pending; everything that can hang is therefore called through `within`.
"""

import contextlib
import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import kafka
from kafka.errors import KafkaError
from kafka.net.compat import KafkaNetClient

from monitor.settings import TopicSettings

T = TypeVar("T")

BOOTSTRAP_SECONDS = 3.0
CLOSE_SECONDS = 1.0
# The largest record that is sent: what the default of max.message.bytes lets into the request
# topic must still fit when it is put aside, with the reason in its headers.
MAX_REQUEST_BYTES = 1_150_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Where the brokers are, who we are there, and what the topics are called.

    session_seconds: after so long without a sign of life the group gives our partitions away.
    heartbeat_seconds: from one sign of life to the next.
    security: options of the client that concern encryption and authentication.
    """

    bootstrap_servers: tuple[str, ...]
    group: str
    client_id: str
    topics: TopicSettings
    journal: str
    session_seconds: float = 10.0
    heartbeat_seconds: float = 0.5
    security: Mapping[str, object] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        """The brokers as they are called in messages."""
        return ",".join(self.bootstrap_servers)

    def consumer(self, **options: object) -> Any:  # noqa: ANN401 - the client has no types
        """A consumer that commits nothing by itself and begins at the beginning."""
        settings: dict[str, object] = {
            "auto_offset_reset": "earliest",
            "enable_auto_commit": False,
            "allow_auto_create_topics": False,
            "reconnect_backoff_max_ms": 1000,
        }
        return _opened(kafka.KafkaConsumer, self._common() | settings | options)

    @contextmanager
    def reading(self, **options: object) -> Iterator[Any]:
        """A consumer for the length of a block."""
        consumer = self.consumer(**options)
        try:
            yield consumer
        finally:
            close_consumer(consumer)

    def producer(self, **options: object) -> Any:  # noqa: ANN401 - as above
        """A producer whose every wait is short enough to be waited for."""
        settings: dict[str, object] = {
            "max_request_size": MAX_REQUEST_BYTES,
            "allow_auto_create_topics": False,
            "delivery_timeout_ms": 6000,
            "request_timeout_ms": 3000,
            "max_block_ms": 5000,
            "retry_backoff_ms": 20,
            "reconnect_backoff_max_ms": 500,
        }
        return _opened(kafka.KafkaProducer, self._common() | settings | options)

    def admin(self) -> Any:  # noqa: ANN401 - as above
        """A client for topics and groups."""
        return _opened(kafka.KafkaAdminClient, self._common() | {"request_timeout_ms": 10_000})

    def _common(self) -> dict[str, object]:
        # At DEBUG the client writes passwords.
        logging.getLogger("kafka").setLevel(logging.WARNING)
        return {
            "bootstrap_servers": list(self.bootstrap_servers),
            "client_id": self.client_id,
            "bootstrap_timeout_ms": int(BOOTSTRAP_SECONDS * 1000),
            **self.security,
        }


def _opened(kind: Callable[..., Any], options: Mapping[str, object]) -> Any:  # noqa: ANN401
    """A client; one that finds no broker leaves nothing behind, as it does by itself.

    Raises:
        KafkaError: no broker answers.
    """
    below: list[Any] = []

    def network(**configuration: object) -> Any:  # noqa: ANN401 - the client has no types
        below.append(KafkaNetClient(**configuration))
        return below[0]

    try:
        return kind(**options, kafka_client=network)
    except BaseException:
        for each in below:
            each.close()
        raise


def within(seconds: float, work: Callable[[], T]) -> T:
    """Do `work` in a thread that is left to itself if it takes longer.

    Raises:
        TimeoutError: it took longer; whether it ever ends, and how, is unknown.
    """
    returned: list[T] = []
    raised: list[BaseException] = []

    def run() -> None:
        try:
            returned.append(work())
        except BaseException as error:  # noqa: BLE001 - raised again in the waiting thread
            raised.append(error)

    thread = threading.Thread(target=run, name="kafka-call", daemon=True)
    thread.start()
    thread.join(seconds)
    if raised:
        raise raised[0]
    if not returned:
        raise TimeoutError(f"no answer within {seconds:g} seconds")
    return returned[0]


def discard(producer: Any) -> None:  # noqa: ANN401 - the client has no types
    """Let go of a producer, whatever state it is in; waits little and raises nothing."""
    with contextlib.suppress(KafkaError, TimeoutError):
        within(2 * CLOSE_SECONDS, lambda: producer.close(timeout=CLOSE_SECONDS))
        return
    # With records pending `close` gives up before it has ended anything, and would be tried
    # again, blocking, by whichever thread collects the garbage.
    producer._sender.force_close()  # noqa: SLF001
    producer._closed = True  # noqa: SLF001


def close_consumer(consumer: Any) -> None:  # noqa: ANN401 - the client has no types
    """Leave the group, where there is one, and let go; waits little and raises nothing."""
    with contextlib.suppress(KafkaError, TimeoutError):
        within(3 * CLOSE_SECONDS, lambda: consumer.close(timeout_ms=int(CLOSE_SECONDS * 1000)))


def in_words(error: BaseException) -> str:
    """What a client's error says, with what it leaves out."""
    text = str(error) or type(error).__name__
    if "Unable to bootstrap" in text:
        return (
            "no broker answers, or none accepts our encryption or credentials;"
            " check bus.bootstrap_servers and bus.security"
        )
    return text
