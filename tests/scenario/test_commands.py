"""Commands as processes of their own: interrupted, beside each other, and close-mouthed."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.scenario import daemon
from tests.scenario.daemon import Daemon, Installation, SimulatedEndpoint, call, simulated_endpoint
from tests.unit.app import installations

SECRET = "canary-7f3a9c51d2e84b60"
ITEMS = len(installations.ITEMS)
CONCURRENCY = 4
ENVELOPE = {
    "specversion": "1.0",
    "id": "1",
    "source": "/elsewhere",
    "type": "model.version.deployed.v1",
}
SLOWLY = ("--knobs", '{"latency": 0.05}')


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    return installations.write_pool(tmp_path)


@pytest.fixture
def endpoint(pool: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SimulatedEndpoint]:
    """An endpoint that demands the secret, which is in the environment of every command."""
    monkeypatch.setenv("CANARY", SECRET)
    monkeypatch.setenv("WRONG", SECRET[::-1])
    models = ("--model", "good=0.8", "--model", "bad=0.5:good", "--api-key-env", "CANARY")
    with simulated_endpoint(pool, pool / "suite", *models, *SLOWLY) as found:
        yield found


@pytest.fixture
def installation(pool: Path, endpoint: SimulatedEndpoint) -> Installation:
    place = {"base_url": endpoint.base_url, "credential": "key"}
    history = [{"file": pool / "history.npz"}]
    configured = Installation(folder=pool)
    configured.configure(
        suites=[{"path": pool / "suite", "history": history}],
        endpoints={
            **{model: {**place, "model": model} for model in ("good", "bad")},
            "turned-away": {**place, "model": "good", "credential": "wrong"},
        },
        credentials={"key": {"env": "CANARY"}, "wrong": {"env": "WRONG"}},
        logs={"level": "debug"},
        limits={"gate_seconds": 1},
    )
    return configured


def evaluation(pool: Path, endpoint: SimulatedEndpoint, *options: str) -> list[str]:
    values = {
        "--suite": pool / "suite",
        "--base-url": endpoint.base_url,
        "--model": "good",
        "--version": "1",
        "--credential-env": "CANARY",
        "--concurrency": CONCURRENCY,
        "--state": pool / "own",
    }
    return ["evaluate", *(str(word) for pair in values.items() for word in pair), *options]


def interrupt(arguments: list[str], endpoint: SimulatedEndpoint, *, log: Path) -> int:
    """Press Ctrl-C in the middle; returns the exit code."""
    with daemon.started(arguments, log=log) as process:
        endpoint.wait_until_asked(ITEMS // 4, by=process)
        process.send_signal(signal.SIGINT)
        return process.wait(daemon.SECONDS)


def test_an_interrupted_evaluation_goes_on_where_it_stood(
    pool: Path, endpoint: SimulatedEndpoint
) -> None:
    log = pool / "interrupted.log"
    assert interrupt(evaluation(pool, endpoint), endpoint, log=log) == 130
    assert "Traceback" not in log.read_text()
    assert "the same command goes on there" in log.read_text()
    assert call(*evaluation(pool, endpoint)).returncode == 0
    assert endpoint.asked().total() <= ITEMS + CONCURRENCY
    assert len(endpoint.asked()) == ITEMS


def submitted(
    installation: Installation, version: str, *, endpoint: str = ""
) -> subprocess.CompletedProcess[str]:
    """Announce a version and wait for its result."""
    options = ["--variant", "chat", "--version", version, "--endpoint", endpoint or version]
    return installation.submit(*options, "--wait", str(daemon.SECONDS), "--json")


def test_verdicts_come_out_of_submit_while_the_daemon_runs(installation: Installation) -> None:
    with installation.daemon():
        ended = [submitted(installation, model).returncode for model in ("good", "bad")]
        assert ended == [0, 1]
        again = call("run", "--config", installation.config)
        assert again.returncode == 2
        assert "in use by process" in again.stderr


def everything_written(folder: Path) -> bytes:
    """Every byte of every file: logs, state, results."""
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def use_the_secret(installation: Installation, endpoint: SimulatedEndpoint) -> str:
    """Let every command have to do with it; returns what they and the pages say."""
    config, wrong = ("--config", installation.config), ("--credential-env", "WRONG")
    other = str(installation.folder / "other")
    with installation.daemon() as running:
        identity = json.loads(submitted(installation, "good").stdout)["id"]
        assert submitted(installation, "second", endpoint="turned-away").returncode == 4
        pages = [running.page(path).text for path in ("/", "/metrics", "/readyz")]
        said = [
            call("check", *config),
            call("check", *config, "--json"),
            call(*evaluation(installation.folder, endpoint, "--json")),
            call(*evaluation(installation.folder, endpoint, "--state", other, *wrong)),
            call("replay", identity, *config),
            call("run", *config),
        ]
    assert [ended.returncode for ended in said] == [2, 2, 0, 4, 0, 2]
    return "".join([*pages, *(ended.stdout + ended.stderr for ended in said)])


def test_a_secret_is_written_nowhere(
    installation: Installation, endpoint: SimulatedEndpoint
) -> None:
    said = use_the_secret(installation, endpoint).encode()
    written = said + everything_written(installation.folder)
    assert b"Traceback" not in said
    assert b"attempted" in written
    assert b"HTTP 401" in written
    assert SECRET.encode() not in written
    assert SECRET[::-1].encode() not in written


def put_stray(installation: Installation, running: Daemon, base_url: str) -> str:
    """Name a configured credential for an endpoint of one's own; returns why it is refused."""
    stray = {"base_url": base_url, "model": "good", "credential": "key"}
    data = {"variant": "chat", "version": "1", "endpoint": stray}
    installation.put(json.dumps({**ENVELOPE, "data": data}).encode())
    return str(running.told("dead_lettered")["reason"])


def test_a_credential_is_not_sent_to_an_event_writers_host(
    installation: Installation, endpoint: SimulatedEndpoint
) -> None:
    models = ("--model", "good=0.8")
    suite = installation.folder / "suite"
    with simulated_endpoint(installation.folder, suite, *models) as other:
        assert other.base_url != endpoint.base_url
        with installation.daemon() as running:
            assert put_stray(installation, running, other.base_url) == "host_not_allowed"
            assert submitted(installation, "good").returncode == 0
        assert other.asked().total() == 0


def test_the_module_is_the_script() -> None:
    script = Path(sys.executable).parent / "variant-monitor"
    ways = [[str(script)], [sys.executable, "-m", "monitor"]]
    said = [
        subprocess.run([*way, "--help"], capture_output=True, text=True, check=True).stdout
        for way in ways
    ]
    assert said[0] == said[1]
    assert said[0].strip().startswith("Usage: variant-monitor ")
