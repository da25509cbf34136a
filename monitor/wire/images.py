"""Pictures as bytes: what may be one, and how it is written into a request.

A picture is what its first bytes say it is, whatever its name; nothing of it is decoded.
"""

import base64
import re

LARGEST = 8 * 2**20
LARGEST_TOGETHER = 20 * 2**20  # of one item: a request is a third larger, and servers have limits
MIB = 2**20

_SIGNATURES = {
    "image/png": rb"\x89PNG\r\n\x1a\n",
    "image/jpeg": rb"\xff\xd8\xff",
    "image/gif": rb"GIF8[79]a",
    "image/webp": rb"RIFF.{4}WEBP",
}
_DATA_URL = re.compile(r"data:(?P<media_type>[\w/+.-]+);base64,(?P<content>.*)", re.DOTALL)


def media_type(content: bytes) -> str:
    """The media type of a picture, such as image/png.

    Raises:
        ValueError: too large, or no picture of a kind that models are shown.
    """
    if len(content) > LARGEST:
        raise ValueError(f"is larger than {LARGEST // MIB} MiB: scale it down")
    for name, signature in _SIGNATURES.items():
        if re.match(signature, content, re.DOTALL):
            return name
    raise ValueError("is not a PNG, JPEG, GIF or WebP picture: convert it to one of these")


def data_url(content: bytes) -> str:
    """The picture as a URL that holds its bytes.

    Raises:
        ValueError: as `media_type`.
    """
    return f"data:{media_type(content)};base64,{base64.b64encode(content).decode()}"


def decode_data_url(url: str) -> bytes:
    """Bytes of the picture in a data URL.

    Raises:
        ValueError: not a base64 data URL of a picture of the type that it names.
    """
    match = _DATA_URL.fullmatch(url)
    if match is None:
        raise ValueError("must begin with data:image/png;base64, or another type of picture")
    try:
        content = base64.b64decode(match["content"], validate=True)
    except ValueError as error:
        raise ValueError("holds no valid base64: encode the picture's bytes anew") from error
    found = media_type(content)
    if found != match["media_type"]:
        raise ValueError(f"says {match['media_type']:.40}, but its bytes are {found}: correct it")
    return content


def check_name(name: str) -> None:
    """Make sure that a picture's name can only mean a file below the suite's folder.

    Raises:
        ValueError: it cannot.
    """
    parts = name.split("/")
    if "\\" in name or not name.isprintable() or not {"", ".", ".."}.isdisjoint(parts):
        raise ValueError(
            "must be a file below the suite's folder, such as pictures/cat.png, or an https: or "
            "data:image/ URL"
        )
