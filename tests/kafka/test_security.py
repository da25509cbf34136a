"""Encryption and authentication, from the settings to a broker that insists on them."""

import asyncio
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from pathlib import Path

import pytest
from kafka.admin import UserScramCredentialUpsertion

from monitor.adapters.kafka.bus import KafkaBus
from monitor.adapters.kafka.clients import Cluster
from monitor.app import buses
from monitor.ports import Commit
from monitor.settings import CredentialSource, KafkaBus as KafkaSettings, Settings
from tests.broker import brokers, kafka_topics
from tests.broker.local import free_port
from tests.contract.installations import A, KafkaInstallation, row, until

pytestmark = pytest.mark.kafka

PASSWORD = "correct-horse-battery"
LISTENERS = """
listeners=PLAINTEXT://127.0.0.1:{{port}},CONTROLLER://127.0.0.1:{{controller}},\
SSL://127.0.0.1:{tls},SASL_SSL://127.0.0.1:{sasl}
advertised.listeners=PLAINTEXT://127.0.0.1:{{port}},CONTROLLER://127.0.0.1:{{controller}},\
SSL://127.0.0.1:{tls},SASL_SSL://127.0.0.1:{sasl}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SSL:SSL,SASL_SSL:SASL_SSL
ssl.keystore.type=PEM
ssl.keystore.location={folder}/broker.pem
ssl.truststore.type=PEM
ssl.truststore.location={folder}/ca.pem
listener.name.ssl.ssl.client.auth=required
listener.name.sasl_ssl.ssl.client.auth=none
listener.name.sasl_ssl.sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512
listener.name.sasl_ssl.plain.sasl.jaas.config=\
org.apache.kafka.common.security.plain.PlainLoginModule required user_alice="{password}";
listener.name.sasl_ssl.scram-sha-256.sasl.jaas.config=\
org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config=\
org.apache.kafka.common.security.scram.ScramLoginModule required;
"""


def openssl(folder: Path, *arguments: str) -> None:
    command = shutil.which("openssl")
    if command is None:
        pytest.skip("openssl, which makes the certificates, is not installed")
    subprocess.run((command, *arguments), cwd=folder, check=True, capture_output=True)


def make_certificates(folder: Path) -> None:
    """An authority, and certificates of broker and client that it has signed."""
    key = ("-newkey", "rsa:2048", "-nodes", "-days", "1")
    openssl(folder, "req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=ca")
    signed = ("-CA", "ca.pem", "-CAkey", "ca.key", "-addext", "subjectAltName=IP:127.0.0.1")
    for name in ("broker", "client"):
        files = ("-keyout", f"{name}.key", "-out", f"{name}.crt", "-subj", f"/CN={name}")
        openssl(folder, "req", "-x509", *key, *files, *signed)
    both = (folder / "broker.key").read_text() + (folder / "broker.crt").read_text()
    (folder / "broker.pem").write_text(both)


class Secured:
    """A broker with listeners that encrypt, authenticate, or both."""

    def __init__(self, folder: Path, bootstrap: str, *, tls: int, sasl: int) -> None:
        self.folder = folder
        self.bootstrap = bootstrap
        self.tls = tls
        self.sasl = sasl

    def cluster(self, port: int, security: dict[str, object], password: str = PASSWORD) -> Cluster:
        """What the settings come to."""
        (self.folder / "password").write_text(password + "\n")
        bus = KafkaSettings.model_validate(
            {
                "bootstrap_servers": [f"127.0.0.1:{port}"],
                "security": {"tls": True, "ca_file": self.folder / "ca.pem"} | security,
            }
        )
        credentials = {"kafka": CredentialSource(file=self.folder / "password")}
        settings = Settings(suites=(), bus=bus, credentials=credentials)
        return replace(buses.cluster(settings, bus), session_seconds=6.0, heartbeat_seconds=0.1)

    def authenticated(self, mechanism: str, password: str = PASSWORD) -> Cluster:
        sasl = {"mechanism": mechanism, "username": "alice", "credential": "kafka"}
        return self.cluster(self.sasl, {"sasl": sasl}, password)


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    folder = tmp_path_factory.mktemp("secured")
    make_certificates(folder)
    ports = {"tls": free_port(), "sasl": free_port()}
    lines = LISTENERS.format(**ports, folder=folder, password=PASSWORD)
    broker = brokers.prepared(folder, settings=lines)
    try:
        broker.start()
        plain = KafkaInstallation(broker.bootstrap).cluster
        kafka_topics.renew(plain, 1)
        with closing(plain.admin()) as admin:
            for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512"):
                upsertion = UserScramCredentialUpsertion("alice", mechanism, PASSWORD)
                admin.alter_user_scram_credentials([upsertion])
        yield Secured(folder, broker.bootstrap, **ports)
    finally:
        broker.stop()


@asynccontextmanager
async def opened(cluster: Cluster) -> AsyncIterator[KafkaBus]:
    bus = await KafkaBus.open(cluster)
    try:
        yield bus
    finally:
        await bus.close()


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
async def test_a_password_opens_the_bus(secured: Secured, mechanism: str) -> None:
    async with opened(secured.authenticated(mechanism)) as bus:
        await until(lambda: bool(bus.partitions), bus)
        await bus.commit(Commit(partition=0, entries=(row(A, 0),), settled=0))


async def test_a_certificate_opens_the_bus(secured: Secured) -> None:
    files = {"cert_file": secured.folder / "client.crt", "key_file": secured.folder / "client.key"}
    async with opened(secured.cluster(secured.tls, dict(files))) as bus:
        await until(lambda: bool(bus.partitions), bus)
        await bus.commit(Commit(partition=0, entries=(row(A, 1),), settled=0))


async def test_a_wrong_password_is_told_and_shown_nowhere(
    secured: Secured, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened(secured.authenticated("SCRAM-SHA-512", "wrong-password")) as bus:
        await until(lambda: "credentials" in str(bus.trouble), bus)
        assert "check bus.bootstrap_servers and bus.security" in str(bus.trouble)
        assert "wrong-password" not in str(bus.trouble) + caplog.text


async def test_brokers_whose_certificate_is_not_trusted_are_not_talked_to(
    secured: Secured,
) -> None:
    untrusted = secured.authenticated("PLAIN")
    stranger = secured.folder / "client.crt"
    strange = replace(untrusted, security={**untrusted.security, "ssl_cafile": str(stranger)})
    async with opened(strange) as bus:
        await until(lambda: "no broker answers" in str(bus.trouble), bus)
        await asyncio.sleep(0)
        assert not bus.partitions
