import pytest

from monitor.wire import images
from tests.unit.wire import pictures

KINDS = [
    (pictures.png(), "image/png"),
    (pictures.JPEG, "image/jpeg"),
    (pictures.GIF, "image/gif"),
    (pictures.GIF.replace(b"89", b"87"), "image/gif"),
    (pictures.WEBP, "image/webp"),
    (pictures.WEBP.replace(b"\x04", b"\n"), "image/webp"),
]


@pytest.mark.parametrize(("content", "media_type"), KINDS)
def test_a_picture_is_what_its_bytes_say(content: bytes, media_type: str) -> None:
    assert images.media_type(content) == media_type
    url = images.data_url(content)
    assert url == pictures.data_url(content, media_type)
    assert images.decode_data_url(url) == content


@pytest.mark.parametrize(
    "content", [b"", b"<svg/>", b"%PDF-1.7", b"BM", b"RIFF\x04\0\0\0WAVE", b" " + pictures.png()]
)
def test_what_is_no_picture(content: bytes) -> None:
    with pytest.raises(ValueError, match="is not a PNG, JPEG, GIF or WebP picture: convert it"):
        images.media_type(content)


def test_a_picture_may_be_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images, "LARGEST", len(pictures.JPEG))
    assert images.media_type(pictures.JPEG)
    with pytest.raises(ValueError, match="is larger than 0 MiB: scale it down"):
        images.media_type(pictures.JPEG + b".")


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("data:image/png,abc", "must begin with data:image/png;base64,"),
        ("data:;base64,AAAA", "must begin with"),
        ("data:image/png;base64,AA A", "no valid base64"),
        ("data:image/png;base64,AAA", "no valid base64"),
        ("data:image/png;base64,\u00e4", "no valid base64"),
        ("data:image/png;base64,", "is not a PNG, JPEG"),
        (pictures.data_url(pictures.JPEG), "says image/png, but its bytes are image/jpeg"),
        (pictures.data_url(pictures.JPEG, "image/jpg"), "says image/jpg, but its bytes are"),
    ],
)
def test_what_is_no_data_url_of_a_picture(url: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        images.decode_data_url(url)


@pytest.mark.parametrize("name", ["p.png", "deep/er/p.png", "Ä b.png", ".p"])
def test_names_of_files(name: str) -> None:
    images.check_name(name)


@pytest.mark.parametrize(
    "name", ["", "/p.png", "../p.png", "a/../p.png", "a//p.png", "a/", "./p", "a\\p", "a\0b", "a\n"]
)
def test_names_that_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="must be a file below the suite's folder"):
        images.check_name(name)
