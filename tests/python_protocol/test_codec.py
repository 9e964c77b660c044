"""Messages and their bytes: one tag, fields in network order, and nothing but DecodeError for anything else."""

import struct
from dataclasses import dataclass
from struct import Struct
from typing import ClassVar, Self

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roambus.python_protocol.messages.codec import DecodeError, Message, MessageSet, Reader, Writer


@dataclass(frozen=True, slots=True)
class Ping(Message):
    tag: ClassVar[int] = 1
    message_type: ClassVar[str] = "PING"
    number: int
    name: str

    def write(self, writer: Writer) -> None:
        writer.u32(self.number)
        writer.text(self.name)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        return cls(reader.u32(), reader.text())


@dataclass(frozen=True, slots=True)
class Envelope(Message):
    tag: ClassVar[int] = 2
    message_type: ClassVar[str] = "ENVELOPE"
    content: Message

    def write(self, writer: Writer) -> None:
        writer.message(self.content)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        return cls(reader.message())


MESSAGES = MessageSet([Ping, Envelope])
pings = st.builds(Ping, st.integers(0, 2**32 - 1), st.text(max_size=60))


@given(pings)
def test_round_trip(ping: Ping) -> None:
    """A message is the same after its encoding, alone and inside another."""
    assert MESSAGES.decode(ping.encode()) == ping
    assert MESSAGES.decode(Envelope(ping).encode()) == Envelope(ping)


def test_size_on_the_air_is_the_length_of_the_bytes() -> None:
    """One byte of tag, then the fields in network byte order."""
    assert Ping(258, "ab").encode() == b"\x01\x00\x00\x01\x02\x02ab"


@given(st.integers(0, 0xFF), st.integers(0, 0xFFFF), st.integers(0, 0xFFFFFFFF))
def test_fields_written_at_once_are_the_same_bytes(first: int, second: int, third: int) -> None:
    """What is packed at once reads back field by field, and is what one field after the other would be."""
    at_once, one_by_one = Writer(), Writer()
    at_once.pack(Struct("!BHI"), first, second, third)
    one_by_one.u8(first)
    one_by_one.u16(second)
    one_by_one.u32(third)
    assert at_once.getvalue() == one_by_one.getvalue()


@pytest.mark.parametrize("value", [-1, 256])
def test_a_value_out_of_range_is_an_error(value: int) -> None:
    """A field that does not fit raises, alone or packed with others: no message is sent cut short."""
    with pytest.raises(struct.error):
        Writer().u8(value)
    with pytest.raises(struct.error):
        Writer().pack(Struct("!HB"), 1, value)


@given(st.binary(max_size=40))
def test_no_bytes_do_worse_than_a_decode_error(data: bytes) -> None:
    """Bytes from anyone are a message or a DecodeError, nothing else."""
    try:
        message = MESSAGES.decode(data)
    except DecodeError:
        return
    assert message.encode() == data


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "1 bytes expected"),
        (b"\x07", "no message has tag 7"),
        (b"\x01\x00\x00", "4 bytes expected"),
        (b"\x01\x00\x00\x00\x00\x01\xff", "not UTF-8"),
        (Ping(1, "").encode() + b"!", "1 bytes left over"),
        (b"\x02" * 6 + Ping(1, "").encode(), "nested deeper"),
    ],
)
def test_malformed_bytes_say_what_is_wrong(data: bytes, why: str) -> None:
    """A peer's mistake is named."""
    with pytest.raises(DecodeError, match=why):
        MESSAGES.decode(data)


def test_tags_are_unique_in_a_set() -> None:
    """Two messages of one tag are a mistake of ours, found when the set is made."""
    with pytest.raises(ValueError, match="share tag 1"):
        MessageSet([Ping, Ping])
