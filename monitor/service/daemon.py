"""The main loop: takes deliveries from the bus, keeps one job per evaluation, commits its end.

A partition's offset moves only past events whose evaluations have all ended, so whatever a stop
or a crash leaves open is read again and found in its journal.
"""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from monitor.domain.errors import InvalidEvent, OwnershipLost
from monitor.domain.events import VersionWithdrawn
from monitor.domain.facts import (
    DeadLettered,
    EventResult,
    EventTaken,
    PartitionAssigned,
    PartitionRevoked,
    ServiceStopping,
)
from monitor.domain.identifiers import EvaluationId
from monitor.domain.plans import Ended
from monitor.domain.results import Outcome, Reason, Verdict
from monitor.ports import Assigned, Commit, Entry, Record, Revoked
from monitor.service import intake, publishing
from monitor.service.evaluating import Cancel, Drain
from monitor.service.jobs import Assignment, Ending, Job, Surroundings
from monitor.service.offsets import LowWaterMark
from monitor.wire import journal

# After the drain: for what came in to be stored.
LAST_COMMITS_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Conduct:
    """How the daemon behaves.

    at_once: evaluations running at the same time; the others wait for their turn.
    read_ahead: events of a partition being dealt with before reading pauses.
    supersede: a newer version of a variant ends the open evaluations of the older one.
    """

    limits: intake.Limits
    at_once: int = 8
    read_ahead: int = 32
    supersede: bool = True


@dataclass(slots=True)
class _Partition:
    """What is known of one assigned partition."""

    journals: dict[EvaluationId, Sequence[Entry]]
    mark: LowWaterMark = field(default_factory=LowWaterMark)
    committing: asyncio.Lock = field(default_factory=asyncio.Lock)
    jobs: dict[asyncio.Task[None], Job] = field(default_factory=dict)
    room: asyncio.Event = field(default_factory=asyncio.Event)


class Daemon:
    """Runs until it is told to stop."""

    def __init__(self, surroundings: Surroundings, conduct: Conduct) -> None:
        self._around = surroundings
        self._bus = surroundings.tools.bus
        self._clock = surroundings.tools.clock
        self._telemetry = surroundings.tools.telemetry
        self._conduct = conduct
        self._partitions: dict[int, _Partition] = {}
        self._turns = asyncio.Semaphore(conduct.at_once)
        self._queues: defaultdict[tuple[str, str], asyncio.Lock] = defaultdict(asyncio.Lock)
        self._stopping = asyncio.Event()
        self._drain = Drain(seconds=0.0)

    @property
    def assigned_partitions(self) -> int:
        """How many partitions are ours."""
        return len(self._partitions)

    def stop(self, drain_seconds: float) -> None:
        """Take no more events; give what is in flight so many seconds."""
        self._telemetry.record(ServiceStopping(drain_seconds=drain_seconds))
        self._drain = Drain(seconds=drain_seconds)
        self._stopping.set()

    async def run(self) -> None:
        """Serve until `stop`.

        Raises:
            StateError: the store failed; everything stored so far is kept.
        """
        try:
            async with asyncio.TaskGroup() as group:
                await self._receive(group)
                await self._wind_up()
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from failed
        finally:
            await self._bus.close()

    async def _wind_up(self) -> None:
        """Let every job stop; one that waits for a bus that is away is left to a later owner."""
        tasks = [task for each in self._partitions.values() for task in each.jobs]
        for job in self._open_jobs():
            job.stop(self._drain)
        if not tasks:
            return
        ending = asyncio.ensure_future(asyncio.wait(tasks))
        patience = self._clock.sleep(self._drain.seconds + LAST_COMMITS_SECONDS)
        waiting = asyncio.ensure_future(patience)
        try:
            await asyncio.wait({ending, waiting}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()
            ending.cancel()
            for task in tasks:
                task.cancel()

    async def _receive(self, group: asyncio.TaskGroup) -> None:
        stopping = asyncio.ensure_future(self._stopping.wait())
        try:
            while not stopping.done():
                receiving = asyncio.ensure_future(self._bus.receive())
                try:
                    await asyncio.wait({receiving, stopping}, return_when=asyncio.FIRST_COMPLETED)
                    if receiving.done():
                        await self._take(receiving.result(), group)
                finally:
                    receiving.cancel()
        finally:
            stopping.cancel()

    async def _take(self, delivery: Assigned | Revoked | Record, group: asyncio.TaskGroup) -> None:
        match delivery:
            case Assigned():
                self._assign(delivery)
            case Revoked():
                self._revoke(delivery.partition)
            case Record():
                try:
                    await self._take_record(delivery, group)
                except OwnershipLost:
                    self._revoke(delivery.partition)
            case _:
                assert_never(delivery)

    def _assign(self, assigned: Assigned) -> None:
        journals = dict(assigned.journals)
        self._partitions[assigned.partition] = _Partition(journals=journals)
        still_open = sum(not _has_ended(entries) for entries in journals.values())
        self._telemetry.record(
            PartitionAssigned(partition=assigned.partition, open_evaluations=still_open)
        )

    def _revoke(self, number: int) -> None:
        partition = self._partitions.pop(number, None)
        if partition is None:
            return
        for task in list(partition.jobs):
            task.cancel()
        self._telemetry.record(PartitionRevoked(partition=number))

    async def _take_record(self, record: Record, group: asyncio.TaskGroup) -> None:
        partition = self._partitions.get(record.partition)
        if partition is None:
            return  # lost to another owner, which reads it too
        partition.mark.take(record.offset)
        try:
            read = intake.read(
                record,
                catalog=self._around.catalog,
                limits=self._conduct.limits,
                now=self._clock.now(),
            )
        except InvalidEvent as error:
            await self._put_aside(partition, record, error)
            return
        if isinstance(read, VersionWithdrawn):
            self._withdraw(read)
            await self._settle(partition, record, EventResult.WITHDRAWAL)
        else:
            await self._begin(partition, record, read=read, group=group)
        await self._wait_for_room(record.partition)

    async def _put_aside(self, partition: _Partition, record: Record, error: InvalidEvent) -> None:
        letter = publishing.put_aside(
            record,
            error,
            topic=self._around.topics.dead_letter,
            software=self._around.software,
        )
        commit = Commit(partition=record.partition, messages=(letter,))
        await self._commit_end(partition, record.offset, commit)
        self._telemetry.record(
            DeadLettered(
                topic=record.topic,
                partition=record.partition,
                offset=record.offset,
                reason=error.reason,
                detail=error.detail,
            )
        )
        self._tell(record, EventResult.DEAD_LETTER)

    async def _settle(self, partition: _Partition, record: Record, result: EventResult) -> None:
        await self._commit_end(partition, record.offset, Commit(partition=record.partition))
        self._tell(record, result)

    async def _begin(
        self,
        partition: _Partition,
        record: Record,
        *,
        read: intake.Requests,
        group: asyncio.TaskGroup,
    ) -> None:
        fresh = [
            request
            for request in read.requests
            if not _has_ended(partition.journals.get(request.subject.evaluation_id, ()))
        ]
        running = {job.subject.evaluation_id for job in self._open_jobs()}
        fresh = [each for each in fresh if each.subject.evaluation_id not in running]
        if not fresh:
            await self._settle(partition, record, EventResult.DUPLICATE)
            return
        if self._conduct.supersede and read.event.is_deployment and not read.too_old:
            self._supersede(read, fresh)
        jobs = [self._job(partition, read, request) for request in fresh]
        waiting = _Countdown(len(jobs))
        for job in jobs:
            task = group.create_task(self._run(partition, job, waiting))
            partition.jobs[task] = job
            task.add_done_callback(lambda done: self._forget(partition, done))
        too_old = read.too_old and not any(job.is_begun for job in jobs)
        self._tell(record, EventResult.TOO_OLD if too_old else EventResult.ACCEPTED)

    def _job(self, partition: _Partition, read: intake.Requests, request: intake.Request) -> Job:
        assignment = Assignment(
            subject=request.subject,
            event=read.event,
            suite=request.suite,
            target=read.target,
            entries=partition.journals.get(request.subject.evaluation_id, ()),
        )
        job = Job(self._around, assignment)
        if read.too_old and not job.is_begun:
            job.stop(_cancel(Reason.TOO_OLD, "The event came too late to be worth its price."))
        return job

    async def _run(self, partition: _Partition, job: Job, waiting: "_Countdown") -> None:
        subject = job.subject
        try:
            async with self._queues[subject.variant, subject.suite], self._turns:
                ending = await job.run()
                if ending is not None:
                    await self._end(partition, job, ending=ending, waiting=waiting)
        except OwnershipLost:
            self._revoke(subject.partition)

    async def _end(
        self, partition: _Partition, job: Job, *, ending: Ending, waiting: "_Countdown"
    ) -> None:
        subject = job.subject
        # One after another: only when all the others are durable may the last one settle the event.
        async with waiting.committing:
            if waiting.left == 1:
                await self._commit_end(partition, subject.offset, ending.commit)
            else:
                await self._bus.commit(ending.commit)
            waiting.left -= 1
        partition.journals[subject.evaluation_id] = ending.commit.entries[-1:]
        self._telemetry.record(ending.fact)

    async def _commit_end(self, partition: _Partition, offset: int, commit: Commit) -> None:
        """Commit what ends an event, and with it how far reading has come."""
        async with partition.committing:
            settled = partition.mark.settled_without(offset)
            await self._bus.commit(replace(commit, settled=settled))
            partition.mark.finish(offset)
        partition.room.set()

    def _forget(self, partition: _Partition, task: asyncio.Task[None]) -> None:
        partition.jobs.pop(task, None)
        partition.room.set()

    async def _wait_for_room(self, number: int) -> None:
        while not self._stopping.is_set():
            partition = self._partitions.get(number)
            if partition is None or partition.mark.open < self._conduct.read_ahead:
                return
            partition.room.clear()
            room = asyncio.ensure_future(partition.room.wait())
            stop = asyncio.ensure_future(self._stopping.wait())
            await asyncio.wait({room, stop}, return_when=asyncio.FIRST_COMPLETED)
            room.cancel()
            stop.cancel()

    def _withdraw(self, event: VersionWithdrawn) -> None:
        halt = _cancel(Reason.WITHDRAWN, f"Version {event.version} was withdrawn.")
        for job in self._open_jobs():
            if (job.subject.variant, job.subject.version) == (event.variant, event.version):
                job.stop(halt)

    def _supersede(self, read: intake.Requests, fresh: Sequence[intake.Request]) -> None:
        halt = _cancel(Reason.SUPERSEDED, f"Version {read.event.version} has gone live since.")
        suites = {request.subject.suite for request in fresh}
        for job in self._open_jobs():
            subject = job.subject
            same = subject.variant == read.event.variant and subject.suite in suites
            if same and subject.version != read.event.version:
                job.stop(halt)

    def _open_jobs(self) -> list[Job]:
        return [job for each in self._partitions.values() for job in each.jobs.values()]

    def _tell(self, record: Record, result: EventResult) -> None:
        self._telemetry.record(
            EventTaken(
                topic=record.topic,
                partition=record.partition,
                offset=record.offset,
                result=result,
                at=self._clock.now(),
            )
        )


@dataclass(slots=True)
class _Countdown:
    """How many evaluations of an event have no published result yet."""

    left: int
    committing: asyncio.Lock = field(default_factory=asyncio.Lock)


def _cancel(reason: Reason, sentence: str) -> Cancel:
    return Cancel(verdict=Verdict(outcome=Outcome.CANCELLED, reason=reason, sentence=sentence))


def _has_ended(entries: Sequence[Entry]) -> bool:
    last = entries[-1].value if entries else None
    return last is not None and isinstance(journal.decode(last), Ended)
