import signal
from pathlib import Path

import pytest

from monitor.app import demo
from monitor.cli import demonstration
from tests.unit.cli.terminal import Terminal

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "ITEMS", 300)


def test_the_summary_has_every_version_and_the_replay(terminal: Terminal) -> None:
    ended = terminal.run("demo")
    assert ended.code == 0
    lines = ended.out.splitlines()
    rows = [
        line.split()[0]
        for line in lines
        if line.startswith(("  version", "  v1", "  v2", "  v3", "  v4"))
    ]
    assert rows == ["version", *(each.name for each in demo.MODELS)]
    assert "Replayed from their records: 4 of 4 results agree to the byte." in ended.out
    assert "arithmetic: chat v1, 100 of 100" in ended.err
    assert [line for line in lines if line.endswith(" ") or len(line) > 100] == []


def test_statistics_are_json_if_wanted_and_kept_for_the_next_run(
    terminal: Terminal, tmp_path: Path
) -> None:
    first = terminal.run("demo", "--json", "--state", tmp_path)
    second = terminal.run("demo", "--json", "--state", tmp_path)
    assert first.document() == second.document()
    assert [each["subject"]["version"] for each in first.document()] == [
        each.name for each in demo.MODELS
    ]
    assert second.err == ""


def test_pages_are_kept_until_interrupted(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []

    def hear(text: str) -> None:
        said.append(text)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(demonstration, "say", hear)
    ended = terminal.run("demo", "--keep", "--json")
    assert ended.code == 130
    assert said[0].startswith("serving http://127.0.0.1:")
    assert len(ended.document()) == len(demo.MODELS)
