"""What nobody can process is put aside, with the reason, and what comes after it is processed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from monitor.domain.results import Outcome, Reason
from monitor.ports import Record
from monitor.wire import events
from tests.scenario import daemon as product
from tests.scenario.daemon import DEAD_LETTERS, VARIANT, Daemon, Installation, SimulatedEndpoint

ELSEWHERE = {"base_url": "http://192.0.2.1/v1", "model": "v1"}
GOOD = "good"


def announce(
    version: str, *, kind: str = "deployed.v1", time: str | None = None, **changes: object
) -> bytes:
    """The event of a version, whose name is also the event's id."""
    data = {"variant": VARIANT, "endpoint": "production", "suites": ["arithmetic"], "budget": 20}
    return product.version_event(
        version, {**data, "version": version, **changes}, kind=kind, time=time
    )


BAD: Mapping[str, tuple[str, bytes]] = {
    "cut off": ("not_json", announce("v1")[:-1]),
    "no text at all": ("not_json", b"\xff\xfe\x00"),
    "no event": ("not_cloudevent", b'{"variant": "support-chat"}'),
    "wrong type": ("unknown_type", announce("v1", kind="forgotten.v1")),
    "newer schema": ("newer_schema", announce("v1", kind="deployed.v2")),
    "wrong field": ("invalid_data", announce("v1", budget="0%")),
    "10 MB": ("too_large", announce("v1", labels={"note": "x" * 10_000_000})),
    "unknown suite": ("unknown_suite", announce("v1", suites=["geometry"])),
    "unknown endpoint": ("unknown_endpoint", announce("v1", endpoint="staging")),
    "host not allowed": ("host_not_allowed", announce("v1", endpoint=ELSEWHERE)),
    "unknown credential": (
        "unknown_credential",
        announce(
            "v1", endpoint={**ELSEWHERE, "base_url": "http://127.0.0.1/v1", "credential": "k"}
        ),
    ),
}
REASONS = [reason for reason, _ in BAD.values()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("installation")
    product.write_pool(folder, items=100, seed=1)
    return folder


@pytest.fixture(scope="module")
def endpoint(folder: Path) -> Iterator[SimulatedEndpoint]:
    with product.simulated_endpoint(folder, folder / "suite", "--model", "model=0.8") as endpoint:
        yield endpoint


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A daemon on an installation, which was sent every bad event and a good one after them."""

    daemon: Daemon
    installation: Installation

    def verdict(self, version: str) -> tuple[Outcome, Reason]:
        """That of a version, once it is there."""
        self.daemon.told("evaluation_ended", version=version)
        verdict = self.installation.found(version).verdict
        return verdict.outcome, verdict.reason

    def letters(self) -> Mapping[str, Record]:
        """The dead letters, by the names of the bad events."""
        return dict(zip(BAD, self.installation.messages(DEAD_LETTERS), strict=True))


@pytest.fixture(scope="module")
def running(folder: Path, endpoint: SimulatedEndpoint) -> Iterator[Running]:
    installation = Installation(folder=folder)
    installation.configure(
        suites=[{"path": "suite"}],
        endpoints={"production": {"base_url": endpoint.base_url, "model": "model"}},
    )
    for _, value in BAD.values():
        installation.put(value)
    installation.put(announce(GOOD))
    with installation.daemon() as daemon:
        daemon.told("evaluation_ended", version=GOOD)
        yield Running(daemon=daemon, installation=installation)


@pytest.mark.parametrize("name", BAD)
def test_a_bad_event_is_put_aside_verbatim(running: Running, name: str) -> None:
    reason, value = BAD[name]
    letter = running.letters()[name]
    is_verbatim = letter.value == value  # a difference of 10 MB is not for printing
    assert is_verbatim
    assert letter.key == VARIANT.encode()
    assert set(events.HEADERS) <= set(letter.headers)
    assert dict(letter.headers)["dead-letter-reason"] == reason.encode()


def test_a_dead_letter_says_where_it_comes_from(running: Running) -> None:
    for offset, letter in enumerate(running.letters().values()):
        headers = {name: text.decode() for name, text in letter.headers}
        assert headers["dead-letter-topic"] == "model-versions"
        assert (headers["dead-letter-partition"], headers["dead-letter-offset"]) == (
            "0",
            f"{offset}",
        )
        assert headers["dead-letter-software"].startswith("model-variant-monitor/")
        assert 0 < len(headers["dead-letter-detail"]) < 1000


def test_the_next_good_event_is_processed(running: Running) -> None:
    assert running.verdict(GOOD) == (Outcome.MET, Reason.ESTIMATED)


def test_the_daemon_lives_and_counts(running: Running) -> None:
    assert running.daemon.page("/livez").status_code == 200
    assert running.daemon.metric('events_total{result="dead_letter"}') == len(BAD)
    for reason in REASONS:
        sample = f'dead_letters_total{{reason="{reason}"}}'
        assert running.daemon.metric(sample) == REASONS.count(reason)


def test_an_event_that_is_too_old_is_recorded_and_not_bought(
    running: Running, endpoint: SimulatedEndpoint
) -> None:
    asked = endpoint.asked()
    running.installation.put(announce("old", time="2020-01-01T00:00:00Z"))
    assert running.verdict("old") == (Outcome.CANCELLED, Reason.TOO_OLD)
    assert running.daemon.metric('events_total{result="too_old"}') == 1
    assert endpoint.asked() == asked


def test_a_withdrawn_version_is_not_evaluated_further(
    running: Running, endpoint: SimulatedEndpoint
) -> None:
    endpoint.reset(faults={"hang": 1.0})
    running.installation.put(announce("v2"))
    endpoint.wait_until_asked(1, by=running.daemon.process)
    running.installation.put(
        product.version_event("w2", {"variant": VARIANT, "version": "v2"}, kind="withdrawn.v1")
    )
    assert running.verdict("v2") == (Outcome.CANCELLED, Reason.WITHDRAWN)
    running.daemon.told("event_taken", result="withdrawal")
    assert running.daemon.metric('events_total{result="withdrawal"}') == 1


def test_a_newer_version_supersedes_the_open_evaluation(
    running: Running, endpoint: SimulatedEndpoint
) -> None:
    endpoint.reset(faults={"hang": 1.0})
    running.installation.put(announce("v3"))
    endpoint.wait_until_asked(1, by=running.daemon.process)
    endpoint.turn()
    running.installation.put(announce("v4"))
    assert running.verdict("v3") == (Outcome.CANCELLED, Reason.SUPERSEDED)
    assert running.verdict("v4")[0] in {Outcome.MET, Outcome.INCONCLUSIVE, Outcome.NOT_MET}
    compared = running.installation.found("v4").difference
    assert compared
    assert compared.previous_version == GOOD
