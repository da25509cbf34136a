"""Writes the example suites: python deploy/examples/suites/generator [FOLDER]."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import arithmetic
import json_extraction
import multiple_choice
from dice import Item

SUITES: dict[str, tuple[str, Callable[[], Iterator[Item]]]] = {
    "arithmetic": (arithmetic.MANIFEST, arithmetic.items),
    "multiple_choice": (multiple_choice.MANIFEST, multiple_choice.items),
    "json_extraction": (json_extraction.MANIFEST, json_extraction.items),
}


def write(folder: Path) -> None:
    """Write each suite into a folder of its own."""
    for name, (manifest, items) in SUITES.items():
        lines = [json.dumps(item, ensure_ascii=False) + "\n" for item in items()]
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / name / "suite.yaml").write_bytes(manifest.encode())
        (folder / name / "items.jsonl").write_bytes("".join(lines).encode())


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1])
