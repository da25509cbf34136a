import socket
from contextlib import closing
from pathlib import Path

import pytest

from monitor.adapters.suite_files import read_suite
from monitor.app import checks
from monitor.settings import HistoryFile
from tests.unit.cli.terminal import Terminal

MISTAKES = [
    ((), "give either --outcomes or one --model NAME=ACCURACY or more"),
    (("--model", "m=.5", "--outcomes", "history.npz"), "give either --outcomes or one --model"),
    (("--model", "m"), "--model 'm' is not NAME=ACCURACY"),
    (("--model", "m=high"), "--model 'm=high' is not NAME=ACCURACY"),
    (("--model", "m=2"), "accuracy 2.0 of 'm' is not in [0, 1]"),
    (("--model", "m=.5", "--knobs", "{"), "--knobs is not JSON"),
    (("--model", "m=.5", "--knobs", '{"speed": 1}'), "'speed' is unknown"),
    (("--model", "m=.5", "--api-key-env", "ABSENT"), "--api-key-env: environment variable ABSENT"),
    (("--outcomes", "absent.npz"), "absent.npz: there is no such file"),
    (("--model", "m=.5", "--suite", "absent"), "absent: no such file or directory"),
]


@pytest.mark.parametrize(("options", "message"), MISTAKES)
@pytest.mark.usefixtures("pool")
def test_a_mistake_is_explained(options: tuple[str, ...], message: str, terminal: Terminal) -> None:
    ended = terminal.run("simulate-endpoint", "--suite", "suite", *options)
    assert (ended.code, ended.out) == (2, "")
    assert message in ended.err


@pytest.mark.usefixtures("pool")
def test_a_taken_port_is_an_error(terminal: Terminal) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        port = listener.getsockname()[1]
        options = ("--suite", "suite", "--model", "m=.5", "--port", port)
        ended = terminal.run("simulate-endpoint", *options)
    assert ended.code == 2
    assert "choose another port" in ended.err


def test_a_suite_is_made_of_recorded_columns(pool: Path, terminal: Terminal) -> None:
    ended = terminal.run("suite", "record", "history.npz", pool / "made", "--name", "made")
    assert ended.code == 0
    assert "60 items; models in history.npz:\n  earlier-00\n" in ended.out
    assert read_suite(pool / "made").name == "made"


@pytest.mark.usefixtures("pool")
def test_a_suite_that_could_not_be_read_is_an_error(terminal: Terminal) -> None:
    ended = terminal.run("suite", "record", "history.npz", "made", "--name", "a b")
    assert (ended.code, ended.out) == (2, "")
    assert "name: must be a name" in ended.err


def test_an_example_is_a_suite_with_history(terminal: Terminal, tmp_path: Path) -> None:
    folder = tmp_path / "suites" / "made"
    ended = terminal.run("suite", "example", folder)
    assert ended.code == 0
    assert f"--history {folder}/history.npz" in ended.out
    found = checks.check_history(read_suite(folder), [HistoryFile(file=folder / "history.npz")])
    assert (found.problems, found.warnings) == ([], [])


def test_an_example_replaces_nothing(terminal: Terminal, pool: Path) -> None:
    before = (pool / "suite/suite.yaml").read_bytes()
    ended = terminal.run("suite", "example", "suite")
    assert (ended.code, ended.out) == (2, "")
    assert "suite/suite.yaml is there already" in ended.err
    assert (pool / "suite/suite.yaml").read_bytes() == before
