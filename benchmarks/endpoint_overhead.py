"""What an evaluation costs beside the bare client library, and how busy it keeps the endpoint.

    python -m benchmarks.endpoint_overhead

Both sides of a ratio come from one run against one simulated endpoint in another process.
`cpu/query`: CPU time of this process per query, of whole evaluations (journal on disk included)
and of the openai library alone in a loop of the same concurrency. `ideal/time`: the time that n
queries would take with every place at the endpoint always taken, over the time they took.
"""

import argparse
import asyncio
import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import openai

from monitor.adapters import structured_logs
from monitor.adapters.suite_files import write_suite
from monitor.adapters.system_clock import SystemClock
from monitor.app.single import evaluate_once
from monitor.domain.events import EvaluationWanted, EventIdentity
from monitor.domain.facts import EvaluationEnded, EvaluationStarted, Fact
from monitor.domain.identifiers import EndpointName, VariantName, VersionName
from monitor.domain.policies import Budget
from monitor.domain.suites import Suite
from monitor.history import outcomes
from monitor.prompting import templates
from monitor.settings import LogSettings, Settings
from monitor.simulation import suites

ITEMS = 2400
MODEL = "version"
SIZES = (60, 170, 425, 1200)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where everything of a run is."""

    folder: Path
    base_url: str
    suite: Suite
    concurrency: int


class Stopwatch:
    """Takes facts; wall and CPU seconds from the plan to the result, without start and stop."""

    def __init__(self) -> None:
        self._started = (0.0, 0.0)
        self.seconds = (math.nan, math.nan)

    def record(self, fact: Fact) -> None:
        """Note the beginning and the end."""
        now = (time.monotonic(), time.process_time())
        if isinstance(fact, EvaluationStarted):
            self._started = now
        elif isinstance(fact, EvaluationEnded):
            self.seconds = (now[0] - self._started[0], now[1] - self._started[1])


@contextmanager
def serving(folder: Path, latency: float) -> Iterator[str]:
    """A simulated endpoint in a process of its own; gives its base URL."""
    command = [
        sys.executable,
        "-m",
        "monitor",
        "simulate-endpoint",
        "--suite",
        str(folder / "suite"),
    ]
    command += [
        "--model",
        f"{MODEL}=0.8",
        "--port",
        "0",
        "--knobs",
        json.dumps({"latency": latency}),
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: S603 - our own
    try:
        line = process.stdout.readline() if process.stdout else ""
        yield line.removeprefix("serving ").strip()
    finally:
        process.terminate()
        process.wait()


def evaluate(place: Place, draws: int) -> tuple[float, float]:
    """Wall and CPU seconds of one evaluation of so many draws."""
    watch = Stopwatch()
    with tempfile.TemporaryDirectory() as state:
        settings = Settings.model_validate(
            {
                "suites": [
                    {
                        "path": place.folder / "suite",
                        "history": [{"file": place.folder / "history.npz"}],
                    }
                ],
                "state": {"directory": state},
                "endpoints": {MODEL: {"base_url": place.base_url, "model": MODEL}},
                "limits": {"concurrency": place.concurrency},
                "http": {"port": None},
            }
        )
        event = EvaluationWanted(
            identity=EventIdentity(source="/benchmark", id=str(draws), time=SystemClock().now()),
            variant=VariantName("benchmark"),
            version=VersionName(MODEL),
            endpoint=EndpointName(MODEL),
            suites=(place.suite.name,),
            budget=Budget(count=draws),
        )
        asyncio.run(evaluate_once(settings, event, [watch]))
        return watch.seconds


async def ask_bare(place: Place, draws: int) -> None:
    """The same number of questions through the client library alone."""
    client = openai.AsyncOpenAI(base_url=place.base_url, api_key="-", max_retries=0)
    places = asyncio.Semaphore(place.concurrency)

    async def ask(index: int) -> None:
        (message,) = templates.render(place.suite, place.suite.items[index])
        async with places:
            await client.chat.completions.create(
                model=MODEL, messages=[{"role": "user", "content": str(message.content)}]
            )

    async with asyncio.TaskGroup() as group:
        for index in range(draws):
            group.create_task(ask(index))
    await client.close()


def main() -> None:
    """Print a line per number of draws."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--latency", type=float, default=0.05, help="seconds an answer takes")
    parser.add_argument("--concurrency", type=int, default=16)
    given = parser.parse_args()
    structured_logs.configure(LogSettings(level="error"))
    sys.stdout.write(f"{'n':>6}{'ideal/time':>12}{'cpu/query':>12}{'bare':>12}{'ratio':>8}\n")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        suite = suites.arithmetic_suite(ITEMS)
        write_suite(suite, folder / "suite")
        earlier = suites.synthetic_history([item.id for item in suite.items])
        outcomes.write_outcomes(
            folder / "history.npz",
            outcomes.OutcomeMatrix(
                outcomes=earlier.outcomes,
                models=earlier.models,
                items=earlier.items,
                dates=earlier.dates,
                groups=None,
            ),
        )
        with serving(folder, given.latency) as base_url:
            place = Place(
                folder=folder, base_url=base_url, suite=suite, concurrency=given.concurrency
            )
            evaluate(place, SIZES[0])  # warms both sides up
            for draws in SIZES:
                _report(place, draws, given.latency)


def _report(place: Place, draws: int, latency: float) -> None:
    wall, cpu = evaluate(place, draws)
    before = time.process_time()
    asyncio.run(ask_bare(place, draws))
    bare = time.process_time() - before
    ideal = math.ceil(draws / place.concurrency) * latency
    sys.stdout.write(
        f"{draws:>6}{ideal / wall:>12.2f}{1e3 * cpu / draws:>9.2f} ms"
        f"{1e3 * bare / draws:>9.2f} ms{cpu / bare:>8.2f}\n"
    )


if __name__ == "__main__":
    main()
