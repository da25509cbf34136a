from pathlib import Path

import pytest

from monitor.adapters.suite_files import read_suite
from tests.unit.cli.terminal import Terminal

TABLE = (
    "question,answer,level\nCapital of Peru?,Lima,1\nCapital of Chile?,,2\nOf Chile?,Santiago,2\n"
)


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table, in the current folder, one of whose rows has no answer."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "capitals.csv").write_text(TABLE)
    return tmp_path / "capitals.csv"


def test_what_became_of_every_record_is_told(table: Path, terminal: Terminal) -> None:
    ended = terminal.run("suite", "import", table.name, "--out", "made")
    assert ended.code == 1
    assert ended.out.splitlines() == [
        "ok: capitals.csv: input from 'question', target from 'answer'; kept as metadata: 'level'",
        "ok: grader: normalised, targets are short texts",
        "left out: capitals.csv:3: target: is empty (an item needs a right answer)",
        "made: 2 items, 1 left out",
        "try: variant-monitor suite check made",
    ]
    assert terminal.run("suite", "check", "made").code == 0


def test_all_of_it_is_exit_code_0(table: Path, terminal: Terminal) -> None:
    table.write_text(TABLE.replace(",,", ",Santiago,"))
    options = ("--name", "cities", "--grader", "{kind: exact, answer: stated}")
    ended = terminal.run("suite", "import", table, "--out", "made", *options)
    assert ended.code == 0
    suite = read_suite(table.parent / "made")
    assert (suite.name, suite.grader.options) == ("cities", {"answer": "stated"})


def test_findings_are_json_if_wanted(table: Path, terminal: Terminal) -> None:
    options = ("--column", "target=question", "--column", "input=answer", "--format", "table")
    ended = terminal.run("suite", "import", table, "--out", "made", *options, "--json")
    found = ended.document()
    assert (found["items"], found["left_out"], found["repeats"]) == (2, 1, 0)
    assert found["grader"] == {"kind": "normalised"}
    assert [loss["what"] for loss in found["losses"]] == ["is empty"]


MISTAKES = [
    (
        ("--column", "question"),
        "--column 'question' is not FIELD=COLUMN; fields: id, input, target",
    ),
    (("--column", "question=input"), "--column 'question=input' is not FIELD=COLUMN"),
    (("--grader", "{numeric}"), "--grader is neither the name of a grader nor such as"),
    (("--grader", "numerc"), "grader.kind: unknown grader 'numerc' (did you mean numeric?)"),
    (("--name", "a b"), "name: must be a name of at most 100 letters"),
    (("--column", "input=Frage"), "capitals.csv: has no column 'Frage'"),
]


@pytest.mark.parametrize(("options", "message"), MISTAKES)
def test_a_mistake_is_explained_and_nothing_written(
    options: tuple[str, ...], message: str, table: Path, terminal: Terminal
) -> None:
    ended = terminal.run("suite", "import", table, "--out", "made", *options)
    assert (ended.code, ended.out) == (2, "")
    assert message in ended.err
    assert not (table.parent / "made").exists()


def test_a_suite_is_not_replaced(table: Path, terminal: Terminal) -> None:
    terminal.run("suite", "import", table, "--out", "made")
    ended = terminal.run("suite", "import", table, "--out", "made")
    assert ended.code == 2
    assert "made/suite.yaml is there already" in ended.err
    Path("made/suite.yaml").unlink()
    assert "made/items.jsonl is there already" in (
        terminal.run("suite", "import", table, "--out", "made").err
    )
