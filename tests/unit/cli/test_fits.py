from pathlib import Path

import pytest

from monitor.adapters.suite_files import write_suite
from monitor.history.artefacts import read_artefact
from monitor.simulation import suites
from tests.unit.app.installations import SUITE, write_foreign_history, write_history
from tests.unit.cli.terminal import Ended, Terminal

pytestmark = pytest.mark.slow

LARGE = suites.arithmetic_suite(160, seed=3)


def fit(terminal: Terminal, *options: object) -> Ended:
    named = ["--suite", "suite", "--outcomes", "history.npz", "--out", "guide.safetensors"]
    return terminal.run("history", "fit", *named, *options)


@pytest.fixture
def large(pool: Path) -> Path:
    """A suite with enough items for replays, and its history."""
    write_suite(LARGE, pool / "suite")
    write_history(pool / "history.npz", pool=[str(item.id) for item in LARGE.items], items=160)
    return pool


def test_what_was_chosen_is_told_with_its_replays(large: Path, terminal: Terminal) -> None:
    ended = fit(terminal)
    assert ended.code == 0
    first, title, *_ = ended.out.splitlines()
    assert first.startswith("guide.safetensors: ")
    assert first.endswith("fitted to 40 models on suite 'arithmetic'")
    assert title == "Replays of left-out models"
    assert "by the guide" in ended.out
    assert read_artefact(large / "guide.safetensors", LARGE).fit.is_worth(40)


@pytest.mark.usefixtures("large")
def test_json_is_the_header_of_the_file(terminal: Terminal) -> None:
    found = fit(terminal, "--json").document()
    assert found["file"] == "guide.safetensors"
    assert found["origin"]["models"][0] == "earlier-00"
    assert found["figures"][0]["n"] == 30


def test_the_same_history_gives_the_same_file(pool: Path, terminal: Terminal) -> None:
    files = [pool / "one", pool / "two"]
    for file in files:
        assert fit(terminal, "--out", file).code == 0
    assert files[0].read_bytes() == files[1].read_bytes()


def test_too_little_history_to_try_it_out_is_said(pool: Path, terminal: Terminal) -> None:
    write_history(pool / "history.npz", items=39)
    assert "Too little history to try it out" in fit(terminal).out


def test_models_can_be_left_out_and_files_put_together(pool: Path, terminal: Terminal) -> None:
    write_history(pool / "other.npz", prefix="other")
    options = ("--outcomes", "other.npz", "--exclude", "earlier-[123]*", "--exclude", "other-1*")
    assert fit(terminal, *options).code == 0
    models = read_artefact(pool / "guide.safetensors", SUITE).origin.models
    assert len(models) == 10 + 30
    assert {model[:-1] for model in models} == {"earlier-0", "other-0", "other-2", "other-3"}


def test_items_without_history_are_a_warning(pool: Path, terminal: Terminal) -> None:
    write_history(pool / "history.npz", items=20)
    assert "warning: suite 'arithmetic': history covers 20 of 60 items" in fit(terminal).err


MISTAKES = [
    (("--before", "yesterday"), "--before 'yesterday' is not a day as YYYY-MM-DD"),
    (("--outcomes", "absent.npz"), "absent.npz: there is no such file"),
    (("--outcomes", "foreign.npz"), "foreign.npz: holds no outcome for suite 'arithmetic'"),
    (("--exclude", "*"), "history.npz: holds no outcome for suite 'arithmetic' that may be used"),
    (("--suite", "absent"), "absent: no such file or directory"),
    (("--out", "absent/guide"), "--out absent/guide: cannot be written: No such file or directory"),
    (("--out", "suite"), "--out suite: cannot be written: "),
]


@pytest.mark.parametrize(("options", "message"), MISTAKES)
def test_a_mistake_is_explained(
    options: tuple[str, str], message: str, pool: Path, terminal: Terminal
) -> None:
    write_foreign_history(pool / "foreign.npz")
    ended = fit(terminal, *options)
    assert (ended.code, ended.out) == (2, "")
    assert message in ended.err
