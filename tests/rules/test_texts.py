"""What the repository says holds on every machine, is about the product, and is in step with it."""

import re
from pathlib import Path

import pytest

from tests.rules import repository

VAGUE_NAMES = {"base", "common", "helper", "helpers", "manager", "misc", "util", "utils"}

# Each pattern is written so that it does not match itself.
UNWANTED = {
    "path of one machine": r"(?<![\w.~/-])/(?:work|root|home|Users)/",
    "unfinished": r"\b(?:TO[D]O|FI[X]ME|X[X]X)\b",
    "about its making": r"(?i)\b(?:work[p]lace|sub-?[a]gent|this [s]ession)\b",
    "package index": r"\b(?:py[p]i\.org|python[h]osted|np[m]js\.org|crates\.[i]o|proxy\.gola[n]g)",
}


def occurrences(pattern: str) -> list[str]:
    """`path:line: text` wherever the pattern matches."""
    return [
        f"{path}:{number}: {line.strip()}"
        for path, text in repository.texts()
        for number, line in enumerate(text.splitlines(), start=1)
        if re.search(pattern, line)
    ]


@pytest.mark.parametrize("pattern", UNWANTED.values(), ids=UNWANTED)
def test_no_text_has(pattern: str) -> None:
    assert occurrences(pattern) == []


def test_occurrences_are_found() -> None:
    assert occurrences(r"^ +Apache License$") == ["LICENSE:1: Apache License"]


def test_nothing_has_a_vague_name() -> None:
    code = map(Path, repository.modules("monitor", "tests"))
    assert [path for path in code if VAGUE_NAMES.intersection([path.stem, *path.parts])] == []


def test_unit_tests_mirror_the_package() -> None:
    code = repository.modules("monitor")
    tested = {
        path.replace("tests/unit/", "monitor/").replace("/test_", "/")
        for path in repository.modules("tests/unit")
        if Path(path).name.startswith("test_")
    }
    assert tested - set(code) == set()


def documents() -> list[tuple[str, str]]:
    return [(path, text) for path, text in repository.texts() if path.endswith(".md")]


def test_documents_name_make_targets_that_exist() -> None:
    makefile = (repository.ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):", makefile, flags=re.MULTILINE))
    named = {name for _, text in documents() for name in re.findall(r"`make ([a-z]+)", text)}
    assert named
    assert named - targets == set()


def test_links_between_documents_lead_somewhere() -> None:
    links = {
        (repository.ROOT / path).parent / target
        for path, text in documents()
        for target in re.findall(r"\]\(([^)#:]+)[^):]*\)", text)
    }
    assert links
    assert {link for link in links if not link.exists()} == set()
