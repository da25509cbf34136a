"""Locks that the operating system gives back when their holder dies, however it dies."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from monitor.domain.errors import StateLocked


def own(directory: Path) -> IO[str]:
    """Become the one consumer of a state directory, until the returned file is closed.

    Raises:
        StateLocked: another process is; the message names it.
    """
    path = directory / "state.lock"
    file = path.open("a+", encoding="utf-8")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        holder = file.read().strip()
        file.close()
        raise StateLocked(
            f"{directory}: in use by {f'process {holder}' if holder else 'another process'}, which"
            f" holds {path.name}; stop it, or give this one a state directory of its own"
        ) from None
    file.truncate(0)
    file.write(f"{os.getpid()}\n")
    file.flush()
    return file


@contextmanager
def set_up(directory: Path) -> Iterator[None]:
    """Keep other processes from making or migrating the tables at the same time."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
