from pathlib import Path

import pytest

from monitor.adapters.suite_files import read_suite, write_suite
from monitor.domain.errors import SuiteError

MANIFEST = "name: s\ngrader: {kind: exact}\n"
ITEM = '{"id": "a", "input": "?", "target": "x"}\n'


def test_suite_that_was_written_is_read_back(tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text(MANIFEST)
    (tmp_path / "items.jsonl").write_text(ITEM)
    suite = read_suite(tmp_path)
    write_suite(suite, tmp_path / "deeper" / "copy", description="A copy")
    assert read_suite(tmp_path / "deeper" / "copy") == suite
    assert "A copy" in (tmp_path / "deeper" / "copy" / "suite.yaml").read_text()


def test_manifest_and_items_may_have_other_names(tmp_path: Path) -> None:
    (tmp_path / "short.yaml").write_text(MANIFEST + "items: few.jsonl\n")
    (tmp_path / "few.jsonl").write_text(ITEM)
    assert read_suite(tmp_path / "short.yaml").name == "s"


def test_problems_name_the_file_and_the_line(tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text(MANIFEST + "prompts: {}\n")
    (tmp_path / "items.jsonl").write_text(ITEM + "?\n")
    with pytest.raises(SuiteError) as raised:
        read_suite(tmp_path)
    assert [problem.where for problem in raised.value.problems] == [
        f"{tmp_path / 'suite.yaml'}:3: prompts",
        f"{tmp_path / 'items.jsonl'}:2",
    ]


@pytest.mark.parametrize("there", [[], ["suite.yaml"]])
def test_missing_file(there: list[str], tmp_path: Path) -> None:
    for name in there:
        (tmp_path / name).write_text(MANIFEST)
    missing = tmp_path / ("items.jsonl" if there else "suite.yaml")
    with pytest.raises(SuiteError) as raised:
        read_suite(tmp_path)
    (problem,) = raised.value.problems
    assert (problem.where, problem.what) == (str(missing), "no such file or directory")
    assert problem.todo


@pytest.mark.parametrize("place", ["suite", "items"])
def test_name_that_is_too_long(place: str, tmp_path: Path) -> None:
    long = "x" * 300
    (tmp_path / "suite.yaml").write_text(MANIFEST + f"items: {long}\n")
    with pytest.raises(SuiteError, match="file name too long"):
        read_suite(tmp_path / long if place == "suite" else tmp_path)


def test_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text(MANIFEST)
    (tmp_path / "items.jsonl").write_text(ITEM)
    with pytest.raises(SuiteError, match="name a folder that can be written to"):
        write_suite(read_suite(tmp_path), tmp_path / "suite.yaml")
