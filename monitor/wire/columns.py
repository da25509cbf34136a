"""Columns of numbers inside JSON: exact, and a fraction of the size of decimal text.

A column is base64 of zlib of little-endian values. What is missing is said by a mask beside the
values, never by a NaN. The compressor's bytes may differ between builds of zlib, so nothing is
hashed or compared in packed form.
"""

import math
import struct
import zlib
from base64 import b64decode, b64encode
from collections.abc import Sequence
from typing import Any, Literal, get_args

from pydantic import Field

from monitor.wire.records import Record

IntegerKind = Literal["int32", "int64", "uint8"]
Kind = Literal["float64"] | IntegerKind

CODES: dict[str, str] = {"float64": "d", "int32": "i", "int64": "q", "uint8": "B"}
LONGEST = 1 << 24


class Column(Record):
    """Values of one kind.

    values: base64(zlib(`length` little-endian values)), 0 where a value is missing.
    missing: base64(zlib(`length` bytes)), 1 where a value is missing; empty if none is.
    """

    kind: Kind
    length: int = Field(ge=0, le=LONGEST)
    values: str
    missing: str = ""


def largest_growth(kind: Kind, length: int, *, optional: bool = False) -> int:
    """Bytes of JSON by which no column of this kind and length exceeds an empty one."""
    sizes = [struct.calcsize(f"<{CODES[kind]}") * length, length if optional else 0]
    return len(str(LONGEST)) + sum(_largest_text(size) for size in sizes)


def pack_floats(values: Sequence[float | None]) -> Column:
    """Pack 64-bit floats, None for a missing one.

    Raises:
        ValueError: a value is NaN or infinite.
    """
    if not all(math.isfinite(value) for value in values if value is not None):
        raise ValueError("a column holds finite numbers only")
    return _pack("float64", values)


def pack_integers(values: Sequence[int], kind: IntegerKind) -> Column:
    """Pack integers.

    Raises:
        ValueError: a value does not fit the kind.
    """
    return _pack(kind, values)


def unpack_optional_floats(column: Column) -> tuple[float | None, ...]:
    """Unpack 64-bit floats, None where one is missing.

    Raises:
        ValueError: the column is of another kind, or damaged.
    """
    return _unpack(column, ("float64",))


def unpack_floats(column: Column) -> tuple[float, ...]:
    """Unpack 64-bit floats of which none is missing.

    Raises:
        ValueError: the column is of another kind, damaged, or has missing values.
    """
    return _complete(_unpack(column, ("float64",)))


def unpack_integers(column: Column) -> tuple[int, ...]:
    """Unpack integers of any kind.

    Raises:
        ValueError: the column is of another kind, damaged, or has missing values.
    """
    return _complete(_unpack(column, get_args(IntegerKind)))


def _pack(kind: Kind, values: Sequence[float | None]) -> Column:
    mask = bytes(value is None for value in values)
    filled = (0 if value is None else value for value in values)
    try:
        raw = struct.pack(f"<{len(values)}{CODES[kind]}", *filled)
    except struct.error as error:
        raise ValueError(f"a value does not fit {kind}: {error}") from error
    missing = _compress(mask) if any(mask) else ""
    return Column(kind=kind, length=len(values), values=_compress(raw), missing=missing)


def _unpack(column: Column, kinds: Sequence[str]) -> tuple[Any, ...]:
    if column.kind not in kinds:
        raise ValueError(f"column of kind {column.kind} where {' or '.join(kinds)} is expected")
    form = f"<{column.length}{CODES[column.kind]}"
    values = struct.unpack(form, _decompress(column.values, struct.calcsize(form)))
    if not all(map(math.isfinite, values)):
        raise ValueError("a column holds a value that is not finite")
    if not column.missing:
        return values
    mask = _decompress(column.missing, column.length)
    return tuple(None if gone else value for value, gone in zip(values, mask, strict=True))


def _complete(values: tuple[Any, ...]) -> tuple[Any, ...]:
    if None in values:
        raise ValueError("a value is missing where none may be")
    return values


def _compress(raw: bytes) -> str:
    return b64encode(zlib.compress(raw)).decode()


def _decompress(text: str, size: int) -> bytes:
    """Exactly `size` bytes; what is longer is refused before it is unpacked."""
    stream = zlib.decompressobj()
    try:
        raw = stream.decompress(b64decode(text, validate=True), size + 1)
    except zlib.error as error:
        raise ValueError(f"a column cannot be unpacked: {error}") from error
    if len(raw) != size or not stream.eof or stream.unused_data:
        raise ValueError(f"a column does not unpack to the {size} bytes it announces")
    return raw


def _largest_text(size: int) -> int:
    """Base64 of what zlib makes, at worst, of so many bytes."""
    return 4 * math.ceil((size + size // 64 + 64) / 3)
