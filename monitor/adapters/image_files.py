"""Pictures of a suite in their files: known by their digest, and read only when they are sent.

A suite may have more pictures than there is memory. One that has changed since the suite was read
is not sent, for it would be another question.
"""

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

from monitor.domain.answers import ChatRequest
from monitor.domain.identifiers import Digest
from monitor.domain.suites import ImageFile, ImagePart, Message, Part
from monitor.wire import images


def finder(folder: Path) -> Callable[[str], ImageFile]:
    """What finds a picture by its name below a folder; each is read once.

    It raises ValueError, saying what to do, where the file is missing, lies outside the folder, is
    too large, or is no picture.
    """
    root = folder.absolute()

    @cache
    def find(name: str) -> ImageFile:
        content = _read(root, name)
        images.media_type(content)
        return ImageFile(name=name, folder=str(root), digest=_digest(content), size=len(content))

    return find


async def inlined(request: ChatRequest) -> ChatRequest:
    """The request with the bytes of its pictures in it, as data URLs.

    Raises:
        ValueError: a picture cannot be read any more, or has changed.
    """
    if not any(map(_has_file, request.messages)):
        return request
    messages = await asyncio.to_thread(lambda: tuple(map(_inlined, request.messages)))
    return replace(request, messages=messages)


def read(image: ImageFile) -> bytes:
    """Bytes of a picture.

    Raises:
        ValueError: it cannot be read any more, or has changed since the suite was read.
    """
    folder = Path(image.folder)
    try:
        content = _read(folder, image.name)
    except ValueError as error:
        raise ValueError(f"picture {folder / image.name} {error}") from error
    if _digest(content) != image.digest:
        what = "has changed since the suite was read: restart to read it anew"
        raise ValueError(f"picture {folder / image.name} {what}")
    return content


def _has_file(message: Message) -> bool:
    content = message.content
    return not isinstance(content, str) and any(isinstance(part, ImageFile) for part in content)


def _inlined(message: Message) -> Message:
    if isinstance(message.content, str):
        return message
    return replace(message, content=tuple(map(_inlined_part, message.content)))


def _inlined_part(part: Part) -> Part:
    if not isinstance(part, ImageFile):
        return part
    return ImagePart(url=images.data_url(read(part)), detail=part.detail)


def _read(folder: Path, name: str) -> bytes:
    """At most one byte more than a picture may have."""
    images.check_name(name)
    try:
        file = (folder / name).resolve(strict=True)
        if not file.is_relative_to(folder.resolve()):
            raise ValueError("is a link that leads out of the suite's folder: put the file there")
        if not file.is_file():
            raise ValueError("is not a file: name a picture")
        with file.open("rb") as opened:
            return opened.read(images.LARGEST + 1)
    except RuntimeError as error:  # before Python 3.13
        raise ValueError("is a circle of links: put the file there") from error
    except OSError as error:
        what = (error.strerror or type(error).__name__).lower()
        raise ValueError(f"cannot be read ({what}): put it into the folder") from error


def _digest(content: bytes) -> Digest:
    return Digest(hashlib.sha256(content).hexdigest())
