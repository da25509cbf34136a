"""Graders that are programs of the installation, behind the port of all graders."""

import asyncio
from collections.abc import Mapping, Sequence

from monitor.adapters import command_grader
from monitor.adapters.http_grader import HttpGrader
from monitor.domain.answers import Grade
from monitor.domain.suites import GraderSpec, Item
from monitor.grading import external
from monitor.ports import GraderRunner


class GraderPrograms:
    """Implements `ports.GraderRunner`: programs by their names, and whoever runs all the rest."""

    def __init__(
        self,
        others: GraderRunner,
        *,
        commands: Mapping[str, Sequence[str]],
        urls: Mapping[str, str],
        seconds: float,
        at_once: int,
    ) -> None:
        """Start nothing yet.

        Args:
            others: runs the graders that are no programs.
            commands: program and arguments by the name that suites give them.
            urls: services, likewise.
            seconds: time limit of one answer, from when it is its turn.
            at_once: most answers that programs grade at the same time.
        """
        self._others = others
        self._commands = commands
        self._urls = urls
        self._seconds = seconds
        self._turns = asyncio.Semaphore(at_once)
        self._http = HttpGrader()

    async def grade(self, spec: GraderSpec, item: Item, text: str) -> Grade:
        """Score a text; a program that fails, or is not allowed, is a value."""
        name = spec.options.get("name", "")
        if spec.kind == "command" and name in self._commands:
            async with self._turns:
                return await command_grader.grade(
                    self._commands[name], external.question(item, text), seconds=self._seconds
                )
        if spec.kind == "http" and name in self._urls:
            async with self._turns:
                return await self._http.grade(
                    self._urls[name], external.question(item, text), seconds=self._seconds
                )
        if spec.kind in external.KINDS:
            return command_grader.FAILED
        return await self._others.grade(spec, item, text)

    async def close(self) -> None:
        """Close the connections to services."""
        await self._http.close()
