"""What the service may rely on, whatever carries its events and its journal."""

import asyncio
import itertools

import pytest

from monitor.domain.errors import OwnershipLost
from monitor.domain.identifiers import EvaluationId
from monitor.ports import Assigned, Bus, Commit, Delivery, Entry, Message, Record, Revoked
from tests.contract.installations import (
    SECONDS,
    UNWRITABLE,
    A,
    B,
    Installation,
    records,
    row,
    submit,
    take,
)

NOTE = Message(topic="notes", key=b"k", value=b"v", headers=(("h", b"\x00\xff"),))


async def test_a_partition_is_assigned_before_its_first_record(installation: Installation) -> None:
    bus = await installation.bus()
    await submit(installation, b"1")
    assigned, record = await take(bus, 2)
    assert assigned == Assigned(partition=0, journals={})
    assert record == Record(
        topic="model-versions", partition=0, offset=0, key=b"chat", value=b"1", headers=()
    )


async def test_records_come_in_offset_order(installation: Installation) -> None:
    bus = await installation.bus()
    values = [b"%d" % number for number in range(100)]
    await submit(installation, *values)
    received = await records(bus, 100)
    assert [record.value for record in received] == values
    assert [record.offset for record in received] == list(range(100))


async def test_a_record_arrives_as_it_was_submitted(installation: Installation) -> None:
    bus = await installation.bus()
    headers = (("ce_id", b"\x00\xff"), ("ce_id", b""), ("Ünïcode", b"2"))
    message = Message(topic="model-versions", key=None, value=b"", headers=headers)
    place = await (await installation.submission()).submit(message)
    (record,) = await records(bus, 1)
    assert place == (record.partition, record.offset)
    assert (record.key, record.value, record.headers) == (None, b"", headers)


async def test_receiving_waits_for_a_submission(installation: Installation) -> None:
    bus = await installation.bus()
    await take(bus, 1)
    waiting = asyncio.create_task(take(bus, 1))
    await submit(installation, b"late")
    (record,) = await waiting
    assert isinstance(record, Record)
    assert record.value == b"late"


async def test_equal_keys_share_a_partition(installation: Installation) -> None:
    bus = await installation.bus(partitions=4)
    keys = [b"chat", b"search", b"mail", b"voice", b"code"]
    for value, key in itertools.product([b"0", b"1", b"2"], keys):
        await submit(installation, value, key=key)
    received = await records(bus, 15)
    assert len({record.partition for record in received}) > 1
    for key in keys:
        same = [record for record in received if record.key == key]
        assert [record.value for record in same] == [b"0", b"1", b"2"]
        assert len({record.partition for record in same}) == 1


async def test_partitions_have_their_own_journals_and_settle_alone(
    installation: Installation,
) -> None:
    bus = await installation.bus(partitions=2)
    await submit(installation, b"0", b"1", key=b"chat")
    ours = (await records(bus, 2))[0].partition
    await bus.commit(Commit(partition=ours, settled=1, entries=(row(A, 0),)))
    await bus.commit(Commit(partition=1 - ours, entries=(row(B, 0),)))
    await bus.close()
    again = await installation.bus(partitions=2)
    assigned = [item for item in await take(again, 2) if isinstance(item, Assigned)]
    assert {item.partition: dict(item.journals) for item in assigned} == {
        ours: {A: [row(A, 0)]},
        1 - ours: {B: [row(B, 0)]},
    }
    assert [record.value for record in await records(again, 1)] == [b"1"]


async def test_a_cancelled_receive_loses_nothing(installation: Installation) -> None:
    bus = await installation.bus()
    await submit(installation, *(b"%d" % number for number in range(40)))
    received: list[Delivery] = await take(bus, 1)
    for patience in range(400):
        waiting = asyncio.create_task(bus.receive())
        for _ in range(patience % 4):
            await asyncio.sleep(0)
        if patience % 4 == 0:
            await asyncio.wait([waiting], timeout=patience / 4000)
        waiting.cancel()
        await asyncio.wait([waiting])
        received += [] if waiting.cancelled() else [waiting.result()]
        if len(received) == 41:
            break
    assert [item.offset for item in received if isinstance(item, Record)] == list(range(40))


async def test_what_was_not_committed_is_delivered_again(installation: Installation) -> None:
    bus = await installation.bus()
    await submit(installation, b"1", b"2")
    before = await records(bus, 2)
    await bus.close()
    assert await records(await installation.bus(), 2) == before


async def test_reading_starts_where_it_was_settled(installation: Installation) -> None:
    bus = await installation.bus()
    await submit(installation, b"0", b"1", b"2")
    await records(bus, 2)
    await bus.commit(Commit(partition=0, settled=2))
    await bus.close()
    assert [record.value for record in await records(await installation.bus(), 1)] == [b"2"]


async def test_settling_never_goes_back(installation: Installation) -> None:
    bus = await installation.bus()
    await submit(installation, b"0", b"1", b"2")
    for settled in (2, 1, None):
        await bus.commit(Commit(partition=0, settled=settled))
    await bus.close()
    assert [record.value for record in await records(await installation.bus(), 1)] == [b"2"]


async def test_settling_does_not_move_a_running_bus(installation: Installation) -> None:
    bus = await installation.bus()
    await submit(installation, b"0", b"1")
    await records(bus, 1)
    await bus.commit(Commit(partition=0, settled=1))
    assert [record.value for record in await records(bus, 1)] == [b"1"]


async def journals_after(
    installation: Installation, *commits: Commit
) -> dict[EvaluationId, list[Entry]]:
    """Journals of partition 0 as the next owner finds them."""
    bus = await installation.bus()
    for commit in commits:
        await bus.commit(commit)
    await bus.close()
    (assigned,) = await take(await installation.bus(), 1)
    assert isinstance(assigned, Assigned)
    return {evaluation: list(entries) for evaluation, entries in assigned.journals.items()}


async def journals_after_closing(
    installation: Installation, bus: Bus
) -> dict[EvaluationId, list[Entry]]:
    await bus.close()
    return await journals_after(installation)


async def test_journals_are_restored_in_sequence(installation: Installation) -> None:
    entries = (row(B, 1, b""), row(A, 10), row(A, 2, b"\xff\x00"), row(B, 0))
    journals = await journals_after(
        installation, *(Commit(partition=0, entries=(entry,)) for entry in entries)
    )
    assert journals == {A: [row(A, 2, b"\xff\x00"), row(A, 10)], B: [row(B, 0), row(B, 1, b"")]}


async def test_a_tombstone_deletes_its_row(installation: Installation) -> None:
    journals = await journals_after(
        installation,
        Commit(partition=0, entries=(row(A, 0), row(A, 1), row(B, 0))),
        Commit(partition=0, entries=(row(A, 0, None), row(A, 2), row(B, 0, None), row(B, 7, None))),
    )
    assert journals == {A: [row(A, 1), row(A, 2)]}


async def test_the_same_row_may_be_written_again(installation: Installation) -> None:
    commit = Commit(partition=0, entries=(row(A, 0),))
    assert await journals_after(installation, commit, commit) == {A: [row(A, 0)]}


async def test_messages_are_published_by_their_commit(installation: Installation) -> None:
    bus = await installation.bus()
    assert await installation.published("notes") == []
    await bus.commit(Commit(partition=0, messages=(NOTE, NOTE)))
    await bus.commit(Commit(partition=0, messages=(NOTE,)))
    read = await installation.published("notes")
    assert [(item.key, item.value, item.headers) for item in read] == [
        (NOTE.key, NOTE.value, NOTE.headers)
    ] * 3
    assert [item.offset for item in read] == sorted({item.offset for item in read})


async def test_a_commit_that_cannot_be_written_leaves_nothing(installation: Installation) -> None:
    bus = await installation.bus()
    await submit(installation, b"0")
    entries = (row(A, 0),)
    with pytest.raises(ValueError, match="surrogates not allowed"):
        await bus.commit(
            Commit(partition=0, entries=entries, messages=(NOTE, UNWRITABLE), settled=1)
        )
    await bus.close()
    again = await installation.bus()
    assert await take(again, 1) == [Assigned(partition=0, journals={})]
    assert [record.value for record in await records(again, 1)] == [b"0"]
    assert await installation.published("notes") == []


async def test_commits_at_the_same_time_have_outcomes_of_their_own(
    installation: Installation,
) -> None:
    bus = await installation.bus()

    async def outcome(number: int) -> bool:
        bad = (UNWRITABLE,) if number % 5 == 0 else ()
        try:
            await bus.commit(Commit(partition=0, entries=(row(A, number),), messages=bad))
        except ValueError:
            return False
        return True

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(outcome(number)) for number in range(20)]
    written = [number for number, task in enumerate(tasks) if task.result()]
    assert written == [number for number in range(20) if number % 5]
    assert await journals_after_closing(installation, bus) == {
        A: [row(A, number) for number in written]
    }


async def test_a_cancelled_commit_is_written_whole_or_not_at_all(
    installation: Installation,
) -> None:
    bus = await installation.bus()
    for number in range(10):
        commit = Commit(partition=0, entries=(row(A, 2 * number), row(A, 2 * number + 1)))
        task = asyncio.create_task(bus.commit(commit))
        await asyncio.wait([task], timeout=number / 2000)
        task.cancel()
        await asyncio.wait([task])
    await bus.commit(Commit(partition=0, entries=(row(B, 0),)))
    rows = {entry.sequence for entry in (await journals_after_closing(installation, bus))[A]}
    assert {number + 1 for number in rows if number % 2 == 0} == {n for n in rows if n % 2}


async def test_a_partition_that_is_not_ours_is_not_written_to(installation: Installation) -> None:
    bus = await installation.bus()
    with pytest.raises(OwnershipLost):
        await bus.commit(Commit(partition=1, entries=(row(A, 0),), messages=(NOTE,)))
    assert await installation.published("notes") == []


async def test_a_former_owner_writes_nothing(installation: Installation) -> None:
    former = await installation.bus()
    await former.commit(Commit(partition=0, entries=(row(A, 0),)))
    owner = await installation.usurper()
    with pytest.raises(OwnershipLost):
        await former.commit(Commit(partition=0, entries=(row(A, 1),), messages=(NOTE,)))
    await owner.commit(Commit(partition=0, entries=(row(B, 0),)))
    assert await take(owner, 1) == [Assigned(partition=0, journals={A: [row(A, 0)]})]
    assert await installation.published("notes") == []


async def test_a_former_owner_is_told(installation: Installation) -> None:
    former = await installation.bus()
    await installation.usurper()
    await submit(installation, b"for the new owner")
    assert (await take(former, 2))[1] == Revoked(partition=0)


async def test_closing_twice_is_closing_once(installation: Installation) -> None:
    bus = await installation.bus()
    await bus.close()
    await bus.close()
    assert await take(await installation.bus(), 1) == [Assigned(partition=0, journals={})]


async def test_a_partition_that_is_ours_is_confirmed(installation: Installation) -> None:
    bus = await installation.bus()
    async with asyncio.timeout(SECONDS):
        await bus.confirm(0)
        with pytest.raises(OwnershipLost):
            await bus.confirm(1)


async def test_a_former_owner_is_not_confirmed(installation: Installation) -> None:
    former = await installation.bus()
    owner = await installation.usurper()
    assert (await take(former, 2))[1] == Revoked(partition=0)
    async with asyncio.timeout(SECONDS):
        with pytest.raises(OwnershipLost):
            await former.confirm(0)
        await owner.confirm(0)
