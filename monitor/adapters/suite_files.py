"""Suites on disk: a folder with suite.yaml and the items file that it names."""

from pathlib import Path

from monitor.domain import errors
from monitor.domain.suites import Suite
from monitor.wire import suites
from monitor.wire.suite_models import ITEMS

MANIFEST = "suite.yaml"


def read_suite(path: Path) -> Suite:
    """Read a suite and check all of it, short of grading anything.

    Args:
        path: the suite's folder, or its suite.yaml, whatever that is called.

    Raises:
        SuiteError: everything that is wrong, with file, line and field.
    """
    todo = "name the folder of a suite, or its suite.yaml"
    try:
        file = path / MANIFEST if path.is_dir() else path
    except OSError as error:
        raise _unusable(path, error, todo=todo) from error
    manifest = _read(file, todo=todo)
    items = file.parent / suites.items_file(manifest)
    return suites.decode_suite(manifest, _read(items, todo="put it beside suite.yaml"))


def write_suite(suite: Suite, folder: Path, *, description: str = "") -> None:
    """Write a suite that `read_suite` reads back as it is; the folder is made if need be.

    Raises:
        SuiteError: the files cannot be written.
    """
    manifest, items = suites.encode_suite(suite, description=description)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ITEMS).write_bytes(items)
        (folder / MANIFEST).write_bytes(manifest)
    except OSError as error:
        raise _unusable(folder, error, todo="name a folder that can be written to") from error


def _read(file: Path, *, todo: str) -> suites.Source:
    try:
        return suites.Source(name=str(file), content=file.read_bytes())
    except OSError as error:
        raise _unusable(file, error, todo=todo) from error


def _unusable(path: Path, error: OSError, *, todo: str) -> errors.SuiteError:
    what = (error.strerror or type(error).__name__).lower()
    return errors.SuiteError([errors.Problem(where=str(path), what=what, todo=todo)])
