import asyncio
import json
import logging
import os
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from monitor.adapters import command_grader
from monitor.domain.answers import Grade, Ungraded

FAILED = Grade(ungraded=Ungraded.FAILED)
LATE = Grade(ungraded=Ungraded.TIME_LIMIT)
QUESTION = b'{"answer": "4"}'


async def run(script: str, *arguments: str, seconds: float = 60.0) -> Grade:
    command = (sys.executable, "-c", script, *arguments)
    return await command_grader.grade(command, QUESTION, seconds=seconds)


async def test_the_answer_comes_in_and_the_score_goes_out() -> None:
    script = "import json, sys; said = json.load(sys.stdin)['answer']; "
    script += "print(json.dumps({'score': int(said) / 8}))"
    assert await run(script) == Grade(score=0.5)


SCORE = "print('{\"score\": 1}')"
FAILURES = [
    "raise SystemExit(1)",
    f"{SCORE}; raise SystemExit(1)",
    f"{SCORE}; import os, signal; os.kill(os.getpid(), signal.SIGSEGV)",
    "pass",
    "print('PASSED')",
    "import sys; print('{\"score\": 1}', file=sys.stderr)",
    'print(\'{"error": "no compiler"}\')',
]


@pytest.mark.parametrize("script", FAILURES)
async def test_whatever_is_no_score_is_a_failure(script: str) -> None:
    assert await run(script) == FAILED


async def test_a_command_that_is_not_there_is_a_failure() -> None:
    assert await command_grader.grade(["/nowhere/tests"], QUESTION, seconds=60) == FAILED


async def test_a_command_need_not_read_its_input() -> None:
    question = b"x" * 10_000_000
    command = (sys.executable, "-c", SCORE)
    assert await command_grader.grade(command, question, seconds=60) == Grade(score=1.0)


async def test_a_command_that_never_stops_talking_is_ended() -> None:
    assert await run("while True: print('x' * 1000)") == FAILED


def pids(notes: Path) -> list[int]:
    return [int(line) for line in notes.read_text().split()]


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that waits to be buried by init does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in {"Z", "X"}


FORKING = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
with open(sys.argv[1], "w") as notes:
    print(os.getpid(), child.pid, file=notes)
"""


@pytest.mark.skipif(not Path("/proc").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize(
    ("ending", "grade"),
    [(SCORE, Grade(score=1.0)), ("time.sleep(600)", LATE)],
)
async def test_nothing_that_it_started_outlives_it(
    ending: str, grade: Grade, tmp_path: Path
) -> None:
    notes = tmp_path / "pids"
    assert await run(FORKING + ending, str(notes), seconds=3.0) == grade
    assert len(pids(notes)) == 2
    async with asyncio.timeout(30.0):
        while any(is_alive(pid) for pid in pids(notes)):  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(0.01)  # what is killed is gone a moment later


class Untouchable(asyncio.SubprocessTransport):
    """A process that has become that of another user, by sudo for instance, and does not end."""

    def get_pid(self) -> int:
        return 2**31 - 1

    def get_pipe_transport(self, fd: int) -> None:
        assert fd == 0

    def get_returncode(self) -> None:
        """None, for it runs."""

    def close(self) -> None:
        raise PermissionError


async def test_a_command_that_may_not_be_killed_is_waited_for_no_longer(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def start(
        protocol: Callable[[], asyncio.SubprocessProtocol], *_: object, **__: object
    ) -> tuple[asyncio.SubprocessTransport, asyncio.SubprocessProtocol]:
        talk, transport = protocol(), Untouchable()
        talk.connection_made(transport)
        return transport, talk

    monkeypatch.setattr(asyncio.get_running_loop(), "subprocess_exec", start)
    monkeypatch.setattr(command_grader, "END_SECONDS", 0.01)
    caplog.set_level(logging.WARNING, logger=command_grader.log.name)
    async with asyncio.timeout(60):
        grade = await command_grader.grade(["/usr/bin/sudo"], QUESTION, seconds=0.01)
    assert grade == LATE
    assert "cannot be killed" in caplog.text


async def test_a_folder_that_takes_long_to_empty_holds_nothing_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    emptied_by: list[threading.Thread] = []

    class Folder(tempfile.TemporaryDirectory[str]):
        def cleanup(self) -> None:
            emptied_by.append(threading.current_thread())
            super().cleanup()

    monkeypatch.setattr(tempfile, "TemporaryDirectory", Folder)
    assert await run(SCORE) == Grade(score=1.0)
    assert threading.main_thread() not in emptied_by
    assert emptied_by


def is_there(folder: str) -> bool:
    return Path(folder).exists()


SHOW = """
import json, os, sys
with open(sys.argv[1], "w") as note:
    json.dump([dict(os.environ), os.getcwd(), os.listdir(), os.getsid(0)], note)
"""


async def test_it_is_alone_in_an_empty_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_KEY", "hunter2")
    note = tmp_path / "note"
    await run(SHOW, str(note))
    environment, folder, files, session = json.loads(note.read_text())
    assert "hunter2" not in environment.values()
    assert set(environment) <= {"LC_CTYPE"}  # Python sets it for itself
    assert files == []
    assert not is_there(folder)
    assert session != os.getsid(0)
