"""Work spread over processes, one core each, that end with the command that started them."""

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Self, TypeVar

from monitor.domain.errors import UsageError

T = TypeVar("T")
R = TypeVar("R")

# Each worker has a core of its own. How a library divides a sum among threads would also settle how
# it is rounded.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
# Work given out for each worker, so that none waits for more.
AHEAD = 4


class WorkerProcesses:
    """Maps functions over arguments; to be used as a context, whose end is that of the workers.

    Workers are started when they are first needed, and also where one would do, so that results
    are the same for any number of them.
    """

    def __init__(self, processes: int | None = None) -> None:
        """Start nothing yet.

        Args:
            processes: how many, at least 1; as many as there are cores where None.
        """
        for name, value in ONE_THREAD.items():
            # The workers inherit it; this process does not read it again.
            os.putenv(name, value)
        self._most_given_out = AHEAD * (processes or os.cpu_count() or 1)
        self._executor = ProcessPoolExecutor(
            processes, mp_context=multiprocessing.get_context("spawn"), initializer=_begin
        )

    def map(self, function: Callable[[T], R], arguments: Iterable[T]) -> Iterator[R]:
        """Yield the results in the order of the arguments.

        Args:
            function: of a module, so that a worker can import it.
            arguments: what can be sent to another process.

        Raises:
            UsageError: a worker died.
        """
        # The executor's own map cancels what nobody waits for any more, and over that the executor
        # stumbles when its workers are killed.
        given_out: deque[Future[R]] = deque()
        try:
            for argument in arguments:
                if len(given_out) == self._most_given_out:
                    yield given_out.popleft().result()
                given_out.append(self._executor.submit(function, argument))
            while given_out:
                yield given_out.popleft().result()
        except BrokenProcessPool:
            raise UsageError(
                "a worker process was killed, perhaps for want of memory; try fewer --processes"
            ) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Kill what is still at work."""
        for child in multiprocessing.active_children():
            child.kill()
        self._executor.shutdown(wait=True)


def _begin() -> None:
    # An interrupt from the keyboard is for the command, which then ends its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A command that is killed ends nobody; its workers would wait for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
