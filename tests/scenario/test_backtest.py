"""A back-test as a process of its own, whose workers never outlive it."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from monitor.history import outcomes
from tests.scenario import daemon
from tests.unit.history import recorded

Stop = Callable[[subprocess.Popen[str]], None]


@contextmanager
def at_work(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A back-test of hours that has begun, in a process group of its own."""
    outcomes.write_outcomes(folder / "outcomes.npz", recorded.matrix())
    options = ("--outcomes", folder / "outcomes.npz", "--runs", 1_000_000, "--processes", 2)
    command = [*daemon.MONITOR, "backtest", *map(str, options)]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            assert process.stderr is not None
            assert any("learnt: 1 of 1" in line for line in process.stderr)
            yield process
        finally:
            process.kill()


def press_ctrl_c(process: subprocess.Popen[str]) -> None:
    """A terminal sends the interrupt to the whole group."""
    os.killpg(process.pid, signal.SIGINT)


@pytest.mark.parametrize(
    ("stop", "code"),
    [(press_ctrl_c, 130), (subprocess.Popen.kill, -9)],
    ids=["interrupted", "killed"],
)
def test_workers_end_with_the_command(tmp_path: Path, stop: Stop, code: int) -> None:
    with at_work(tmp_path) as process:
        stop(process)
        # Workers hold the other end of the pipe: it is read to its end when the last one is gone.
        _, said = process.communicate(timeout=daemon.SECONDS)
        assert process.returncode == code
        assert "Traceback" not in said
