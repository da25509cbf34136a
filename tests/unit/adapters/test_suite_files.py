import json
from pathlib import Path

import pytest

from monitor.adapters import suite_files
from monitor.adapters.suite_files import read_suite, write_suite
from monitor.domain.errors import SuiteError
from monitor.domain.suites import Suite
from tests.unit.wire import pictures

MANIFEST = "name: s\ngrader: {kind: exact}\n"
ITEM = '{"id": "a", "input": "?", "target": "x"}\n'


def test_suite_that_was_written_is_read_back(tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text(MANIFEST)
    (tmp_path / "items.jsonl").write_text(ITEM)
    suite = read_suite(tmp_path)
    write_suite(suite, tmp_path / "deeper" / "copy", description="A copy")
    assert read_suite(tmp_path / "deeper" / "copy") == suite
    assert "A copy" in (tmp_path / "deeper" / "copy" / "suite.yaml").read_text()


def pictured(folder: Path) -> Suite:
    """A suite with one picture in an example and one in an item."""
    shown = [{"type": "image", "image": "shown/cat.png"}]
    prompt = {"examples": [{"user": shown, "assistant": "A cat"}]}
    chat = [{"role": "user", "content": [{"type": "image", "image": "dog.png"}]}]
    (folder / "shown").mkdir()
    (folder / "shown" / "cat.png").write_bytes(pictures.png(1))
    (folder / "dog.png").write_bytes(pictures.png(2))
    (folder / "suite.yaml").write_text(f"{MANIFEST}prompt: {json.dumps(prompt)}\n")
    (folder / "items.jsonl").write_text(json.dumps({"id": "a", "input": chat, "target": "x"}))
    return read_suite(folder)


def test_pictures_are_written_with_the_suite(tmp_path: Path) -> None:
    suite = pictured(tmp_path)
    write_suite(suite, tmp_path / "copy")
    assert read_suite(tmp_path / "copy") == suite
    assert (tmp_path / "copy" / "shown" / "cat.png").read_bytes() == pictures.png(1)


def test_another_picture_is_another_question(tmp_path: Path) -> None:
    before = pictured(tmp_path)
    (tmp_path / "shown" / "cat.png").write_bytes(pictures.png(3))
    other_example = read_suite(tmp_path)
    (tmp_path / "dog.png").write_bytes(pictures.png(3))
    other_item = read_suite(tmp_path)
    assert len({suite.digest for suite in (before, other_example, other_item)}) == 3
    assert before.items[0].digest == other_example.items[0].digest != other_item.items[0].digest


def test_a_picture_that_is_gone_cannot_be_written(tmp_path: Path) -> None:
    suite = pictured(tmp_path)
    (tmp_path / "dog.png").unlink()
    with pytest.raises(SuiteError, match=r"copy/dog\.png: picture .* cannot be read"):
        write_suite(suite, tmp_path / "copy")


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


def test_file_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suite_files, "LARGEST_ITEMS", len(ITEM) - 1)
    (tmp_path / "suite.yaml").write_text(MANIFEST)
    (tmp_path / "items.jsonl").write_text(ITEM)
    with pytest.raises(SuiteError, match=r"items\.jsonl: is larger than 0 MiB"):
        read_suite(tmp_path)


def test_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text(MANIFEST)
    (tmp_path / "items.jsonl").write_text(ITEM)
    with pytest.raises(SuiteError, match="name a folder that can be written to"):
        write_suite(read_suite(tmp_path), tmp_path / "suite.yaml")
