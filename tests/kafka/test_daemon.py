"""The daemon as it runs in production: real processes on a real broker."""

import json
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import jsonschema
import pytest

from monitor.app import replays
from monitor.ports import Published
from monitor.wire import schemas
from tests.broker.local import LocalBroker
from tests.kafka.replicas import Fleet
from tests.scenario.daemon import (
    Installation,
    SimulatedEndpoint,
    call,
    document,
    simulated_endpoint,
    version_event,
    wait_for,
    write_pool,
)

pytestmark = [
    pytest.mark.kafka,
    # The client leaves its sockets open when nobody listens.
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
]

ITEMS, DRAWS, CONCURRENCY = 200, 20, 4
LIMITS = {"concurrency": CONCURRENCY, "drain_seconds": 5, "evaluations_at_once": 4}
MODELS = ("--model", "good=0.9", "--model", "bad=0.5:good", "--knobs", '{"latency": 0.1}')


@pytest.fixture
def endpoint(tmp_path: Path) -> Iterator[SimulatedEndpoint]:
    write_pool(tmp_path, items=ITEMS, seed=3)
    with simulated_endpoint(tmp_path, tmp_path / "suite", *MODELS) as served:
        yield served


@pytest.fixture
def fleet(kafka_bootstrap: str, endpoint: SimulatedEndpoint, tmp_path: Path) -> Fleet:
    made = Fleet(installation=Installation(folder=tmp_path), bootstrap=kafka_bootstrap)
    made.configure(endpoint.base_url, limits=LIMITS)
    made.create_topics()
    return made


def event(identity: str, variant: str, *, version: str = "1", endpoint: str = "good") -> bytes:
    return version_event(
        identity,
        {"variant": variant, "version": version, "endpoint": endpoint, "budget": DRAWS},
    )


def results_reach(fleet: Fleet, count: int) -> None:
    wait_for(lambda: len(fleet.results()) >= count or None, f"{count} results")


def asked_again(endpoint: SimulatedEndpoint, evaluations: int) -> int:
    return sum(endpoint.asked().values()) - evaluations * DRAWS


def test_an_event_becomes_one_result_that_replays(fleet: Fleet) -> None:
    with fleet.replica("one") as daemon:
        fleet.put(event("a", "chat"), "chat")
        results_reach(fleet, 1)
        assert daemon.page("/readyz").status_code == 200
        assert daemon.terminate() == 0
    (result,) = fleet.messages("evaluations")
    schema = json.loads(schemas.generate()["evaluation-completed.v1.json"])
    jsonschema.validate(json.loads(result.value), schema)
    (statistics,) = fleet.results()
    outcomes = tuple(record.value for record in fleet.messages("outcomes"))
    published = Published(
        evaluation_id=statistics.subject.evaluation_id, result=result.value, outcomes=outcomes
    )
    assert replays.replay(published)


def test_the_same_event_again_buys_and_publishes_nothing(
    fleet: Fleet, endpoint: SimulatedEndpoint
) -> None:
    with fleet.replica("one") as daemon:
        for _ in range(5):
            fleet.put(event("a", "chat"), "chat")
        fleet.put(event("b", "search"), "search")
        results_reach(fleet, 2)
        wait_for(lambda: daemon.metric('events_total{result="duplicate"}') == 4.0 or None, "four")
    assert len(fleet.results()) == 2
    assert asked_again(endpoint, evaluations=2) == 0


def test_what_is_no_event_is_put_aside_verbatim(fleet: Fleet) -> None:
    poison, large = b"{not json", b"x" * 500_000
    with fleet.replica("one"):
        for value in (poison, large, event("a", "chat")):
            fleet.put(value, "chat")
        results_reach(fleet, 1)
    letters = fleet.messages("dead_letter")
    assert [letter.value for letter in letters] == [poison, large]
    reasons = [dict(letter.headers)["dead-letter-reason"] for letter in letters]
    assert reasons == [b"not_json", b"too_large"]


def test_check_looks_at_the_topics(fleet: Fleet) -> None:
    config = fleet.installation.config
    done = call("check", "--config", config, "--json")
    assert (done.returncode, document(done)["problems"]) == (0, [])
    config.write_text(config.read_text().replace(f"{fleet.name}-journal", "absent"))
    wrong = call("check", "--config", config, "--json")
    assert wrong.returncode == 2
    assert document(wrong)["problems"][0]["where"] == "topic absent"


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_replica_that_goes_is_succeeded_by_the_other(
    fleet: Fleet, endpoint: SimulatedEndpoint, how: signal.Signals
) -> None:
    with fleet.replica("one") as first, fleet.replica("two") as second:
        first.told("partition_assigned")
        second.told("partition_assigned")
        for number in range(20):
            fleet.put(event(str(number), f"chat-{number}"), f"chat-{number}")
        endpoint.wait_until_asked(30, by=first.process)
        first.process.send_signal(how)
        results_reach(fleet, 20)
        assert second.process.poll() is None
    named = Counter(each.subject.variant for each in fleet.results())
    again = asked_again(endpoint, evaluations=20)
    print(f"asked again after {how.name}: {again} of {20 * DRAWS}")  # noqa: T201 - a figure
    assert set(named.values()) == {1}
    assert len(named) == 20
    # At most every place of every evaluation that the first replica had under way.
    assert again <= CONCURRENCY * LIMITS["evaluations_at_once"]


def test_a_broker_that_comes_late_and_goes_for_a_while(
    idle_broker: LocalBroker, endpoint: SimulatedEndpoint, tmp_path: Path
) -> None:
    fleet = Fleet(installation=Installation(folder=tmp_path), bootstrap=idle_broker.bootstrap)
    fleet.configure(endpoint.base_url, limits=LIMITS)
    with ExitStack() as stack:
        daemon = stack.enter_context(fleet.replica("one"))
        assert daemon.page("/readyz").status_code == 503
        assert "bus" in daemon.page("/readyz").json()["reasons"]
        idle_broker.start()
        stack.callback(idle_broker.stop)
        fleet.create_topics()
        fleet.put(event("a", "chat"), "chat")
        endpoint.wait_until_asked(5, by=daemon.process)
        idle_broker.stop(signal.SIGKILL)
        idle_broker.start()
        results_reach(fleet, 1)
        wait_for(lambda: daemon.page("/readyz").status_code == 200 or None, "readiness")
        assert len(fleet.results()) == 1
        assert asked_again(endpoint, evaluations=1) == 0
