"""The producing side: any process may announce versions."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Self

from kafka.errors import KafkaError

from monitor.adapters.kafka import rows
from monitor.adapters.kafka.clients import Cluster, discard, in_words
from monitor.domain.errors import StateError
from monitor.ports import Message

SEND_SECONDS = 10.0
# Above this the brokers, left at their defaults, refuse a record; and a refusal by the brokers
# makes the client fail whatever it is given afterwards.
LIMIT = 1_000_000


class KafkaSubmission:
    """The `Submission` port on the request topic."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._producer: Any = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="kafka-submission")

    @classmethod
    async def open(cls, cluster: Cluster) -> Self:
        """Prepare to submit; the brokers are asked with the first message."""
        return cls(cluster)

    async def submit(self, message: Message) -> tuple[int, int]:
        """Append a record; returns its partition and offset once it is durable.

        Raises:
            StateError: the brokers do not answer or refuse the record.
            ValueError: the record cannot be sent.
        """
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, partial(self._submit, message))

    def _submit(self, message: Message) -> tuple[int, int]:
        record = rows.outgoing(message)
        if record.size > LIMIT:
            raise ValueError(f"the record has {record.size} bytes, more than the {LIMIT} allowed")
        try:
            if self._producer is None:
                self._producer = self._cluster.producer(max_request_size=LIMIT)
            return rows.place(rows.send(self._producer, record), seconds=SEND_SECONDS)
        except (KafkaError, OSError) as error:
            self._let_go()  # after a failure it may fail for ever
            raise StateError(
                f"topic {message.topic} at {self._cluster.name}: {in_words(error)}; whether the"
                " message was appended is unknown, submitting it again does no harm"
            ) from error

    def _let_go(self) -> None:
        producer, self._producer = self._producer, None
        if producer is not None:
            discard(producer)

    async def close(self) -> None:
        """Let go of the brokers."""
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._thread, self._let_go)
        self._thread.shutdown()
