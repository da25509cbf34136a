"""Takes out of texts what patterns of the configuration match, where it can be killed.

A pattern may run for ever on what a model says, and holds the interpreter meanwhile, so each
redaction has a process of its own: some are needed an hour, not a second.
"""

import asyncio
import contextlib
import json
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Sequence

from monitor.adapters import redaction_worker

START_SECONDS = 10.0


class Redaction:
    """Implements `service.kept_answers.Redact`."""

    def __init__(self, patterns: Sequence[str], *, seconds: float) -> None:
        """Start nothing yet.

        Args:
            patterns: regular expressions of Python's `re`, applied one after another.
            seconds: time limit of one redaction, beside the start of its process.
        """
        self._patterns = list(patterns)
        self._seconds = START_SECONDS + seconds

    async def __call__(self, texts: Sequence[str]) -> Sequence[str] | None:
        """The texts with matches replaced; None where that failed or took too long."""
        if not self._patterns:
            return texts
        request = json.dumps({"patterns": self._patterns, "texts": list(texts)}).encode()
        try:
            reply = await self._run(request)
            return None if reply is None else [str(text) for text in json.loads(reply)]
        except (OSError, ValueError):
            return None

    async def _run(self, request: bytes) -> bytes | None:
        path = redaction_worker.__file__
        # -I -S: it needs the standard library alone. A session of its own: as with graders.
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", path),
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(self._seconds):
                reply, _ = await process.communicate(request)
        except TimeoutError:
            return None
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        return reply if process.returncode == 0 else None
