"""The bus that the configuration names, with its submission and archive."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol, TypeVar, assert_never

from monitor.adapters.embedded.archive import SqliteArchive
from monitor.adapters.embedded.bus import SqliteBus
from monitor.adapters.embedded.submission import SqliteSubmission
from monitor.adapters.kafka.archive import KafkaArchive
from monitor.adapters.kafka.bus import KafkaBus
from monitor.adapters.kafka.clients import Cluster
from monitor.adapters.kafka.submission import KafkaSubmission
from monitor.domain.identifiers import CredentialName
from monitor.ports import Archive, Bus, Submission, Telemetry
from monitor.settings import (
    EmbeddedBus,
    KafkaBus as KafkaSettings,
    SecuritySettings,
    Settings,
    resolve_credentials,
)

# A command does not wait for brokers that are away; the daemon does.
COMMAND_PATIENCE = 15.0


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenBus:
    """A bus, and why it cannot be used at the moment (None when it can)."""

    bus: Bus
    trouble: Callable[[], str | None]


@asynccontextmanager
async def open_bus(settings: Settings, telemetry: Telemetry) -> AsyncIterator[OpenBus]:
    """Become a consumer of the request topic.

    Raises:
        StateError: the state directory cannot be used; brokers that are away are waited for.
    """
    match settings.bus:
        case EmbeddedBus(topics=topics):
            async with _closing(
                await SqliteBus.open(settings.state.directory, topics=topics)
            ) as sqlite:
                yield OpenBus(bus=sqlite, trouble=lambda: None)
        case KafkaSettings():
            async with _closing(
                await KafkaBus.open(cluster(settings, settings.bus), telemetry=telemetry)
            ) as kafka:
                yield OpenBus(bus=kafka, trouble=lambda: kafka.trouble)
        case _:
            assert_never(settings.bus)


@asynccontextmanager
async def open_archive(
    settings: Settings, *, patience: float | None = COMMAND_PATIENCE
) -> AsyncIterator[Archive]:
    """Look back on published results.

    Args:
        settings: name the bus.
        patience: seconds to wait for brokers that are away; None waits until they are back.

    Raises:
        StateError: the state directory cannot be used.
    """
    match settings.bus:
        case EmbeddedBus(topics=topics):
            async with _closing(
                await SqliteArchive.open(settings.state.directory, topics=topics)
            ) as sqlite:
                yield sqlite
        case KafkaSettings():
            async with _closing(
                await KafkaArchive.open(cluster(settings, settings.bus), patience=patience)
            ) as kafka:
                yield kafka
        case _:
            assert_never(settings.bus)


@asynccontextmanager
async def open_submission(settings: Settings) -> AsyncIterator[Submission]:
    """Announce versions.

    Raises:
        StateError: the state directory cannot be used.
    """
    match settings.bus:
        case EmbeddedBus(topics=topics):
            async with _closing(
                await SqliteSubmission.open(settings.state.directory, topics=topics)
            ) as sqlite:
                yield sqlite
        case KafkaSettings():
            async with _closing(
                await KafkaSubmission.open(cluster(settings, settings.bus))
            ) as kafka:
                yield kafka
        case _:
            assert_never(settings.bus)


class _Closable(Protocol):
    async def close(self) -> None: ...


Opened = TypeVar("Opened", bound=_Closable)


@asynccontextmanager
async def _closing(opened: Opened) -> AsyncIterator[Opened]:
    try:
        yield opened
    finally:
        await opened.close()


def cluster(settings: Settings, bus: KafkaSettings) -> Cluster:
    """The brokers as the adapters know them, password included.

    Raises:
        ConfigError: the password is not where the configuration says.
    """
    return Cluster(
        bootstrap_servers=bus.bootstrap_servers,
        group=bus.group,
        client_id=bus.client_id,
        topics=bus.topics,
        journal=bus.journal,
        session_seconds=bus.session_seconds,
        security=_security(settings, bus.security),
    )


def _security(settings: Settings, security: SecuritySettings) -> Mapping[str, object]:
    """Options of the client that concern encryption and authentication."""
    encrypted = "SSL" if security.tls else "PLAINTEXT"
    files = {
        "ssl_cafile": security.ca_file,
        "ssl_certfile": security.cert_file,
        "ssl_keyfile": security.key_file,
    }
    options: dict[str, object] = {name: str(file) for name, file in files.items() if file}
    if security.sasl is None:
        return options | {"security_protocol": encrypted}
    secret = resolve_credentials(settings)[CredentialName(security.sasl.credential)]
    return options | {
        "security_protocol": f"SASL_{encrypted}",
        "sasl_mechanism": security.sasl.mechanism,
        "sasl_plain_username": security.sasl.username,
        "sasl_plain_password": secret.get_secret_value(),
    }
