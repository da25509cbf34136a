"""The examples of docs/suites.md, taken out of it."""

import re
from dataclasses import dataclass

from tests.rules import repository

TEXT = (repository.ROOT / "docs/suites.md").read_text()


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A suite.yaml, and the items.jsonl that stands behind it."""

    manifest: str
    items: str


def blocks(kind: str) -> list[str]:
    """Fenced blocks of a kind, as the word or words behind the fence name it."""
    return re.findall(rf"```{kind}\n(.*?)```", TEXT, re.DOTALL)


def suites() -> list[Example]:
    """Every suite, in order."""
    pairs = zip(blocks("yaml"), blocks("json"), strict=True)
    return [Example(manifest=manifest, items=items) for manifest, items in pairs]


def rows(heading: str) -> set[str]:
    """Names in the first column of the tables below a heading."""
    _, _, below = TEXT.partition(f"# {heading}\n")
    return set(
        re.findall(r"^\| `(\w+)` \|", re.split(r"^#", below, flags=re.MULTILINE)[0], re.MULTILINE)
    )
