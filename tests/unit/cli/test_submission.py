import asyncio
import io
import json
from pathlib import Path
from typing import Any

import pytest

from monitor.adapters.embedded.state import FILE
from monitor.app.submissions import Expected
from monitor.cli import submission
from monitor.domain.identifiers import SuiteName
from tests.unit.app import states
from tests.unit.cli.terminal import Ended, Terminal
from tests.unit.wire import examples


@pytest.fixture
def submit(terminal: Terminal, pool: Path) -> Any:  # noqa: ANN401 - a function with any options
    assert pool.exists()

    def call(*options: object) -> Ended:
        return terminal.run("submit", *options)

    return call


LEAST = ("--variant", "chat", "--version", "1", "--endpoint", "good")


def test_ids_are_printed(submit: Any) -> None:  # noqa: ANN401
    ended = submit(*LEAST, "--event-id", "one")
    first, second = ended.out.splitlines()
    assert first == "event one is at model-versions, partition 0, offset 0"
    assert second.startswith("evaluation on arithmetic: ")
    assert second.endswith(", of 60 of 60 items")


def test_ids_are_json_if_wanted(submit: Any) -> None:  # noqa: ANN401
    printed = submit(*LEAST, "--json").document()
    assert (printed["topic"], printed["partition"], printed["offset"]) == ("model-versions", 0, 0)
    assert printed["source"] == "/variant-monitor/cli"
    assert list(printed["evaluations"]) == ["arithmetic"]


REFUSED = [
    ((*LEAST, "--suite", "x"), "unknown_suite: suite 'x' is not configured; there are: arithmetic"),
    ((*LEAST, "--endpoint", "x"), "unknown_endpoint: endpoint 'x' is not configured"),
    ((*LEAST, "--tolerance", "0"), "invalid_data: objective.tolerance"),
    ((*LEAST, "--variant", "a b"), "invalid_data: variant"),
    ((*LEAST, "--file", "event.json"), "--file is the whole event"),
    ((*LEAST, "--withdrawn"), "--withdrawn goes with"),
    (("--file", "event.json"), "event.json: cannot be read: No such file or directory"),
    ((), "--variant and --version are needed, or --file"),
    ((*LEAST[:4], "--withdrawn", "--wait", "1"), "--wait waits for one result"),
    ((*LEAST[:4], "--base-url", "http://evil.example/v1", "--model", "m"), "host_not_allowed"),
    ((*LEAST, "--config", "none.yaml"), "none.yaml: cannot be read: No such file"),
]


@pytest.mark.parametrize(("options", "message"), REFUSED)
def test_what_would_be_refused_is_refused_at_once(
    options: tuple[str, ...],
    message: str,
    submit: Any,  # noqa: ANN401
    pool: Path,
) -> None:
    ended = submit(*options)
    assert (ended.code, ended.out) == (2, "")
    assert message in ended.err
    assert not (pool / "state" / FILE).exists()


def envelope(kind: str = "deployed.v1", **data: object) -> bytes:
    event = {"specversion": "1.0", "id": "1", "source": "/test", "type": f"model.version.{kind}"}
    return json.dumps({**event, "data": {"variant": "chat", "version": "1", **data}}).encode()


FILES = [
    (b"{", "not_json"),
    (b"{}", "not_cloudevent"),
    (envelope(), "endpoint: Field required"),
    (envelope("deployed.v2"), "newer_schema"),
    (envelope(endpoint="x"), "unknown_endpoint"),
    (b" " * 300_000, "too_large"),
]


@pytest.mark.parametrize(("content", "message"), FILES)
def test_a_file_is_refused_as_the_daemon_would(
    content: bytes,
    message: str,
    submit: Any,  # noqa: ANN401
    pool: Path,
) -> None:
    (pool / "event.json").write_bytes(content)
    ended = submit("--file", "event.json")
    assert (ended.code, ended.out) == (2, "")
    assert message in ended.err


def test_standard_input_is_a_file_too(
    submit: Any,  # noqa: ANN401
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    content = io.TextIOWrapper(io.BytesIO(envelope(endpoint="good")))
    monkeypatch.setattr("sys.stdin", content)
    assert submit("--file", "-").code == 0


def test_waiting_in_vain_says_what_to_look_at(submit: Any) -> None:  # noqa: ANN401
    ended = submit(*LEAST, "--wait", "0")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("waiting at most 0 s for evaluation ")
    assert " of chat 1\n" in ended.err
    assert "see that `variant-monitor run` is running" in ended.err


def test_others_see_how_far_it_is(
    submit: Any,  # noqa: ANN401
    pool: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    expected = {SuiteName("arithmetic"): Expected(identity=states.OPEN, draws=1, population=1)}
    monkeypatch.setattr(submission, "expected_evaluations", lambda *_: expected)
    asyncio.run(states.write_journal(pool / "state", 0, 1, 2, 3))
    ended = submit(*LEAST, "--wait", "0.1")
    plan = examples.PLAN
    assert f"{plan.draws} of {plan.population} items" in ended.err
