"""The repository as the rules see it: its files, and its Python source parsed."""

import ast
import functools
import os
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
NOT_OURS = {".git", ".venv", ".hypothesis", "__pycache__", "build", "dist", "node_modules"}


def files(under: Path = ROOT) -> Iterator[Path]:
    """Every file of the repository below `under`; tools' caches and environments are left out."""
    for folder, subfolders, names in os.walk(under):
        subfolders[:] = sorted(
            name for name in subfolders if name not in NOT_OURS and not name.endswith("_cache")
        )
        yield from (Path(folder, name) for name in sorted(names))


def texts() -> Iterator[tuple[str, str]]:
    """Path from the root, and content, of every file that is text."""
    for path in files():
        try:
            yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue


@functools.cache
def modules(*folders: str) -> dict[str, ast.Module]:
    """Parsed source of every Python file in the named folders of the root, by path."""
    return {
        path.relative_to(ROOT).as_posix(): ast.parse(
            path.read_text(encoding="utf-8"), filename=str(path)
        )
        for folder in folders
        for path in files(ROOT / folder)
        if path.suffix == ".py"
    }


def imported_packages(module: ast.Module) -> set[str]:
    """First part of every absolute import, wherever in the module it stands."""
    found: set[str] = set()
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            found.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.split(".")[0])
    return found
