"""What the code imports is declared, what is declared is locked, and the core needs neither."""

import importlib.metadata
import re
import sys
import tomllib
from collections.abc import Iterable

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.rules import repository

LOCK, TORCH_LOCK = (
    (repository.ROOT / name).read_text(encoding="utf-8")
    for name in ("requirements-dev.lock", "requirements-torch.lock")
)
PROJECT = tomllib.loads((repository.ROOT / "pyproject.toml").read_text(encoding="utf-8"))
RUNTIME = [Requirement(line) for line in PROJECT["project"]["dependencies"]]
EXTRAS = PROJECT["project"]["optional-dependencies"].values()
EXTRA = [Requirement(line) for line in sorted(set().union(*EXTRAS))]
DEVELOPMENT = [Requirement(line) for line in PROJECT["dependency-groups"]["dev"]]


def third_parties(*folders: str) -> set[str]:
    trees = repository.modules(*folders).values()
    packages = set().union(*map(repository.imported_packages, trees))
    return packages - sys.stdlib_module_names - {"benchmarks", "monitor", "tests"}


def undeclared(packages: Iterable[str], declared: Iterable[Requirement]) -> set[str]:
    """Imported packages that no declared distribution provides."""
    providers = importlib.metadata.packages_distributions()
    names = {canonicalize_name(requirement.name) for requirement in declared}
    return {
        package
        for package in packages
        if names.isdisjoint(map(canonicalize_name, providers.get(package, [])))
    }


def test_code_imports_what_is_declared() -> None:
    assert undeclared(third_parties("monitor"), RUNTIME + EXTRA) == set()


def test_tests_import_what_is_declared() -> None:
    assert undeclared(third_parties("tests"), RUNTIME + EXTRA + DEVELOPMENT) == set()


def test_undeclared_imports_are_seen() -> None:
    assert undeclared({"numpy", "no_such_package"}, RUNTIME) == {"no_such_package"}


def test_domain_imports_the_standard_library_only() -> None:
    assert third_parties("monitor/domain") == set()


def pins(lock: str, requirement: Requirement) -> list[str]:
    name = re.escape(canonicalize_name(requirement.name))
    return re.findall(rf"^{name}==(\S+)", lock, flags=re.MULTILINE)


@pytest.mark.parametrize("requirement", RUNTIME + DEVELOPMENT, ids=str)
def test_lock_satisfies_what_is_declared(requirement: Requirement) -> None:
    pinned = pins(LOCK, requirement)
    assert pinned
    assert all(requirement.specifier.contains(pin) for pin in pinned)


@pytest.mark.parametrize("requirement", RUNTIME, ids=str)
def test_the_extra_comes_with_the_same_versions(requirement: Requirement) -> None:
    assert pins(TORCH_LOCK, requirement) == pins(LOCK, requirement)


@pytest.mark.parametrize("requirement", EXTRA, ids=str)
def test_the_extra_is_locked(requirement: Requirement) -> None:
    pinned = pins(TORCH_LOCK, requirement)
    assert pinned
    assert all(requirement.specifier.contains(pin) for pin in pinned)


@pytest.mark.parametrize("lock", [LOCK, TORCH_LOCK], ids=["dev", "torch"])
def test_every_pin_has_a_hash(lock: str) -> None:
    pinned = re.findall(r"^[a-z0-9][^\n]*", lock, flags=re.MULTILINE)
    hashed = re.findall(r"^[a-z0-9][^\n]*\\\n +--hash=sha256:", lock, flags=re.MULTILINE)
    assert pinned
    assert len(pinned) == len(hashed)


@pytest.mark.parametrize("lock", [LOCK, TORCH_LOCK], ids=["dev", "torch"])
def test_lock_leaves_the_choice_of_index_to_its_reader(lock: str) -> None:
    assert re.findall(r"^-.*|\w+://.*", lock, flags=re.MULTILINE) == []
