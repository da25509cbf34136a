"""Commands called in this process, with what they print."""

import json
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
import structlog

from monitor import cli


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str

    def document(self) -> Any:  # noqa: ANN401 - JSON
        """What standard output holds, which must be JSON and nothing else."""
        return json.loads(self.out)


class Terminal:
    """Calls commands."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def run(self, *arguments: object) -> Ended:
        """Call a command to its end."""
        self._monkeypatch.setattr(sys, "argv", ["variant-monitor", *map(str, arguments)])
        self._capsys.readouterr()
        with _logging_as_it_was(), pytest.raises(SystemExit) as ended:
            cli.main()
        written = self._capsys.readouterr()
        code = ended.value.code
        return Ended(code=code if isinstance(code, int) else 0, out=written.out, err=written.err)


@contextmanager
def _logging_as_it_was() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
        logging.captureWarnings(capture=False)
        structlog.reset_defaults()
