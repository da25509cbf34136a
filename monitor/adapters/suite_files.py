"""Suites on disk: a folder with suite.yaml and the items file that it names."""

from collections.abc import Iterator
from pathlib import Path

from monitor.adapters import image_files
from monitor.domain import errors
from monitor.domain.suites import ImageFile, Suite
from monitor.wire import images, suites
from monitor.wire.suite_models import ITEMS

MANIFEST = "suite.yaml"
LARGEST_MANIFEST = 4 * images.MIB  # reading YAML takes long
LARGEST_ITEMS = 1024 * images.MIB


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
    manifest = _read(file, LARGEST_MANIFEST, todo=todo)
    items = file.parent / suites.items_file(manifest)
    return suites.decode_suite(
        manifest,
        _read(items, LARGEST_ITEMS, todo="put it beside suite.yaml"),
        image_files.finder(file.parent),
    )


def write_suite(suite: Suite, folder: Path, *, description: str = "") -> None:
    """Write a suite that `read_suite` reads back as it is; the folder is made if need be.

    Raises:
        SuiteError: the files cannot be written, or a picture not be read.
    """
    manifest, items = suites.encode_suite(suite, description=description)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for image in _image_files(suite):
            _copy(image, folder)
        (folder / ITEMS).write_bytes(items)
        (folder / MANIFEST).write_bytes(manifest)
    except OSError as error:
        raise _unusable(folder, error, todo="name a folder that can be written to") from error


def _image_files(suite: Suite) -> Iterator[ImageFile]:
    chats = [item.input for item in suite.items if not isinstance(item.input, str)]
    prompts = [suite.prompt, *map(suite.prompt_of, suite.items)]
    contents = [message.content for chat in chats for message in chat]
    contents += [example.user for prompt in prompts for example in prompt.examples]
    parts = (part for content in contents if not isinstance(content, str) for part in content)
    return (part for part in parts if isinstance(part, ImageFile))


def _copy(image: ImageFile, folder: Path) -> None:
    file = folder / image.name
    try:
        content = image_files.read(image)
    except ValueError as error:
        raise errors.SuiteError([errors.Problem(where=str(file), what=str(error))]) from error
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)


def _read(file: Path, largest: int, *, todo: str) -> suites.Source:
    try:
        with file.open("rb") as opened:
            content = opened.read(largest + 1)
    except OSError as error:
        raise _unusable(file, error, todo=todo) from error
    if len(content) > largest:
        what, todo = f"is larger than {largest // images.MIB} MiB", "put pictures into files"
        raise errors.SuiteError([errors.Problem(where=str(file), what=what, todo=todo)])
    return suites.Source(name=str(file), content=content)


def _unusable(path: Path, error: OSError, *, todo: str) -> errors.SuiteError:
    what = (error.strerror or type(error).__name__).lower()
    return errors.SuiteError([errors.Problem(where=str(path), what=what, todo=todo)])
