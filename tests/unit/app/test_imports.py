import asyncio
import json
import os
from pathlib import Path

import pytest

from monitor.adapters.suite_files import read_suite
from monitor.app import imports, suite_checks
from monitor.app.imports import Imported, Wanted
from monitor.domain.errors import SuiteError


def write(folder: Path, name: str, *records: object) -> Path:
    (folder / name).write_text("".join(json.dumps(record) + "\n" for record in records))
    return folder / name


def run(folder: Path, *files: Path, name: str = "") -> Imported:
    """Import files into `made`."""
    return asyncio.run(imports.import_suite(Wanted(files=files, name=name), folder / "made"))


def test_what_is_imported_passes_the_check(tmp_path: Path) -> None:
    file = write(
        tmp_path, "sums.jsonl", *({"input": f"{n} + 1?", "target": n + 1} for n in range(9))
    )
    found = run(tmp_path, file)
    checked = asyncio.run(suite_checks.check_file(tmp_path / "made"))
    assert (checked.report.problems, checked.report.warnings) == ([], [])
    assert found.suite == read_suite(tmp_path / "made")
    assert (found.left_out, found.repeats, found.suite.name) == (0, 0, "sums")


def test_lines_that_cannot_be_read_are_told_where_nothing_else_is_there(tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text("{input: 3}\n")
    with pytest.raises(SuiteError, match=r"s.jsonl:1: is not JSON: Expecting property name"):
        run(tmp_path, tmp_path / "s.jsonl")


def test_an_item_that_its_own_grader_does_not_take_is_left_out(tmp_path: Path) -> None:
    file = write(tmp_path, "s.jsonl", *({"input": f"{n}?", "target": n} for n in (1, 12, 3)))
    wanted = Wanted(files=[file], grader={"kind": "regex", "pattern": r"(\d)"})
    found = asyncio.run(imports.import_suite(wanted, tmp_path / "made"))
    assert [item.target for item in found.suite.items] == [("1",), ("3",)]
    (loss,) = found.losses
    assert str(loss).startswith(f"{file}:2: target: is not right by the grader")


def test_several_files_become_one_suite(tmp_path: Path) -> None:
    one = write(tmp_path, "one.jsonl", {"id": 1, "input": "a", "target": "b"})
    two = write(
        tmp_path,
        "two.jsonl",
        {"id": 1, "input": "a", "target": "b"},
        {"id": 2, "input": "c", "target": "d"},
    )
    found = run(tmp_path, one, two, name="both")
    assert [item.id for item in found.suite.items] == ["1", "2"]
    assert (found.repeats, found.suite.name) == (1, "both")


def test_every_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    broken = tmp_path / "broken.csv"
    broken.write_bytes(b"\xff")
    with pytest.raises(SuiteError) as error:
        run(tmp_path, tmp_path / "absent.csv", broken)
    assert [problem.what for problem in error.value.problems] == [
        "cannot be read: No such file or directory",
        "is not UTF-8",
    ]
    assert not (tmp_path / "made").exists()


def test_a_pipe_is_refused_unread(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    with pytest.raises(SuiteError, match=r"pipe.jsonl: is no regular file \(name a file\)"):
        run(tmp_path, tmp_path / "pipe.jsonl")


def test_recorded_logs_pass_the_check(shared_data: Path, tmp_path: Path) -> None:
    logs = shared_data / "eval_logs"
    files = [*logs.glob("inspect/*.json"), *logs.glob("lm_eval/full/*/samples_*")]
    files += [logs / "promptfoo/eval_full.json", logs / "promptfoo/eval_full.jsonl"]
    for number, file in enumerate(files):
        folder = tmp_path / str(number)
        found = asyncio.run(imports.import_suite(Wanted(files=(file,)), folder))
        checked = asyncio.run(suite_checks.check_file(folder))
        assert checked.report.problems == []
        assert checked.figures is not None
        assert checked.figures.items == len(found.suite.items)
