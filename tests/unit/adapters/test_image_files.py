import base64
import hashlib
import os
from pathlib import Path

import pytest

from monitor.adapters import image_files
from monitor.domain.answers import ChatRequest
from monitor.domain.suites import Generation, ImagePart, Message, Part, TextPart
from monitor.wire import images
from tests.unit.wire import pictures

CAT = pictures.png(1)


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    folder = tmp_path / "suite"
    (folder / "pictures").mkdir(parents=True)
    (folder / "pictures" / "cat.png").write_bytes(CAT)
    return folder


def request(*parts: Part) -> ChatRequest:
    words = Message(role="system", content="Look.")
    return ChatRequest(
        model="m", messages=(words, Message(role="user", content=parts)), generation=Generation()
    )


def test_a_picture_is_found(suite: Path) -> None:
    found = image_files.finder(suite)("pictures/cat.png")
    assert (found.name, found.folder) == ("pictures/cat.png", str(suite))
    assert (found.digest, found.size) == (hashlib.sha256(CAT).hexdigest(), len(CAT))
    assert image_files.read(found) == CAT


def test_a_picture_that_many_items_show_is_read_once(suite: Path) -> None:
    find = image_files.finder(suite)
    first = find("pictures/cat.png")
    (suite / "pictures" / "cat.png").unlink()
    assert find("pictures/cat.png") is first


def test_a_link_may_lead_elsewhere_in_the_folder(suite: Path) -> None:
    (suite / "cat.png").symlink_to("pictures/cat.png")
    assert image_files.finder(suite)("cat.png").digest == hashlib.sha256(CAT).hexdigest()


def test_the_folder_itself_may_be_a_link(suite: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(suite)
    assert image_files.read(image_files.finder(tmp_path / "link")("pictures/cat.png")) == CAT


def test_links_out_of_the_folder_are_refused(suite: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(CAT)
    (suite / "out.png").symlink_to("../secret.png")
    (suite / "up").symlink_to("..")
    for name in ("out.png", "up/secret.png"):
        with pytest.raises(ValueError, match="is a link that leads out of the suite's folder"):
            image_files.finder(suite)(name)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("dog.png", r"cannot be read \(no such file or directory\): put it into the folder"),
        ("pictures", "is not a file: name a picture"),
        ("pipe", "is not a file"),
        ("circle", "circle of links|too many levels of symbolic links"),
        ("pictures/cat.png/x", "cannot be read"),
        ("x" * 300, "cannot be read"),
        ("words.png", "is not a PNG, JPEG, GIF or WebP picture"),
        ("large.png", "is larger than 8 MiB: scale it down"),
        ("../suite/pictures/cat.png", "must be a file below the suite's folder"),
    ],
)
def test_what_cannot_be_used(suite: Path, name: str, why: str) -> None:
    os.mkfifo(suite / "pipe")
    (suite / "circle").symlink_to("circle")
    (suite / "words.png").write_text("words")
    with (suite / "large.png").open("wb") as file:
        file.truncate(images.LARGEST + 1)
    with pytest.raises(ValueError, match=why):
        image_files.finder(suite)(name)


async def test_a_request_gets_the_bytes_of_its_pictures(suite: Path) -> None:
    cat = image_files.finder(suite)("pictures/cat.png")
    asked = request(TextPart(text="?"), cat, ImagePart(url="https://host/p.png"))
    system, user = (await image_files.inlined(asked)).messages
    url = f"data:image/png;base64,{base64.b64encode(CAT).decode()}"
    assert system == asked.messages[0]
    assert user.content == (
        TextPart(text="?"),
        ImagePart(url=url),
        ImagePart(url="https://host/p.png"),
    )


async def test_a_request_without_files_stays_as_it_is() -> None:
    asked = request(TextPart(text="?"), ImagePart(url="https://host/p.png"))
    assert await image_files.inlined(asked) is asked


async def test_a_picture_that_has_changed_is_not_sent(suite: Path) -> None:
    cat = image_files.finder(suite)("pictures/cat.png")
    (suite / "pictures" / "cat.png").write_bytes(pictures.png(2))
    with pytest.raises(ValueError, match=r"pictures/cat\.png has changed since the suite was read"):
        await image_files.inlined(request(cat))


async def test_a_picture_that_is_gone_is_not_sent(suite: Path) -> None:
    cat = image_files.finder(suite)("pictures/cat.png")
    (suite / "pictures" / "cat.png").unlink()
    with pytest.raises(ValueError, match=r"suite/pictures/cat\.png cannot be read"):
        await image_files.inlined(request(cat))
