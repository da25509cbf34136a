"""Grades in this process what is sure to end soon, and in a process that can be killed the rest.

A regular expression of a suite may run for ever and does not let go of the interpreter, so only the
death of its process ends it; so may a formula, or a pattern in a JSON Schema. A worker is started
when it is first needed, answers one request at a time, and is killed, and later replaced, when it
runs over its time limit or breaks. Requests wait for a free worker; their time counts from when it
says that the grader is prepared.

Of an answer longer than a million characters the last million are graded.
"""

import asyncio
import contextlib
import sys
from asyncio.subprocess import PIPE, Process

from monitor.adapters import grader_worker
from monitor.domain.answers import Grade, Ungraded
from monitor.domain.suites import GraderSpec, Item
from monitor.grading import graders

LONGEST = 1_000_000
# Longer texts are graded in a worker, or they would hold up everything else meanwhile.
LONGEST_HERE = 20_000
_START_SECONDS = 60.0
# Of a reply, which repeats what was extracted: up to six characters for one in JSON, or twelve.
_LINE_LIMIT = 16 * LONGEST


class GraderProcesses:
    """Runs graders; use `close` when done with it."""

    def __init__(self, *, seconds: float = 2.0, workers: int = 2) -> None:
        """Start nothing yet.

        Args:
            seconds: time limit of one answer.
            workers: most answers that are graded at the same time.
        """
        self._workers = [_Worker(seconds) for _ in range(workers)]
        self._idle: asyncio.LifoQueue[_Worker] = asyncio.LifoQueue()
        for worker in self._workers:
            self._idle.put_nowait(worker)

    async def grade(self, spec: GraderSpec, item: Item, text: str) -> Grade:
        """Score a text; a grader that fails or runs over its time limit is a value."""
        text = text[-LONGEST:]
        if len(text) <= LONGEST_HERE and not graders.GRADERS[spec.kind].can_hang:
            return graders.grade(spec, item, text)
        request = grader_worker.encode_request(spec, item, text)
        worker = await self._idle.get()
        try:
            return await worker.grade(request)
        finally:
            self._idle.put_nowait(worker)

    async def close(self) -> None:
        """Kill every worker; what is being graded fails, and so does whatever comes after."""
        for worker in self._workers:
            await worker.close()


class _Worker:
    """One process at most, and none after `close`."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._process: Process | None = None
        self._closed = False

    async def grade(self, request: bytes) -> Grade:
        """Ask the process; unless it answers, it is dead afterwards."""
        answered = False
        try:
            replies = await self._ready(request)
            if replies is None:
                return Grade(ungraded=Ungraded.FAILED)
            async with asyncio.timeout(self._seconds):
                grade = grader_worker.decode_reply(await replies.readline())
            answered = True
        except TimeoutError:
            return Grade(ungraded=Ungraded.TIME_LIMIT)
        except (OSError, ValueError):
            return Grade(ungraded=Ungraded.FAILED)
        else:
            return grade
        finally:
            if not answered:
                await self._kill()

    async def close(self) -> None:
        self._closed = True
        await self._kill()

    async def _ready(self, request: bytes) -> asyncio.StreamReader | None:
        """Send a request; return where its reply comes from, None where no process can be had."""
        if self._closed:
            return None
        if self._process is None:
            command = (sys.executable, "-P", "-m", grader_worker.__name__, str(self._seconds))
            # A session of its own: an interrupt from the keyboard is for the parent alone.
            self._process = await asyncio.create_subprocess_exec(
                *command, stdin=PIPE, stdout=PIPE, limit=_LINE_LIMIT, start_new_session=True
            )
        requests, replies = _pipes(self._process)
        requests.write(request)
        try:
            async with asyncio.timeout(_START_SECONDS):
                await requests.drain()
                is_ready = await replies.readline() == grader_worker.READY
        except TimeoutError:
            return None
        return replies if is_ready else None

    async def _kill(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()


def _pipes(process: Process) -> tuple[asyncio.StreamWriter, asyncio.StreamReader]:
    if process.stdin is None or process.stdout is None:
        raise BrokenPipeError("the process was started without pipes")
    return process.stdin, process.stdout
