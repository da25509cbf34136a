"""A real Apache Kafka in a process of its own: one node, small, quick to start and to recover."""

import hashlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import kafka
from kafka.errors import KafkaError

HERE = Path(__file__).parent
CLUSTER = "MkU3OEVBNTcwNTJENDM2Qg"
JAVA = (
    "-Xms128m",
    "-Xmx384m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:-UsePerfData",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
)
START_SECONDS = 90.0

# The last group is for restarts after a kill, and for transactions that time out, in test time.
PROPERTIES = """
process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
log.dirs={data}
auto.create.topics.enable=false
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
share.coordinator.state.topic.num.partitions=1
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=1000
num.network.threads=2
num.io.threads=4
log.cleaner.dedupe.buffer.size=2097152
log.cleaner.backoff.ms=500
log.index.size.max.bytes=65536

broker.session.timeout.ms=1000
broker.heartbeat.interval.ms=200
controller.quorum.election.timeout.ms=300
controller.quorum.fetch.timeout.ms=500
transaction.abort.timed.out.transaction.cleanup.interval.ms=500
"""


class Unavailable(Exception):
    """No broker can be had here; the text says what is missing."""


def jars(cache: Path) -> Path:
    """Folder of the broker's jars, fetched by Maven where they are not there yet.

    Raises:
        Unavailable: Maven is missing or failed, or brought other bytes than jars.sha256 names.
    """
    folder = cache / hashlib.sha256((HERE / "jars.sha256").read_bytes()).hexdigest()[:16]
    if not folder.is_dir():
        if shutil.which("mvn") is None:
            raise Unavailable("Maven (mvn), which fetches the broker, is not installed")
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as fresh:
            fetched = Path(fresh, "jars")
            command = ("mvn", "--batch-mode", "--quiet", "--file", str(HERE / "pom.xml"))
            goal = ("dependency:copy-dependencies", f"-DoutputDirectory={fetched}")
            run = subprocess.run(
                (*command, *goal), capture_output=True, text=True, check=False, cwd=fresh
            )
            if run.returncode:
                raise Unavailable(f"Maven failed: {(run.stdout + run.stderr).strip()[-500:]}")
            fetched.rename(folder)
    _check(folder)
    return folder


def _check(folder: Path) -> None:
    lines = (HERE / "jars.sha256").read_text(encoding="utf-8").splitlines()
    wanted = {name: digest for digest, name in (line.split() for line in lines)}
    found = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob("*.jar")
    }
    if found != wanted:
        odd = sorted(name for name, _ in found.items() ^ wanted.items())
        raise Unavailable(f"{folder}: not the jars of jars.sha256: {', '.join(odd)}; remove it")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class LocalBroker:
    """One broker on a port and a directory that stay its own over restarts."""

    def __init__(self, cache: Path, directory: Path, *, settings: str = "") -> None:
        """Prepare a broker; `settings` are further lines of its properties, which override.

        Raises:
            Unavailable: Java or the jars are missing.
        """
        java = shutil.which("java")
        if java is None:
            raise Unavailable("Java, which runs the broker, is not installed")
        self.port = free_port()
        self._directory = directory
        self._command = (java, *JAVA, "-cp", f"{jars(cache)}{os.sep}*")
        self._properties = directory / "server.properties"
        ports = {"port": self.port, "controller": free_port()}
        text = (PROPERTIES + settings).format(**ports, data=directory / "data")
        self._properties.write_text(text, encoding="utf-8")
        storage = ("kafka.tools.StorageTool", "format", "-t", CLUSTER, "--standalone", "-c")
        subprocess.run(
            (*self._command, *storage, str(self._properties)), check=True, capture_output=True
        )
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def bootstrap(self) -> str:
        """Where clients connect to."""
        return f"127.0.0.1:{self.port}"

    def start(self, *, wait: bool = True) -> None:
        """Start, and wait until it answers."""
        with (self._directory / "broker.log").open("ab") as log:
            self._process = subprocess.Popen(
                (*self._command, "kafka.Kafka", str(self._properties)),
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        if wait:
            self.wait()

    def wait(self) -> None:
        """Wait until it answers.

        Raises:
            Unavailable: it ended, or does not answer in time.
        """
        deadline = time.monotonic() + START_SECONDS
        while self._process is not None and self._process.poll() is None:
            if answers(self.bootstrap):
                return
            if time.monotonic() > deadline:
                break
            time.sleep(0.05)
        log = (self._directory / "broker.log").read_text(errors="replace")
        raise Unavailable(f"the broker does not answer: {log[-800:]}")

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """End it, in order or by SIGKILL; its data stay."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait()
            self._process = None


def answers(bootstrap: str) -> bool:
    """Whether a broker answers there within about a second."""
    host, port = bootstrap.split(":")
    try:
        # The client leaves its sockets open when nobody listens.
        socket.create_connection((host, int(port)), timeout=1.0).close()
        kafka.KafkaAdminClient(bootstrap_servers=bootstrap, bootstrap_timeout_ms=1000).close()
    except (OSError, KafkaError):
        return False
    return True
