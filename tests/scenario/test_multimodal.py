"""Suites with pictures, turns and shuffled choices, from the files to the published result."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from monitor.adapters.suite_files import read_suite
from monitor.domain.suites import Suite
from monitor.simulation.replies import Reply
from tests.scenario.single_runs import Setting, run
from tests.unit.wire import pictures

ITEMS = 30
PICTURED = """\
name: pictured
prompt:
  system: Look closely.
  examples:
    - user: [{type: text, text: "Which shade?"}, {type: image, image: example.png}]
      assistant: "255"
grader: {kind: numeric}
"""
LETTERS = """\
name: letters
prompt:
  user: "{{ input }} {% for c in choices %}{{ c.letter }}) {{ c.text }} {% endfor %}"
grader: {kind: choice}
choices: {shuffle: true}
"""


def read(folder: Path, manifest: str, items: Sequence[Mapping[str, Any]]) -> Suite:
    (folder / "suite.yaml").write_text(manifest)
    (folder / "items.jsonl").write_text("\n".join(map(json.dumps, items)))
    return read_suite(folder)


def pictured_item(shade: int, url: str) -> Mapping[str, Any]:
    parts = [{"type": "text", "text": "Which shade?"}, {"type": "image", "image": url}]
    turns = [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Hi"},
        {"role": "user", "content": parts},
    ]
    return {"id": shade, "input": turns, "target": str(shade)}


def pictured(folder: Path) -> Suite:
    """Half of the pictures are in files, half are in the items."""
    (folder / "shades").mkdir(parents=True)
    (folder / "example.png").write_bytes(pictures.png(255))
    items = []
    for shade in range(ITEMS):
        name, content = f"shades/{shade}.png", pictures.png(shade)
        (folder / name).write_bytes(content)
        items.append(pictured_item(shade, name if shade % 2 else pictures.data_url(content)))
    return read(folder, PICTURED, items)


async def test_pictures_arrive_unchanged(tmp_path: Path) -> None:
    """The simulated endpoint answers only what matches an item, pictures by their bytes."""
    seen = await run(Setting(suite=pictured(tmp_path / "own"), budget=ITEMS), tmp_path)
    assert seen.findings.counts == {"graded": ITEMS}
    assert len(seen.asked) == ITEMS
    assert seen.estimate.value == seen.share_right(seen.asked, of=ITEMS)


async def test_pictures_that_are_gone_are_missing_and_not_asked_for(tmp_path: Path) -> None:
    """With the first reply all files go: what shows one cannot be asked any more."""

    def remove(number: int, reply: Reply) -> Reply:
        for file in (tmp_path / "suite" / "shades").glob("*.png") if number == 0 else ():
            file.unlink()
        return reply

    setting = Setting(
        suite=pictured(tmp_path / "own"),
        budget=ITEMS,
        replying=remove,
        policy={"missing_limit": 1.0},
        limits={"concurrency": 1},
    )
    seen = await run(setting, tmp_path)
    gone = seen.findings.counts["image"]
    assert gone in {ITEMS // 2 - 1, ITEMS // 2}
    assert seen.findings.counts == {"graded": ITEMS - gone, "image": gone}
    assert seen.attempts == seen.requests == ITEMS - gone


async def test_shuffled_choices_are_graded_as_they_were_shown(tmp_path: Path) -> None:
    items = [
        {"id": n, "input": f"{n}?", "choices": [f"{n}a", f"{n}b", f"{n}c"], "target": "A"}
        for n in range(ITEMS)
    ]
    (tmp_path / "own").mkdir()
    suite = read(tmp_path / "own", LETTERS, items)
    assert {item.order[0] for item in suite.items} == {0, 1, 2}
    seen = await run(Setting(suite=suite, budget=ITEMS), tmp_path)
    assert seen.findings.counts == {"graded": ITEMS}
    assert seen.estimate.value == seen.share_right(seen.asked, of=ITEMS)
