from pathlib import Path

from tests.unit.cli.terminal import Terminal


def test_what_is_fine_is_said_in_words(pool: Path, terminal: Terminal) -> None:
    ended = terminal.run("check", "--offline")
    assert ended.code == 0
    assert ended.out.splitlines() == [
        "ok: suite 'arithmetic': 60 items in 4 groups",
        "ok: suite 'arithmetic': history of 40 models",
        "monitor.yaml: nothing wrong",
    ]
    assert (pool / "state").exists() is False


def test_what_is_wrong_ends_with_2(pool: Path, terminal: Terminal) -> None:
    (pool / "history.npz").unlink()
    ended = terminal.run("check")
    assert ended.code == 2
    lines = ended.out.replace(f"{pool}/", "").splitlines()
    assert "error: history.npz: there is no such file (correct the path)" in lines
    assert lines[-1] == "monitor.yaml: 3 to correct"


def test_findings_are_json_if_wanted(pool: Path, terminal: Terminal) -> None:
    (pool / "monitor.yaml").write_text("suites: [{path: suite}]\n")
    found = terminal.run("check", "--json").document()
    assert found["problems"] == []
    assert [each["where"] for each in found["warnings"]] == ["suite 'arithmetic'"]
    assert found["notes"] == ["suite 'arithmetic': 60 items in 4 groups"]


def test_a_configuration_that_is_no_yaml_has_its_line(pool: Path, terminal: Terminal) -> None:
    (pool / "monitor.yaml").write_text("suites:\n  - path: [\n")
    ended = terminal.run("check")
    assert ended.code == 2
    assert ended.out.startswith("error: monitor.yaml:3: is not YAML")


def test_a_suite_is_checked_by_itself(pool: Path, terminal: Terminal) -> None:
    ended = terminal.run("suite", "check", pool / "suite")
    assert ended.code == 0
    assert ended.out.splitlines() == [
        "items    60",
        "groups   addition 15, division 15, multiplication 15, subtraction 15",
        "graders  numeric 60",
        "targets  60 different",
        "tokens   10 a question, estimated; 600 for all items",
        "         512 an answer at most; 30,720 for all items",
        "ok: suite 'arithmetic': 60 items in 4 groups",
        f"{pool}/suite: nothing wrong",
    ]


def test_a_suite_in_numbers_is_json_if_wanted(pool: Path, terminal: Terminal) -> None:
    found = terminal.run("suite", "check", pool / "suite", "--json").document()
    assert found["figures"]["graders"] == {"numeric": 60}
    ended = terminal.run("suite", "check", pool / "geometry", "--json")
    assert ended.code == 2
    assert (len(ended.document()["problems"]), ended.document()["figures"]) == (1, None)
