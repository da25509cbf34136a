"""Small pictures that are what they say."""

import base64
import struct
import zlib

JPEG = b"\xff\xd8\xff\xe0" + b"rest"
GIF = b"GIF89a" + b"rest"
WEBP = b"RIFF\x04\x00\x00\x00WEBPrest"


def png(shade: int = 0) -> bytes:
    """One grey pixel, of 256 shades."""
    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    pixels = zlib.compress(bytes([0, shade]))
    chunks = _chunk(b"IHDR", header) + _chunk(b"IDAT", pixels) + _chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunks


def data_url(content: bytes, media_type: str = "image/png") -> str:
    return f"data:{media_type};base64,{base64.b64encode(content).decode()}"


def _chunk(kind: bytes, content: bytes) -> bytes:
    checksum = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", checksum)
