"""Grades by a command of the installation, which may be anything and is trusted with nothing.

Each answer is graded by a process of its own, in an empty folder that is removed afterwards, with
no environment, as leader of a session of its own: at the end its whole process group is killed, be
it done, late or talkative. What is not killed is what leaves the group, so code from answers
belongs in a sandbox that the command sets up.
"""

import asyncio
import contextlib
import logging
import os
import signal
import tempfile
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Sequence

from monitor.domain.answers import Grade, Ungraded
from monitor.grading import external

log = logging.getLogger(__name__)

FAILED = Grade(ungraded=Ungraded.FAILED)
END_SECONDS = 5.0
"""Longest wait for a process to be gone once it was killed; one of another user cannot be."""


async def grade(command: Sequence[str], question: bytes, *, seconds: float) -> Grade:
    """Run a command for one answer; whatever goes wrong is a value.

    Args:
        command: program and arguments; nothing of it comes from a suite or an answer.
        question: what it reads from its standard input.
        seconds: after which it is killed.
    """
    try:
        status, said = await _run(command, question, seconds=seconds)
    except TimeoutError:
        log.warning("grader %s: killed after %g s", command[0], seconds)
        return Grade(ungraded=Ungraded.TIME_LIMIT)
    except OSError as error:
        log.warning("grader %s: cannot be started: %s", command[0], error)
        return FAILED
    found = external.grade(said) if status == 0 else FAILED
    if found == FAILED:
        log.warning(
            "grader %s: no score in %d bytes, exit status %s", command[0], len(said), status
        )
    return found


async def _run(
    command: Sequence[str], question: bytes, *, seconds: float
) -> tuple[int | None, bytes]:
    """Exit status and output of a command.

    Raises:
        TimeoutError: it took too long.
        OSError: it could not be started.
    """
    folder = tempfile.TemporaryDirectory(prefix="grader-", ignore_cleanup_errors=True)
    try:
        transport, talk = await asyncio.get_running_loop().subprocess_exec(
            _Conversation,
            *command,
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            cwd=folder.name,
            env={},
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(seconds):
                await talk.hold(question)
        finally:
            await talk.end()
        return transport.get_returncode(), bytes(talk.said)
    finally:
        # Code from an answer may have filled it with any number of files.
        await asyncio.to_thread(folder.cleanup)


class _Conversation(asyncio.SubprocessProtocol):
    """What a process is told and says, until it is over."""

    def __init__(self) -> None:
        self.said = bytearray()
        self._enough = asyncio.Event()
        self._gone = asyncio.Event()

    async def hold(self, question: bytes) -> None:
        """Tell it the question, and wait until it is over or has said too much."""
        requests = self._transport.get_pipe_transport(0)
        if isinstance(requests, asyncio.WriteTransport):
            requests.write(question)  # it need not read it
            requests.close()
        await self._enough.wait()

    async def end(self) -> None:
        """Kill what is left and wait for it to be gone, unless it may not be killed."""
        self._kill()
        with contextlib.suppress(PermissionError):
            self._transport.close()
        try:
            async with asyncio.timeout(END_SECONDS):
                await self._gone.wait()
        except TimeoutError:
            log.warning("grader: process %d cannot be killed", self._transport.get_pid())

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take up the process."""
        if not isinstance(transport, asyncio.SubprocessTransport):
            raise TypeError(transport)
        self._transport = transport

    def pipe_data_received(self, fd: int, data: bytes) -> None:  # noqa: ARG002 - there is one pipe
        """Take down what it says."""
        self.said += data
        if len(self.said) > external.LONGEST_REPLY:
            self._enough.set()

    def process_exited(self) -> None:
        """Kill what it has left behind, which may hold its output open."""
        self._kill()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - it is over, however
        """Know that the process is over and its pipes are closed."""
        self._enough.set()
        self._gone.set()

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._transport.get_pid(), signal.SIGKILL)
