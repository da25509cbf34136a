"""One thread for arithmetic: fits and draws must not hold up answers, probes and metrics."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


class ComputeThread:
    """Implements `ports.Compute`; pieces of work run one after another, in order of arrival."""

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="compute")

    async def run(self, work: Callable[[], T]) -> T:
        """Run `work` in the thread; when the waiting is cancelled, work under way still ends."""
        return await asyncio.get_running_loop().run_in_executor(self._executor, work)

    def close(self) -> None:
        """Drop what has not begun and wait for the rest."""
        self._executor.shutdown(wait=True, cancel_futures=True)
