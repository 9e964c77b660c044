"""Bytes in network byte order, field by field or several at once."""

import struct
from struct import Struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roambus.python_protocol.messages.octets import Reader, Writer


@given(st.integers(0, 0xFF), st.integers(0, 0xFFFF), st.integers(0, 0xFFFFFFFF))
def test_fields_written_at_once_are_the_same_bytes(first: int, second: int, third: int) -> None:
    """What is packed at once reads back field by field, and is what one field after the other would be."""
    at_once, one_by_one = Writer(), Writer()
    at_once.pack(Struct("!BHI"), first, second, third)
    one_by_one.u8(first)
    one_by_one.u16(second)
    one_by_one.u32(third)
    assert at_once.getvalue() == one_by_one.getvalue()
    assert Reader(at_once.getvalue()).unpack(Struct("!BHI")) == (first, second, third)


@pytest.mark.parametrize("value", [-1, 256])
def test_a_value_out_of_range_is_an_error(value: int) -> None:
    """A field that does not fit raises, alone or packed with others: no message is sent cut short."""
    with pytest.raises(struct.error):
        Writer().u8(value)
    with pytest.raises(struct.error):
        Writer().pack(Struct("!HB"), 1, value)
