"""A real Prometheus and a real Alertmanager on loopback, with the files of deploy/ in fast motion.

Scraping and rules run each second, and waits are cut to seconds; nothing else is changed.
"""

import json
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml

from tests.rules.repository import ROOT
from tests.scenario.daemon import SECONDS, wait_for

FILES = ROOT / "deploy/prometheus"
FOR, KEEP_FIRING_FOR = "1s", "5s"
LOOPBACK = "127.0.0.1"
ALONE = ("--storage.path=alertmanager", "--cluster.listen-address=")


def program(*names: str) -> str:
    """The first of these programs that is installed; skips without one."""
    found = next((path for name in names if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip(f"{names[0]} is not installed; on Debian: make tools")
    return found


def free_port() -> int:
    with socket.create_server((LOOPBACK, 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """One alert of a notification, and the receiver that it went to."""

    receiver: str
    status: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]


@dataclass(slots=True)
class Receivers:
    """Takes what Alertmanager sends, for every receiver of its configuration."""

    url: str
    _received: list[Received] = field(default_factory=list)

    def take(self, receiver: str, notification: Mapping[str, Any]) -> None:
        """Note a notification."""
        for alert in notification["alerts"]:
            fields = {name: alert[name] for name in ("status", "labels", "annotations")}
            self._received.append(Received(receiver=receiver, **fields))

    def wait(self, alertname: str, status: str) -> Received:
        """The first alert of this name and status."""

        def look() -> Received | None:
            wanted = (alertname, status)
            every = list(self._received)
            return next((it for it in every if (it.labels["alertname"], it.status) == wanted), None)

        return wait_for(look, f"{alertname} to be {status}")

    def names(self, receiver: str) -> set[str]:
        """Names of the alerts that a receiver was sent."""
        return {each.labels["alertname"] for each in self._received if each.receiver == receiver}


@contextmanager
def receivers() -> Iterator[Receivers]:
    """Listen for notifications while the block runs."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            found.take(self.path.strip("/"), json.loads(body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - inherited
            """Say nothing."""

    with ThreadingHTTPServer((LOOPBACK, 0), Handler) as server:
        found = Receivers(url=f"http://{LOOPBACK}:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield found
        finally:
            server.shutdown()
            thread.join()


def read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((FILES / name).read_text(encoding="utf-8"))
    return found


def fast_rules() -> dict[str, Any]:
    rules = read("rules.yaml")
    for rule in (rule for group in rules["groups"] for rule in group["rules"]):
        fast = {"for": FOR, "keep_firing_for": KEEP_FIRING_FOR}
        rule.update({name: value for name, value in fast.items() if name in rule})
    return rules


def fast_alertmanager(url: str) -> dict[str, Any]:
    config = read("alertmanager.yml")
    config["route"] |= {"group_wait": "0s", "group_interval": "1s"}
    for receiver in config["receivers"]:
        receiver["webhook_configs"] = [{"url": f"{url}/{receiver['name']}"}]
    return config


def fast_prometheus(target: int, alertmanager: int) -> dict[str, Any]:
    config = read("prometheus.yml")
    config["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    (scrape,), (manager,) = config["scrape_configs"], config["alerting"]["alertmanagers"]
    scrape["static_configs"] = [{"targets": [f"{LOOPBACK}:{target}"]}]
    manager["static_configs"] = [{"targets": [f"{LOOPBACK}:{alertmanager}"]}]
    return config


@contextmanager
def _started(command: list[str], url: str, log: Path) -> Iterator[None]:
    """A server that is ready, and ended with the block."""

    def ready() -> bool:
        assert process.poll() is None, log.read_text()
        try:
            return httpx2.get(f"{url}/-/ready", trust_env=False).is_success
        except httpx2.TransportError:
            return False

    with (
        log.open("w") as out,
        subprocess.Popen(command, stdout=out, stderr=out, cwd=log.parent) as process,
    ):
        try:
            wait_for(ready, f"{url} to be ready")
            yield
        finally:
            process.kill()


@dataclass(frozen=True, slots=True, kw_only=True)
class Alerting:
    """Where Prometheus is, and what came out at the other end."""

    url: str
    receivers: Receivers

    def query(self, expression: str) -> list[float]:
        """Values of an instant query."""
        reply = httpx2.get(
            f"{self.url}/api/v1/query",
            params={"query": expression},
            trust_env=False,
            timeout=SECONDS,
        )
        return [float(each["value"][1]) for each in reply.json()["data"]["result"]]


@contextmanager
def alerting(folder: Path, *, target: int) -> Iterator[Alerting]:
    """Scrape a port, evaluate the rules, and send what fires, while the block runs."""
    binaries = program("prometheus"), program("prometheus-alertmanager", "alertmanager")
    ports = free_port(), free_port()
    urls = [f"http://{LOOPBACK}:{port}" for port in ports]
    with ExitStack() as stack:
        found = stack.enter_context(receivers())
        files = {
            "prometheus.yml": fast_prometheus(target, ports[1]),
            "rules.yaml": fast_rules(),
            "alertmanager.yml": fast_alertmanager(found.url),
        }
        for name, content in files.items():
            (folder / name).write_text(yaml.safe_dump(content))
        options = (
            ["--config.file=prometheus.yml", "--storage.tsdb.path=prometheus"],
            ["--config.file=alertmanager.yml", *ALONE],
        )
        for binary, port, url, chosen in zip(binaries, ports, urls, options, strict=True):
            command = [binary, f"--web.listen-address={LOOPBACK}:{port}", *chosen]
            log = folder / f"{Path(binary).name}.log"
            stack.enter_context(_started(command, url, log))
        yield Alerting(url=urls[0], receivers=found)
