import math
import zlib
from base64 import b64decode, b64encode

import pytest
from hypothesis import example, given, strategies as st

from monitor.wire import columns
from monitor.wire.columns import Column
from tests.unit.wire import examples

EMPTY = columns.pack_floats([]).to_bytes()


def bits(values: tuple[float | None, ...]) -> list[str | None]:
    return [None if value is None else value.hex() for value in values]


@given(st.lists(examples.floats | st.none()))
@example([-0.0, 5e-324, 0.1, None])
def test_floats_come_back_to_the_last_bit(values: list[float | None]) -> None:
    packed = Column.model_validate_json(columns.pack_floats(values).to_bytes(), strict=True)
    assert bits(columns.unpack_optional_floats(packed)) == bits(tuple(values))


@given(st.lists(st.integers(-(2**63), 2**63 - 1)))
def test_integers_come_back(values: list[int]) -> None:
    assert columns.unpack_integers(columns.pack_integers(values, "int64")) == tuple(values)


def test_values_are_little_endian() -> None:
    packed = columns.pack_integers([1, 256], "int32")
    assert packed.values == b64encode(zlib.compress(b"\1\0\0\0\0\1\0\0")).decode()


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_numbers_that_are_not_finite_are_refused(value: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        columns.pack_floats([value])


def test_an_integer_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="does not fit uint8"):
        columns.pack_integers([256], "uint8")


def packed(raw: bytes, **changes: object) -> Column:
    values = b64encode(zlib.compress(raw)).decode()
    return Column.model_validate({"kind": "float64", "length": 1, "values": values} | changes)


TEXT = packed(bytes(8)).values


@pytest.mark.parametrize(
    ("column", "complaint"),
    [
        (packed(bytes(8), kind="int64"), "of kind int64 where float64"),
        (packed(bytes(7)), "does not unpack to the 8 bytes"),
        (packed(bytes(10_000_000)), "does not unpack to the 8 bytes"),
        (packed(b"", values=TEXT[:-4]), "does not unpack to the 8 bytes"),
        (packed(b"", values=b64encode(b64decode(TEXT) + b"!").decode()), "does not unpack"),
        (packed(b"", values="AAAA"), "cannot be unpacked"),
        (packed(b"", values="%"), "base64"),
        (packed(b"\0\0\0\0\0\0\xf8\x7f"), "not finite"),
        (packed(bytes(8), missing=b64encode(zlib.compress(b"\1")).decode()), "is missing"),
    ],
)
def test_what_is_damaged_is_refused(column: Column, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        columns.unpack_floats(column)


@given(st.lists(examples.floats | st.none(), max_size=300))
def test_no_column_is_larger_than_announced(values: list[float | None]) -> None:
    growth = columns.largest_growth("float64", len(values), optional=True)
    assert len(columns.pack_floats(values).to_bytes()) <= len(EMPTY) + growth


def test_the_bound_holds_for_noise() -> None:
    noise = [
        int.from_bytes(zlib.crc32(bytes([i % 256, i // 256])).to_bytes(4)) for i in range(9999)
    ]
    size = len(columns.pack_integers(noise, "int64").to_bytes())
    assert size <= len(EMPTY) + columns.largest_growth("int64", len(noise))
