"""Everything that this package raises on purpose is one tree, drawn where it is defined."""

import importlib
import pkgutil
from collections.abc import Iterator

import monitor
from monitor.domain import errors


def error_classes() -> Iterator[type[BaseException]]:
    """Exceptions that any module of the package defines."""
    for found in pkgutil.walk_packages(monitor.__path__, "monitor."):
        if found.name == "monitor.__main__":
            continue
        for value in vars(importlib.import_module(found.name)).values():
            if isinstance(value, type) and issubclass(value, BaseException):
                yield value


def test_every_error_is_in_the_tree() -> None:
    found = {error for error in error_classes() if error.__module__.startswith("monitor.")}
    # What begins with an underscore never leaves its module.
    ours = {error for error in found if not error.__name__.startswith("_")}
    assert {error for error in ours if not issubclass(error, errors.MonitorError)} == set()


def test_the_drawn_tree_is_complete() -> None:
    drawn = set((errors.__doc__ or "").split())
    defined = {error.__name__ for error in error_classes() if error.__module__ == errors.__name__}
    assert defined
    assert defined - drawn == set()
