"""The product as its users start it: the daemon, the simulated endpoint, and commands beside them.

Waiting is always for a condition; the limit is there so that a hang ends with a message.
"""

import asyncio
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import httpx2

from monitor.adapters.embedded.archive import SqliteArchive
from monitor.adapters.suite_files import write_suite
from monitor.app import single
from monitor.cli import events
from monitor.domain.identifiers import VariantName, VersionName
from monitor.history import outcomes
from monitor.ports import Record
from monitor.settings import load_settings
from monitor.simulation import suites
from monitor.wire import results

MONITOR = (sys.executable, "-m", "monitor")
SECONDS = 300.0
POLL_SECONDS = 0.02
VARIANT = VariantName("support-chat")
EVALUATIONS, DEAD_LETTERS = "model-evaluations", "model-versions-dead-letter"

# That of `evaluate` and `submit`, so that an event can be the same as theirs.
SOURCE = events.SOURCE

T = TypeVar("T")
Arguments = Sequence[str | Path]


def wait_for(condition: Callable[[], T | None], what: str) -> T:
    """What the condition returns, as soon as it is true."""
    deadline = time.monotonic() + SECONDS
    while not (found := condition()):
        assert time.monotonic() < deadline, f"waited {SECONDS:.0f} s in vain for {what}"
        time.sleep(POLL_SECONDS)
    return found


def call(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    command = [*MONITOR, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)


def document(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """The JSON document that a command printed."""
    assert done.stdout, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@contextmanager
def started(arguments: Arguments, *, log: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that is killed where the block ends, if it has not ended before."""
    command = [*MONITOR, *map(str, arguments)]
    with (
        log.open("w") as errors,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as process,
    ):
        try:
            yield process
        finally:
            process.kill()


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedEndpoint:
    """A served endpoint, and what it was asked."""

    base_url: str

    def asked(self) -> Counter[str]:
        """How often each item was asked of the one model, whatever came of it."""
        requests = self._call("GET", "requests")["requests"]
        return Counter({row["item"]: row["asked"] for row in requests})

    def wait_until_asked(self, items: int, *, by: subprocess.Popen[str] | None = None) -> None:
        """Wait until so many different items have been asked; in vain, once `by` has ended."""

        def is_so() -> bool:
            has_ended = by is not None and by.poll() is not None
            is_enough = len(self.asked()) >= items
            assert is_enough or not has_ended, "it ended early"
            return is_enough

        wait_for(is_so, f"{items} items to be asked")

    def truth(self) -> Mapping[str, float]:
        """The pool mean of every model."""
        return self._call("GET", "truth")

    def turn(self, **knobs: object) -> None:
        """Set all knobs; what is not named goes back to its default."""
        self._call("POST", "knobs", knobs)

    def reset(self, **knobs: object) -> None:
        """Count from 0 again, with these knobs."""
        self.turn(**knobs)
        self._call("POST", "reset")

    def _call(self, method: str, path: str, document: object = None) -> dict[str, Any]:
        url = self.base_url.removesuffix("/v1") + f"/_simulation/{path}"
        reply = httpx2.request(method, url, json=document, trust_env=False, timeout=SECONDS)
        reply.raise_for_status()
        found: dict[str, Any] = reply.json()
        return found


@contextmanager
def simulated_endpoint(
    folder: Path, suite: Path, *options: str | Path
) -> Iterator[SimulatedEndpoint]:
    """Serve a suite for as long as the block runs; the log goes to the folder."""
    arguments = ["simulate-endpoint", "--suite", suite, "--port", "0", *options]
    log = folder / "endpoint.log"
    with started(arguments, log=log) as process:
        assert process.stdout
        said = process.stdout.readline()
        assert said.startswith("serving "), log.read_text()
        yield SimulatedEndpoint(base_url=said.split()[1])


def evaluate(pool: Path, endpoint: SimulatedEndpoint, state: Path, **options: object) -> list[str]:
    """The command that evaluates a version of the endpoint's model from the shell.

    Args:
        pool: folder of a suite and its history.
        endpoint: serves a model that is called "model".
        state: folder of the answers.
        options: by their names, with underscores.
    """
    usual: dict[str, object] = {
        "suite": pool / "suite",
        "history": pool / "history.npz",
        "state": state,
        "base_url": endpoint.base_url,
        "model": "model",
        "version": "v1",
    }
    given = {name.replace("_", "-"): value for name, value in (usual | options).items()}
    return ["evaluate", "--json", *(f"--{name}={value}" for name, value in given.items())]


@dataclass(frozen=True, slots=True, kw_only=True)
class Daemon:
    """A daemon that runs."""

    process: subprocess.Popen[str]
    log: Path

    def told(self, event: str, **fields: object) -> Mapping[str, Any]:
        """The first line of the log with this event and these fields; waits for it."""

        def look() -> Mapping[str, Any] | None:
            lines = (json.loads(line) for line in self.log.read_text().splitlines(keepends=True))
            wanted = fields | {"event": event}
            found = next((line for line in lines if wanted.items() <= line.items()), None)
            assert found or self.process.poll() is None, f"it ended:\n{self.log.read_text()}"
            return found

        return wait_for(look, f"{event} {fields}")

    def page(self, path: str) -> httpx2.Response:
        """One of its pages."""
        port = self.told("service_started")["port"]
        return httpx2.get(f"http://127.0.0.1:{port}{path}", trust_env=False, timeout=SECONDS)

    def metric(self, sample: str) -> float | None:
        """Value of a sample, None where there is none."""
        lines = [line.rpartition(" ") for line in self.page("/metrics").text.splitlines()]
        values = {name.removeprefix("variant_monitor_"): value for name, _, value in lines}
        return float(values[sample]) if sample in values else None

    def terminate(self) -> int:
        """Ask it to end; its exit code."""
        self.process.terminate()
        return self.process.wait(SECONDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """A folder with a configuration and a state, which outlive the daemons on them."""

    folder: Path

    @property
    def config(self) -> Path:
        """The configuration."""
        return self.folder / "monitor.yaml"

    @property
    def state(self) -> Path:
        """The state directory."""
        return self.folder / "state"

    def configure(self, **groups: object) -> None:
        """Write the configuration; JSON is YAML."""
        self.config.write_text(json.dumps({"http": {"port": 0}, **groups}, default=str))

    @contextmanager
    def daemon(self) -> Iterator[Daemon]:
        """A daemon, killed where the block ends if it has not ended before."""
        log = self.folder / "daemon.log"
        with started(["run", "--config", self.config], log=log) as process:
            yield Daemon(process=process, log=log)

    def submit(self, *options: str) -> subprocess.CompletedProcess[str]:
        """The command."""
        return call("submit", "--config", self.config, *options)

    def put(self, value: bytes, *, variant: VariantName = VARIANT) -> None:
        """Append a value to the request topic, also one that the command would refuse."""
        asyncio.run(single.submit(load_settings(self.config), variant, value))

    def messages(self, topic: str) -> Sequence[Record]:
        """Everything on a topic."""
        return asyncio.run(_messages(self.state, topic))

    def found(self, version: str, *, variant: str = VARIANT) -> results.Statistics:
        """What the one result of a version says."""
        completed = [results.decode(record.value) for record in self.messages(EVALUATIONS)]
        every = [each.data.statistics for each in completed]
        named = [(each.subject.variant, each.subject.version) for each in every]
        assert named.count((VariantName(variant), VersionName(version))) == 1
        return every[named.index((VariantName(variant), VersionName(version)))]


def version_event(
    identity: str,
    data: Mapping[str, object],
    *,
    kind: str = "deployed.v1",
    time: str | None = None,
) -> bytes:
    """A CloudEvent as somebody else's program would write it; without a time it is never old."""
    attributes = {"specversion": "1.0", "source": SOURCE, "id": identity}
    if time is not None:
        attributes["time"] = time
    event = {**attributes, "type": f"model.version.{kind}", "data": data}
    return json.dumps(event).encode()


def write_pool(folder: Path, *, items: int, seed: int) -> None:
    """Write `suite`, of arithmetic questions, and `history.npz` with outcomes of earlier models."""
    suite = suites.arithmetic_suite(items, seed=seed)
    write_suite(suite, folder / "suite")
    earlier = suites.synthetic_history([item.id for item in suite.items], seed=seed)
    matrix = outcomes.OutcomeMatrix(
        outcomes=earlier.outcomes,
        models=earlier.models,
        items=earlier.items,
        dates=earlier.dates,
        groups=None,
    )
    outcomes.write_outcomes(folder / "history.npz", matrix)


async def _messages(state: Path, topic: str) -> Sequence[Record]:
    archive = await SqliteArchive.open(state)
    try:
        return await archive.messages(topic)
    finally:
        await archive.close()
