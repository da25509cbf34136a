import asyncio
import threading

import pytest

from monitor.adapters.kafka.deliveries import Deliveries
from monitor.domain.errors import StateCorrupt
from monitor.ports import Assigned, Record, Revoked


def record(offset: int, partition: int = 0) -> Record:
    return Record(topic="t", partition=partition, offset=offset, key=None, value=b"")


def assigned(partition: int) -> Assigned:
    return Assigned(partition=partition, journals={})


async def test_changes_overtake_records() -> None:
    deliveries = Deliveries()
    for each in (record(0), record(1), assigned(1)):
        deliveries.put(each)
    assert [await deliveries.take() for _ in range(3)] == [assigned(1), record(0), record(1)]


async def test_a_revocation_takes_the_records_of_its_partition_along() -> None:
    deliveries = Deliveries()
    for each in (record(0), record(0, partition=1), Revoked(partition=0)):
        deliveries.put(each)
    assert (deliveries.records(0), deliveries.records(1)) == (0, 1)
    assert [await deliveries.take() for _ in range(2)] == [
        Revoked(partition=0),
        record(0, partition=1),
    ]


async def test_a_revocation_lasts_until_the_next_delivery_is_asked_for() -> None:
    deliveries = Deliveries()
    deliveries.put(Revoked(partition=0))
    deliveries.put(assigned(0))
    assert deliveries.is_being_revoked(0)
    await deliveries.take()
    assert deliveries.is_being_revoked(0)
    await deliveries.take()
    assert not deliveries.is_being_revoked(0)


async def test_an_error_is_raised_to_the_reader() -> None:
    deliveries = Deliveries()
    deliveries.put(StateCorrupt("broken"))
    with pytest.raises(StateCorrupt, match="broken"):
        await deliveries.take()


async def test_a_reader_that_waits_is_woken_by_another_thread() -> None:
    deliveries = Deliveries()
    waiting = asyncio.create_task(deliveries.take())
    await asyncio.sleep(0)
    threading.Thread(target=deliveries.put, args=(record(7),)).start()
    assert await waiting == record(7)


async def test_a_reader_that_gives_up_loses_nothing() -> None:
    deliveries = Deliveries()
    waiting = asyncio.create_task(deliveries.take())
    await asyncio.sleep(0)
    deliveries.put(record(7))
    waiting.cancel()
    await asyncio.wait([waiting])
    assert await deliveries.take() == record(7)
