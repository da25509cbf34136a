import re

import pytest
import typer

from monitor.cli.commands import app
from tests.unit.cli.terminal import Terminal

COMMANDS = [
    "demo",
    "run",
    "check",
    "submit",
    "evaluate",
    "replay",
    "results",
    "dead-letters",
    "simulate-endpoint",
    "suite check",
    "suite example",
    "suite record",
    "history fit",
]


def test_all_commands_are_listed(terminal: Terminal) -> None:
    listed = terminal.run("--help").out
    assert [name for name in COMMANDS if name.split()[0] not in listed] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_help_is_whole_sentences(name: str) -> None:
    command = typer.main.get_command(app)
    for part in name.split():
        command = command.commands[part]  # type: ignore[attr-defined]
    texts = [command.help, *(getattr(option, "help", None) for option in command.params)]
    assert [text for text in texts if not re.match(r"[A-Z][^.]+.*\.$", text or "", re.DOTALL)] == []


def test_help_shows_defaults(terminal: Terminal) -> None:
    shown = terminal.run("evaluate", "--help").out
    assert all(default in shown for default in ("[default: 8]", "[default: 120.0]", "local]"))
    assert "[default: monitor.yaml]" in terminal.run("run", "--help").out


def test_the_version_is_that_of_the_package(terminal: Terminal) -> None:
    assert re.fullmatch(r"variant-monitor \d+\.\d+\.\d+\n", terminal.run("--version").out)


WRONG = [
    (["evaluate"], "Missing option '--suite'"),
    (["evaluate", "--concurrency", "many"], "--concurrency"),
    (["evaluate", "--method", "best"], "'best' is not one of 'auto', 'faq', "),
    (["evaluate", "--at-least", "2"], "--at-least"),
    (["simulate-endpoint", "--port", "70000"], "--port"),
    (["submit", "--wait", "-1"], "--wait"),
    (["run", "--nonsense"], "--nonsense"),
    (["replay"], "Missing argument"),
    (["frobnicate"], "No such command 'frobnicate'"),
]


@pytest.mark.parametrize(("arguments", "text"), WRONG)
def test_wrong_options_are_named(arguments: list[str], text: str, terminal: Terminal) -> None:
    ended = terminal.run(*arguments)
    assert (ended.code, ended.out) == (2, "")
    assert text in ended.err
